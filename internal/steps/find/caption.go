package find

import "github.com/toolfit/toolfit/internal/steps/snapshot"

// caption is the text before a field that has another name. A bound label would be its name,
// so the name is mostly a placeholder, which the server does not tell apart. What names
// another field belongs to that one.
func (x *Index) caption(n *snapshot.Node) string {
	if !x.aloneInBox(n) {
		return ""
	}
	for _, text := range x.beside(n) {
		p := x.phrase(text)
		if !p.equal(x.phrase(n.Name)) && !x.namesField(p) {
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
	for depth := 0; box != nil && depth < 3; depth++ {
		if (box.End-box.Index)-(n.End-n.Index) > maxBox {
			return false
		}
		for m := range x.page.Inside(box) {
			isLabel := m.Text == n.Name && (m.Ref != "" || m.Role == "text") // without a ref it is the drawn placeholder
			if m != n && !n.Holds(m) && (isLabel || is(m, control) && (m.Name != "" || is(m, field))) {
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

// namesField tells whether any field of the page is called so.
func (x *Index) namesField(p phrase) bool {
	if x.fields == nil {
		x.fields = map[string]bool{}
		for n := range x.page.All() {
			if is(n, field|checkable) && n.Name != "" {
				x.fields[x.phrase(n.Name).joined] = true
			}
		}
	}
	return x.fields[p.joined]
}

// labelsOther tells whether a text of the page is the name and labels something else than the
// field: beside the label 部门 the field 搜索部门 is not what is meant by it.
func (s *search) labelsOther(name phrase) bool {
	is, known := s.labels[name.text]
	if !known {
		for m := range s.x.page.All() {
			if (m.Role == "generic" || m.Role == "text") && !m.Pointer && s.x.phrase(m.Text).equal(name) && s.x.precedesControl(m) && holder(m, table) == nil {
				is = true
				break
			}
		}
		s.labels[name.text] = is
	}
	return is
}

// precedesControl tells whether something to press or fill follows a text.
func (x *Index) precedesControl(n *snapshot.Node) bool {
	return n.Next != nil && (is(n.Next, control) || n.Next.Pointer || x.holdsControl(n.Next))
}

// labelsField tells whether a box is the label of a field, more often than not: it shows no
// more than what it is called.
func (x *Index) labelsField(n *snapshot.Node) bool {
	if n.Role != "generic" || n.Pointer {
		return false
	}
	return n.Name == "" || n.Text == "" || x.phrase(n.Name).equal(x.phrase(n.Text))
}

// onlyFieldUnder is the heading of the smallest section around a field, where that has no
// other field; "" else.
func (x *Index) onlyFieldUnder(n *snapshot.Node) string {
	section := x.sectionOf(n)
	for i := section.from; i < section.to; i++ {
		if m := x.page.Node(i); m != n && is(m, field) {
			return ""
		}
	}
	return section.name.text
}

// smallBox is how many elements there are in one that says one thing.
const smallBox = 12

// mainText is the longest of several texts written in a control: its title rather than the
// count or the badge beside it; "" where there is no such one.
func (x *Index) mainText(n *snapshot.Node) (text string) {
	if n.First == nil || n.End-n.Index > smallBox || is(n, row) {
		return ""
	}
	longest := 0
	for m := range x.page.Inside(n) {
		if is(m, control) {
			return ""
		}
		switch size := len(x.phrase(m.Text).joined); {
		case m.Text == "" || size < longest:
		case size == longest:
			text = ""
		default:
			text, longest = m.Text, size
		}
	}
	return text
}
