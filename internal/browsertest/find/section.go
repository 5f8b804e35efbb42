package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// readSections finds what each heading heads: the largest box without another heading of its rank or
// a higher one, or all up to the next such heading.
func (x *Index) readSections(list []*snapshot.Node) {
	list = slices.DeleteFunc(list, func(h *snapshot.Node) bool { return holder(h, heading) != nil })
	for _, h := range list {
		x.headings = append(x.headings, h.Index)
	}
	for _, h := range list {
		s := scope{from: h.Index, to: x.page.Len(), name: x.phrase(x.page.Content(h, 200)), level: h.Level}
		box := h.Parent
		for depth := 0; box != nil && depth < 6 && x.rivals(h, box) < 0; depth++ {
			s.from = box.Index
			s.to = box.End
			box = box.Parent
		}
		if box == h.Parent { // headings side by side
			if box != nil {
				s.to = box.End
			}
			if next := x.rivals(h, box); next > h.Index {
				s.to = next
			}
		}
		x.sections = append(x.sections, s)
	}
}

// rivals is where the box has the next heading that ends the section of h; -1 when it has none at all.
func (x *Index) rivals(h, box *snapshot.Node) int {
	from := 0
	to := x.page.Len()
	if box != nil {
		from = box.Index
		to = box.End
	}
	first, _ := slices.BinarySearch(x.headings, from)
	before := -1
	for _, i := range x.headings[first:] {
		switch {
		case i >= to:
			return before
		case i == h.Index || x.page.Node(i).Level > h.Level:
		case i > h.Index:
			return i
		default:
			before = i
		}
	}
	return before
}

// placeName is the name of a part of the page: its own, its caption, or its first heading.
func (x *Index) placeName(n *snapshot.Node) phrase {
	return memo(x.names, n.Index, func() phrase { return x.readPlaceName(n) })
}

func (x *Index) readPlaceName(n *snapshot.Node) phrase {
	if n.Name != "" {
		return x.phrase(n.Name)
	}
	if by := x.opener(n); by != nil {
		return x.phrase(by.Name)
	}
	for i := n.Index + 1; i < min(n.End, n.Index+8); i++ {
		m := x.page.Node(i)
		if x.oneOfSeveral(m) {
			break // its heading is its own
		}
		if m.Role == "heading" || m.Role == "caption" || m.Role == "legend" {
			return x.phrase(x.page.Content(m, 200))
		}
		if is(m, control) {
			break
		}
	}
	return phrase{}
}

// opener is the expanded control before a menu or a list, or around it, which names it; nil for none.
func (x *Index) opener(n *snapshot.Node) *snapshot.Node {
	if n.Parent == nil || n.Role != "menu" && n.Role != "list" && n.Role != "listbox" {
		return nil
	}
	for _, by := range []*snapshot.Node{x.previous(n), n.Parent} {
		expanded := func(a snapshot.Attr) bool { return a.Key == "expanded" }
		if by != nil && is(by, control) && slices.ContainsFunc(by.Attrs, expanded) {
			return by
		}
	}
	return nil
}

// oneOfSeveral tells whether a node has siblings of its kind, such as the items of a list.
func (x *Index) oneOfSeveral(n *snapshot.Node) bool {
	if !is(n, row|landmark) && n.Role != "article" || n.Parent == nil {
		return false
	}
	count := 0
	for m := n.Parent.First; m != nil && count < 2; m = m.Next {
		if m.Role == n.Role {
			count++
		}
	}
	return count > 1
}

// headed are the sections whose heading answers to the place's name.
func (x *Index) headed(p place) (list []scope) {
	for _, s := range x.sections {
		if g := nameGrade(s.name, p); g != none {
			s.grade = g
			list = append(list, s)
		}
	}
	return list
}

// sectionOf is the smallest section around an element; the whole page, without a name, for none.
func (x *Index) sectionOf(n *snapshot.Node) scope {
	best := scope{to: x.page.Len()}
	for _, s := range x.sections {
		if s.holds(n) && (best.name.empty() || s.to-s.from < best.to-best.from) {
			best = s
		}
	}
	return best
}

// titled are the boxes that begin with a text as their title: the smallest with controls in them, and
// around them those of which they are only the top bar.
func (x *Index) titled(p place) (list, around []*snapshot.Node) {
	for _, title := range x.anchors(p) {
		if (is(title, control|heading|row) || title.Pointer) && !isTitle(title) {
			continue
		}
		box := title
		for depth := 0; depth < 4 && box.Parent != nil && box.Parent.First == box && !x.holdsOther(box, title); depth++ {
			box = box.Parent
		}
		if box.Parent == nil || !x.holdsOther(box, title) {
			continue
		}
		list = append(list, box)
		if x.isBar(box, title) {
			around = append(around, box.Parent)
		}
	}
	return list, around
}

// isBar tells whether a box is the top bar of another: it has the title and controls alone.
func (x *Index) isBar(box, title *snapshot.Node) bool {
	if box.Parent.First != box || box.Next == nil || box.Parent.Parent == nil {
		return false
	}
	for m := range x.page.Inside(box) {
		if m.Text != "" && !title.Holds(m) && !is(m, control) {
			return false
		}
	}
	for next := box.Next; next != nil; next = next.Next {
		if first := next.First; first != nil && first.Role == title.Role && first.Text != "" {
			return false
		}
	}
	return true
}

// holdsOther tells whether a box has a control besides its title.
func (x *Index) holdsOther(box, title *snapshot.Node) bool {
	for m := range x.page.Inside(box) {
		if (is(m, control) || m.Pointer) && !(is(title, control) && title.Holds(m)) {
			return true
		}
	}
	return false
}

func (x *Index) holdsControl(box *snapshot.Node) bool { return x.holdsOther(box, box) }

// holdsHeading tells whether there is a heading in a box: it is read, and not pressed.
func (x *Index) holdsHeading(box *snapshot.Node) bool {
	for m := range x.page.Inside(box) {
		if is(m, heading) {
			return true
		}
	}
	return false
}

// isTitleOf tells whether a text is the name of the dialog that it stands in.
func (x *Index) isTitleOf(n *snapshot.Node) bool {
	return n.Text != "" && slices.ContainsFunc(x.dialogs, func(d *snapshot.Node) bool {
		return d.Holds(n) && x.placeName(d).equal(x.phrase(n.Text))
	})
}
