package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// aboutText keeps the candidates in a box with the title of the place, else those beside that text.
func (s *search) aboutText(list []candidate, p place) (matching []candidate) {
	bars, boxes := s.x.titled(p)
	if matching = inBoxes(list, bars); len(matching) == 0 {
		matching = inBoxes(list, boxes)
	}
	if len(matching) == 0 && p.word == nil {
		matching = s.beside(list, p)
	}
	if anchors := s.x.anchors(p); len(anchors) == 1 && len(matching) > 1 {
		return nearest(matching, anchors[0], p.side)
	}
	return matching
}

// nearest is the first of the candidates after a text, or the last before it; for no side it is all of them.
func nearest(list []candidate, text *snapshot.Node, side int) []candidate {
	compare := func(a, b candidate) int { return side * (a.node.Index - b.node.Index) }
	onSide := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return side*(c.node.Index-text.Index) <= 0 })
	if side == 0 || len(onSide) == 0 {
		return list
	}
	return []candidate{slices.MinFunc(onSide, compare)}
}

// inBoxes keeps the candidates that stand in one of the boxes.
func inBoxes(list []candidate, boxes []*snapshot.Node) (matching []candidate) {
	for _, c := range list {
		if slices.ContainsFunc(boxes, func(b *snapshot.Node) bool { return b.Holds(c.node) }) {
			c.why += ", in the box with that title"
			matching = append(matching, c)
		}
	}
	return matching
}

// beside keeps the candidates that stand with the text that a place is called by.
func (s *search) beside(list []candidate, p place) (matching []candidate) {
	anchors := s.x.anchors(p)
	inRow := func(anchor, n *snapshot.Node) bool { // next to a cell is in its row
		line := holder(anchor, row)
		return p.near && line != nil && (is(anchor, cell) || holder(anchor, cell) != nil) && line == holder(n, row)
	}
	for _, stands := range []func(anchor, n *snapshot.Node) bool{s.x.standsWith, inRow} {
		for _, c := range list {
			if slices.ContainsFunc(anchors, func(a *snapshot.Node) bool { return stands(a, c.node) }) {
				c.why += ", beside that text"
				matching = append(matching, c)
			}
		}
		if len(matching) > 0 {
			break
		}
	}
	return matching
}

// anchors are the elements called exactly so, for what stands beside them.
func (x *Index) anchors(p place) (list []*snapshot.Node) {
	if p.name.empty() || !x.knowsAll(p.name) {
		return nil
	}
	for n := range x.page.All() {
		for _, text := range [...]string{n.Name, n.Text, n.Placeholder} {
			if text != "" && len(list) < 50 && x.phrase(text).equal(p.name) {
				list = append(list, n)
				break
			}
		}
	}
	return list
}

// standsWith tells whether an element and an anchor share a small part of the page, without other
// controls beside the anchor or other text beside the element.
func (x *Index) standsWith(anchor, n *snapshot.Node) bool {
	if anchor.Holds(n) || n.Holds(anchor) {
		return false
	}
	side := anchor
	for depth := 0; side.Parent != nil && !side.Parent.Holds(n); depth++ {
		if depth == 3 {
			return false
		}
		side = side.Parent
	}
	if side.Parent == nil {
		return false
	}
	for m := range x.page.Inside(side) {
		if m != anchor && (is(m, control) || m.Pointer && !m.Holds(anchor) && !anchor.Holds(m)) {
			return false
		}
	}
	other := n
	for other.Parent != side.Parent {
		other = other.Parent
	}
	for i := other.Index; i < other.End; {
		m := x.page.Node(i)
		if m != n && isTitle(m) {
			return false
		}
		if m == n || (is(m, control) || m.Pointer) && !m.Holds(n) {
			i = m.End
			continue
		}
		if (m.Name != "" || m.Text != "") && m.Role != "group" && m.Role != "radiogroup" && !x.ofChoice(m, other) {
			return false
		}
		i++
	}
	return true
}

// ofChoice tells whether a text in a box is that of a checkbox or a radio button in it.
func (x *Index) ofChoice(text, box *snapshot.Node) bool {
	for m := range x.page.Inside(box) {
		if is(m, checkable) && m.Name != "" && x.phrase(m.Name).equal(x.phrase(text.Text)) {
			return true
		}
	}
	return false
}

// labelsWith are the texts near an element, such as the title of a card of plain boxes.
func (x *Index) labelsWith(n *snapshot.Node) (list []phrase) {
	at := n
	for range 5 {
		if at.Parent == nil || is(at.Parent, row) {
			break
		}
		at = at.Parent
		count := 0
		for m := at.First; m != nil && count < 30; m = m.Next {
			count++
			if !m.Holds(n) && (!is(m, control) || isTitle(m)) && m.Role != "heading" && x.standsWith(m, n) {
				list = append(append(list, x.phrase(x.page.Content(m, 200))), x.textsIn(m)...)
			}
		}
	}
	return list
}

// isTitle tells whether a link may be the title of a card.
func isTitle(n *snapshot.Node) bool { return n.Role == "link" && n.Parent != nil }

// textsIn are the texts of a box without controls, each by itself; none for a large one.
func (x *Index) textsIn(box *snapshot.Node) (list []phrase) {
	if box.End-box.Index > smallBox {
		return nil
	}
	for i := box.Index; i < box.End; i++ {
		m := x.page.Node(i)
		list = append(list, x.phrase(m.Name), x.phrase(m.Text))
	}
	return slices.DeleteFunc(list, phrase.empty)
}

// inControl tells whether a node is part of what is pressed as a whole.
func inControl(n *snapshot.Node) bool {
	for a := n.Parent; a != nil; a = a.Parent {
		if is(a, pressable) && !is(a, row) {
			return true
		}
	}
	return false
}
