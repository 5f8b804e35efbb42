package find

import "github.com/toolfit/toolfit/internal/browsertest/snapshot"

// caption is the text before a field whose name is only a placeholder.
func (x *Index) caption(n *snapshot.Node) string {
	if !x.aloneInBox(n) {
		return ""
	}
	for _, text := range x.beside(n) {
		if !x.phrase(text).equal(x.phrase(n.Name)) {
			return text
		}
	}
	return ""
}

// maxBox is how many elements the box of a single field may have beside it.
const maxBox = 200

// aloneInBox tells whether a field shares the box of the text before it with no other named control
// or field, and with no text that is its name: that one is its label.
func (x *Index) aloneInBox(n *snapshot.Node) bool {
	box := n.Parent
	for depth := 0; box != nil && depth < 3; depth++ {
		if (box.End-box.Index)-(n.End-n.Index) > maxBox {
			return false
		}
		for m := range x.page.Inside(box) {
			isLabel := m.Text == n.Name && (m.Ref != "" || m.Role == "text") // without a ref it is the drawn placeholder
			isOther := is(m, control) && (m.Name != "" || is(m, field))
			if m != n && !n.Holds(m) && (isLabel || isOther) {
				return false
			}
		}
		if box.First != n && !box.First.Holds(n) {
			return true
		}
		box = box.Parent
	}
	return false
}

// labelsOther tells whether a text of the page is the name and labels a control: next to the label
// 部门, the field 搜索部门 is another.
func (s *search) labelsOther(name phrase) bool {
	return memo(s.labels, name.text, func() bool {
		for m := range s.x.page.All() {
			if !s.x.phrase(m.Text).equal(name) || m.Role != "generic" && m.Role != "text" || m.Pointer {
				continue
			}
			if s.x.precedesControl(m) && holder(m, table) == nil {
				return true
			}
		}
		return false
	})
}

// precedesControl tells whether something to press or fill follows a text.
func (x *Index) precedesControl(n *snapshot.Node) bool {
	return n.Next != nil && (is(n.Next, control) || n.Next.Pointer || x.holdsControl(n.Next))
}

// labelsField tells whether a box is probably the label of a field: it shows nothing but its name.
func (x *Index) labelsField(n *snapshot.Node) bool {
	if n.Role != "generic" || n.Pointer {
		return false
	}
	return n.Name == "" || n.Text == "" || x.phrase(n.Name).equal(x.phrase(n.Text))
}

// smallBox is how many elements there are in one that says one thing.
const smallBox = 12
