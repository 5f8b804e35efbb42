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

// aloneInBox tells whether the box of a field has no other control, and no text that is its label.
func (x *Index) aloneInBox(n *snapshot.Node) bool {
	box := n.Parent
	if box == nil || (box.End-box.Index)-(n.End-n.Index) > maxBox {
		return false
	}
	for m := range x.page.Inside(box) {
		isLabel := m.Text == n.Name && (m.Ref != "" || m.Role == "text") // without a ref it is the drawn placeholder
		if m != n && !n.Holds(m) && (isLabel || is(m, control)) {
			return false
		}
	}
	return true
}

// labelsOther tells whether the name is a label: next to the label 部门, the field 搜索部门 is another.
func (s *search) labelsOther(name phrase) bool {
	return memo(s.labels, name.text, func() bool {
		for m := range s.x.page.All() {
			if m.Next != nil && s.x.phrase(m.Text).equal(name) {
				return true
			}
		}
		return false
	})
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
