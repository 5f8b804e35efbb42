package find

import (
	"cmp"
	"fmt"
	"slices"

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
	if len(equals) == 0 || equals[0].score+r.cost < isAlike-2*looseCost && !r.name.empty() {
		return nil
	}
	slices.SortFunc(equals, func(a, b candidate) int { return a.node.Index - b.node.Index })
	i := nthOf(r.nth, len(equals))
	if i < 0 || r.several && len(equals) < 2 {
		s.short = fmt.Sprintf("there are only %d of them", len(equals))
		return nil
	}
	c := equals[i]
	c.why += fmt.Sprintf(", number %d of %d", i+1, len(equals))
	return []candidate{c}
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
		return &Hit{top[0].node, s.x.actOn(top[0].node), top[0].score, top[0].why, top[0].kind, top[0].label}, nil
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
