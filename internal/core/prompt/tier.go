package prompt

import "bytes"

// Tier is how much of a tool is written.
type Tier string

// The tiers, from everything to nothing.
const (
	Full  Tier = "full"
	Line  Tier = "line" // its signature; in JSON without the descriptions of its parameters
	Named Tier = "name" // not in JSON, which needs a schema
	None  Tier = "none"
)

// Plan is what was written of each tool, in the order of the text.
type Plan []Placed

// Placed is one tool of a plan.
type Placed struct {
	Name string `json:"name"`
	Tier Tier   `json:"tier"`
}

// plan decides the tier of each tool. Tools of the previous plan keep their place; new ones share the
// rest of the budget.
func (w *writer) plan() Plan {
	left := w.opts.Budget - w.overhead()
	var plan Plan
	placed := make([]bool, len(w.tools))
	for _, p := range w.opts.Previous {
		if i, ok := w.places[p.Name]; ok && !placed[i] {
			placed[i] = true
			plan = append(plan, p)
			left -= w.cost(i, p.Tier)
		}
	}
	tiers := w.fill(placed, left)
	for _, tier := range []Tier{Full, Line, Named, None} {
		for i := range w.tools {
			if !placed[i] && tiers[i] == tier {
				plan = append(plan, Placed{w.tools[i].Name, tier})
			}
		}
	}
	return plan
}

// overhead is the tokens of everything but the tools.
func (w *writer) overhead() int {
	if w.opts.Budget <= 0 {
		return 0
	}
	text := w.opts.Heading + w.remark("More tools, by name only: ")
	for i := range w.tools {
		if w.opts.Groups && (i == 0 || category(&w.tools[i]) != category(&w.tools[i-1])) {
			text += string(w.startGroup(nil, category(&w.tools[i]))) + "\n"
		}
	}
	return w.opts.Count([]byte(text))
}

// cost returns the tokens of a tool at a tier. Names are short, so four are counted at once to
// reduce rounding.
func (w *writer) cost(tool int, tier Tier) int {
	if w.opts.Budget <= 0 || tier == None {
		return 0
	}
	text := w.text(tool, tier)
	if tier == Named {
		return (w.opts.Count(bytes.Repeat(text, 4)) + 3) / 4
	}
	return w.opts.Count(text)
}

// fill assigns tiers: names for all, then lines and full details for pinned and recent tools, then for
// the others.
func (w *writer) fill(placed []bool, left int) []Tier {
	tiers := make([]Tier, len(w.tools))
	first, rest := w.order(placed)
	for _, i := range append(first, rest...) {
		tiers[i] = Full
	}
	if w.opts.Budget <= 0 {
		return tiers
	}
	steps := []Tier{Named, Line, Full}
	if w.opts.Format == JSON {
		steps = steps[1:]
	}
	raise := func(list []int, tier Tier) {
		for _, i := range list {
			if tier != steps[0] && tiers[i] == None {
				continue // not even the smaller tier fit
			}
			if more := w.cost(i, tier) - w.cost(i, tiers[i]); more <= left {
				tiers[i] = tier
				left -= more
			}
		}
	}
	for i := range tiers {
		tiers[i] = None
	}
	raise(first, steps[0])
	raise(rest, steps[0])
	for _, list := range [][]int{first, rest} {
		for _, tier := range steps[1:] {
			raise(list, tier)
		}
	}
	return tiers
}

// order returns the tools that are not placed yet: pinned and recent ones first, then the
// others.
func (w *writer) order(placed []bool) (first, rest []int) {
	seen := append([]bool(nil), placed...)
	for _, list := range [][]string{w.opts.Pinned, w.opts.Recent} {
		for _, name := range list {
			if i, ok := w.places[name]; ok && !seen[i] {
				seen[i] = true
				first = append(first, i)
			}
		}
	}
	for i := range w.tools {
		if !seen[i] {
			rest = append(rest, i)
		}
	}
	return first, rest
}
