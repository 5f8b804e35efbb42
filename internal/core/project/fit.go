package project

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// leastShare is the fewest tokens of a text that are worth reading. Rather than share less, the last
// texts are dropped.
const leastShare = 100

// fit cuts structuredContent to its budget, and all text together. Text for the user takes what the
// model's leaves.
func (r *result) fit(how How) {
	r.readResources()
	var model, user []*part
	for _, p := range r.parts {
		switch {
		case p.structured:
			if how.Budget > 0 {
				p.trim(how, how.Budget)
			}
		case p.user:
			user = append(user, p)
		default:
			model = append(model, p)
		}
	}
	left := fitTogether(model, how, how.limit())
	fitTogether(user, how, left)
}

// fitTogether cuts the parts so that they fit together, and returns what is left of the budget.
func fitTogether(parts []*part, how How, budget int) (left int) {
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = tokens.Estimate(p.sent())
	}
	most := share(sizes, budget)
	if most < leastShare {
		return keepFirst(parts, how, sizes, budget)
	}
	for i, p := range parts {
		if sizes[i] > most {
			p.trim(how, most)
			sizes[i] = min(sizes[i], most)
		}
		budget -= sizes[i]
	}
	return max(0, budget)
}

// keepFirst keeps as many of the first parts as fit, at least one. None takes more than half.
func keepFirst(parts []*part, how How, sizes []int, budget int) (left int) {
	most := max(budget/2, min(budget, leastShare))
	left = budget
	for i, p := range parts {
		sizes[i] = min(sizes[i], most) + 1
		if i > 0 && sizes[i] > left { // and a break between two
			for _, p := range parts[i:] {
				p.drop()
			}
			break
		}
		p.trim(how, most)
		left -= sizes[i]
	}
	return max(0, left)
}

// trim cuts the part to the budget. A shaped part is cut before shaping, so that its rows stay whole.
func (p *part) trim(how How, budget int) {
	if tokens.Estimate(p.sent()) <= budget {
		return
	}
	value := p.head(4 * budget)
	if value == nil { // prose, or prose in braces
		p.json = false
		p.out = trimText(p.sent(), budget, &p.tally)
		p.shaped = nil
		return
	}
	p.out = value
	p.shaped = nil
	room := budget
	p.reshape(how.Shape)
	if p.shaped != nil {
		room = int(int64(budget) * int64(tokens.Estimate(value)) / int64(max(1, tokens.Estimate(p.shaped))))
	}
	p.out = trimJSON(value, room, &p.tally)
	p.shaped = nil
	p.reshape(how.Shape)
}

// head is the rest of the part as compact JSON with so many elements of each array (0: all); nil if it
// is not JSON.
func (p *part) head(elements int) []byte {
	if !p.json {
		return nil
	}
	var t mask.Tally
	value, err := mask.First(elements).Apply(nil, p.text(), &t)
	if err != nil || rawjson.Check(value) != nil {
		return nil
	}
	p.tally.Add(&t)
	return value
}

// hopeless is how far over its budget a text must be for shaping to be pointless.
const hopeless = 16

// isHopeless reports whether a text will be cut however it is shaped.
func (p *part) isHopeless(budget int) bool {
	return budget > 0 && len(p.text()) > hopeless*budget && tokens.Sampled(p.text()) > hopeless*budget
}
