package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/steps/snapshot"
)

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

// onlyFieldUnder is the heading of the smallest section around a field, where that has no
// other field; "" else.
func (x *Index) onlyFieldUnder(n *snapshot.Node) string {
	best := scope{to: x.page.Len() + 1}
	for _, s := range x.sections {
		if s.holds(n) && s.to-s.from < best.to-best.from {
			best = s
		}
	}
	for i := best.from; i < min(best.to, x.page.Len()); i++ {
		if m := x.page.Node(i); m != n && is(m, field) {
			return ""
		}
	}
	return best.name.text
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

// inControl tells whether a node is part of what is pressed as a whole.
func inControl(n *snapshot.Node) bool {
	for a := n.Parent; a != nil; a = a.Parent {
		if is(a, pressable) && !is(a, row) {
			return true
		}
	}
	return false
}

// ofChoice tells whether a text in a box is that of a checkbox or a radio button in it, bound
// to it or standing right behind it.
func (x *Index) ofChoice(text, box *snapshot.Node) bool {
	var before *snapshot.Node
	for m := range x.page.Inside(box) {
		if m == text {
			return before != nil && before.Name == ""
		}
		if is(m, checkable) && m.Name != "" && x.phrase(m.Name).equal(x.phrase(text.Text)) {
			return true
		}
		if before = nil; is(m, checkable) {
			before = m
		}
	}
	return false
}

// holdsChoices tells whether a part of the page is there to hold checkboxes or radio buttons.
func holdsChoices(n *snapshot.Node) bool { return n.Role == "group" || n.Role == "radiogroup" }

// textsIn are the texts of a box without controls, each by itself; none for a large one.
func (x *Index) textsIn(box *snapshot.Node) (list []phrase) {
	if box.End-box.Index > smallBox {
		return nil
	}
	for i := box.Index; i < box.End; i++ {
		m := x.page.Node(i)
		if is(m, control) || m.Pointer {
			return nil
		}
		list = append(list, x.phrase(m.Name), x.phrase(m.Text))
	}
	return slices.DeleteFunc(list, phrase.empty)
}

// labelsWith are the texts that stand with an element in one small part of the page, such
// as the title of a card that is made of plain boxes.
func (x *Index) labelsWith(n *snapshot.Node) (list []phrase) {
	at := n
	for range 5 {
		if at.Parent == nil || is(at.Parent, row) || is(at.Parent, landmark) && !(is(n, checkable) && holdsChoices(at.Parent)) {
			break
		}
		at = at.Parent
		count := 0
		for m := at.First; m != nil && count < 30; m = m.Next {
			count++
			if !m.Holds(n) && !is(m, control) && m.Role != "heading" && x.standsWith(m, n) {
				list = append(append(list, x.phrase(x.page.Content(m, 200))), x.textsIn(m)...)
			}
		}
	}
	return list
}
