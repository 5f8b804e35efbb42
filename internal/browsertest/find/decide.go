package find

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// nthOf is the index of the nth, from 1 or from -1 backwards, of so many; -1 for none.
func nthOf(nth, size int) int {
	if nth < 0 {
		nth += size + 1
	}
	if nth > size {
		return -1
	}
	return max(nth, 0) - 1
}

// counted picks the nth of equals.
func (s *search) counted(list []candidate, r *reading) []candidate {
	equals := winners(list)
	if len(equals) == 0 {
		return s.withNumber(r)
	}
	if equals[0].score+r.cost < isAlike-2*looseCost && !r.name.empty() {
		return s.withNumber(r)
	}
	slices.SortFunc(equals, func(a, b candidate) int { return a.node.Index - b.node.Index })
	i := nthOf(r.nth, len(equals))
	// The first or the last of one is that one, where a kind was said: "First line" is a name.
	isCalled := r.name.empty() || equals[0].score+r.cost > isEqual-looseCost
	ofOne := r.role != nil && (r.nth == 1 || r.nth == -1) && isCalled
	if i < 0 || r.several && len(equals) < 2 && !ofOne {
		s.short = fmt.Sprintf("there are only %d of them", len(equals))
		return nil
	}
	c := equals[i]
	c.why += fmt.Sprintf(", number %d of %d", i+1, len(equals))
	return []candidate{c}
}

// withNumber is the nth of elements that are called so and by a number each, which must say the same: the
// second tab is "Tab 2".
func (s *search) withNumber(r *reading) []candidate {
	names := []phrase{r.name}
	if r.name.empty() && r.role != nil {
		names = nil
		for _, w := range r.role.words {
			names = append(names, read(w))
		}
	}
	var numbered []candidate
	for _, n := range s.x.serving(s.query.Action) {
		called := s.x.phrase(n.Name)
		isNumbered := func(name phrase) bool {
			rest, found := called.cut(name)
			return found && !name.empty() && len(rest) == 1 && isCount(rest[0])
		}
		if fit(n, s.query.Action) == 2 && slices.ContainsFunc(names, isNumbered) {
			numbered = append(numbered, candidate{node: n, score: isAlike - r.cost, kind: r.role != nil})
		}
	}
	numbered = s.inPlaces(numbered, r)
	i := nthOf(r.nth, len(numbered))
	if i < 0 || !holdsWord(s.x.phrase(numbered[i].node.Name), word{strconv.Itoa(i + 1), ident}) {
		return nil
	}
	numbered[i].why = fmt.Sprintf("is called so with its number, %d of %d", i+1, len(numbered)) + numbered[i].why
	return numbered[i : i+1]
}

// preferDialog ranks candidates outside an open dialog second. An exact match outside and a near
// one inside tie: the dialog may or may not cover the page.
func (s *search) preferDialog(list []candidate) []candidate {
	inside := func(c candidate) bool {
		return slices.ContainsFunc(s.x.dialogs, func(d *snapshot.Node) bool { return d.Holds(c.node) })
	}
	best := 0.0
	for _, c := range list {
		if inside(c) {
			best = max(best, c.score)
		}
	}
	if best == 0 {
		return list
	}
	for i, c := range list {
		if !inside(c) {
			list[i].score = min(c.score-2*lead, best)
		}
	}
	return list
}

// winners are the candidates that no other leads.
func winners(list []candidate) []candidate {
	top := 0.0
	for _, c := range list {
		top = max(top, c.score)
	}
	var matching []candidate
	for _, c := range list {
		if c.score > top-lead {
			matching = append(matching, c)
		}
	}
	return matching
}

// decide takes the one element that leads, or says why there is none.
func (s *search) decide() (*Hit, error) {
	best := map[*snapshot.Node]candidate{}
	for _, c := range s.found {
		if c.score > best[c.node].score {
			best[c.node] = c
		}
	}
	var list []candidate
	for _, c := range best {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), a.node.Index-b.node.Index)
	})
	top := s.innermost(winners(list))
	doubtful := func(c candidate) bool { return c.rival && (len(top) == 1 || c.score <= isRival) }
	switch {
	case !slices.ContainsFunc(top, func(c candidate) bool { return !doubtful(c) }):
		return nil, s.notFound()
	case len(top) == 1:
		c := top[0]
		ref := s.x.actOn(c.node)
		if s.query.Action == Choose {
			ref = holder(c.node, choosable).Ref
		}
		return &Hit{c.node, ref, c.score, c.why, c.kind, c.label, c.typed}, nil
	}
	return nil, s.ambiguous(top)
}

// innermost drops elements that hold another of the list under the same label: a click on
// either is the same.
func (s *search) innermost(list []candidate) []candidate {
	var inner []candidate
	for _, c := range list {
		holds := func(o candidate) bool {
			return o.node != c.node && c.node.Holds(o.node) && s.x.page.Content(c.node, 200) == s.x.page.Content(o.node, 200)
		}
		if !slices.ContainsFunc(list, holds) {
			inner = append(inner, c)
		}
	}
	return inner
}
