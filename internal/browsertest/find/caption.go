package find

import "github.com/toolfit/toolfit/internal/browsertest/snapshot"

// caption is the text before a field that has another name. A bound label would be its name,
// so the name is mostly a placeholder, which the server does not tell apart. What names
// another field belongs to that one.
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

// aloneInBox tells whether a field shares the box of the text before it with nothing else
// that has a name, and with no text that is its name: that one is its label.
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

// labelsOther tells whether a text of the page is the name and labels something else than the
// field: beside the label 部门 the field 搜索部门 is not what is meant by it.
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

// labelsField tells whether a box is the label of a field, more often than not: it shows no
// more than what it is called.
func (x *Index) labelsField(n *snapshot.Node) bool {
	if n.Role != "generic" || n.Pointer {
		return false
	}
	return n.Name == "" || n.Text == "" || x.phrase(n.Name).equal(x.phrase(n.Text))
}

// smallBox is how many elements there are in one that says one thing.
const smallBox = 12
