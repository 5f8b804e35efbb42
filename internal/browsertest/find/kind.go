package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// isShape tells whether the word says how large a text field is, and ofContent whether it says by an
// input type what a field is for: a password, a date.
func (w *roleWord) isShape() bool { return w != nil && slices.Contains(w.types, "textarea") }

func (w *roleWord) ofContent() bool {
	return w != nil && len(w.types) > 0 && len(w.strict) == 0 && !w.isShape()
}

// isList tells whether the word means lists of options and nothing else.
func (w *roleWord) isList() bool {
	return w != nil && len(w.strict) > 0 && !slices.ContainsFunc(w.strict, func(role string) bool { return traits[role]&choosable == 0 })
}

// isOf says how an element serves a word for a kind, as accepts does, also by what the page has told of
// its input type, and by what it fills: the button that is all of a column header.
func (x *Index) isOf(n *snapshot.Node, w *roleWord) int {
	if w != nil && len(w.types) > 0 && !slices.Contains(w.strict, n.Role) {
		if t, told := x.told[Question{Ref: n.Ref, About: InputType}]; told && (t.Type != "" || w.ofContent()) {
			return both(slices.Contains(w.types, t.Type))
		}
	}
	as := w.accepts(n)
	box := n.Parent
	if as > 0 || box == nil || box.First != n || n.Next != nil || !is(n, pressable) || is(box, control) || box.Role == "generic" {
		return as
	}
	return min(w.accepts(box), 1)
}

// onlyOne is the only text field or the only list, which is meant whatever shape it is said to have; none
// for several.
func (s *search) onlyOne(r *reading) (list []candidate) {
	isShape := s.query.Action == Fill && r.role.isShape() || s.query.Action == Select && r.role.isList()
	for _, n := range s.x.serving(s.query.Action) {
		if isShape && r.role.accepts(n) > 0 && n.Role != "generic" {
			list = append(list, candidate{node: n, score: isOnlyOne - looseCost, why: "is the only one of such kinds", kind: true})
		}
	}
	if len(list) > 1 || r.nth > 1 {
		return nil
	}
	return list
}

// saysOther tells whether a label of an element makes it another of its kind: the field to confirm a
// password is not "the password field".
func (x *Index) saysOther(n *snapshot.Node) bool {
	return slices.ContainsFunc(x.labelsOf(n), func(l label) bool { return slices.ContainsFunc(l.words, turnsAway) })
}

// doesTo tells whether a button is called by a verb alone, and the word for a kind is what it is done to:
// "Delete item" is no item called "Delete".
func (r *reading) doesTo(n *snapshot.Node) bool {
	if !r.contents || r.exact || r.name.empty() || n.Role == "img" {
		return false
	}
	first := r.name.words[0]
	return imperatives[first.text] || reverses(first) || slices.Contains(verbsHan, first.text)
}
