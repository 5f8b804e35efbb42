package find

import (
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// label is one text that an element goes by.
type label struct {
	phrase
	source source
}

type source uint8

const (
	byName    source = iota
	byText           // own text, placeholder
	byNearby         // text beside it
	byCaption        // what else is written at a field that has a name: text beside it, a placeholder
	byContent        // the text inside
)

// sourceCost prefers what is called so over what only has the text at it.
var sourceCost = [...]float64{byName: 0, byText: 0.02, byNearby: 0.03, byCaption: 0.03, byContent: 0.02}

var sourceNames = [...]string{byName: "name", byText: "text", byNearby: "text beside it", byCaption: "caption", byContent: "content"}

// labelsOf are the texts that an element goes by, its name first.
func (x *Index) labelsOf(n *snapshot.Node) []label {
	if x.labels[n.Index] != nil {
		return x.labels[n.Index]
	}
	list := make([]label, 0, 2)
	add := func(text string, s source) {
		if p := x.phrase(text); !p.empty() {
			list = append(list, label{p, s})
		}
	}
	isField := is(n, field)
	add(n.Name, byName)
	if n.Role == "iframe" {
		for _, name := range x.toldNames(n) {
			add(name, byName)
		}
		for _, text := range x.beside(n) {
			add(text, byCaption)
		}
	}
	if strings.ContainsAny(n.Name, ")）],，") {
		if m := badge.FindStringSubmatch(n.Name); m != nil {
			add(m[1]+m[2], byText)
		}
	}
	prompting := isField && (n.Name == "" || n.Name == n.Placeholder) // the name is no label, but says what to do
	if n.Placeholder != "" && n.Placeholder != n.Name {
		from := byText
		if n.Name != "" { // "search by name or email" is no e-mail field
			from = byCaption
		}
		add(n.Placeholder, from)
	}
	if !isField && n.Text != "" && n.Text != n.Name {
		add(n.Text, byText)
	}
	switch {
	case prompting, is(n, checkable) && n.Name == "":
		for _, text := range x.beside(n) {
			add(text, byNearby)
		}
		if len(list) == 0 && isField {
			add(x.sectionOf(n).name.text, byNearby)
			add(x.buttonAfter(n), byNearby)
		}
	case isField:
		add(x.caption(n), byCaption)
	case n.Name == "" && n.Text == "" && n.First != nil && n.End-n.Index <= smallBox:
		add(x.page.Content(n, 200), byContent)
		if title := x.onlyHeading(n); n.Pointer && title != nil {
			add(x.page.Content(title, 200), byText)
		}
	}
	x.labels[n.Index] = list
	return list
}

// badge is a count after a name: Cart (3), 消息（99+）; Cart, 2 items.
var badge = regexp.MustCompile(`^(.*\S)\s*[(（\[]\s*\d+\+?\s*[)）\]]$|^([^,，\d]*\pL)[,，]\s*\d+\+?(?:\s*(?:items?|new|unread|[件条个项]))?$`)

// buttonAfter is the name of the button behind the only field of a box, which is all that says what a
// field without a label is for.
func (x *Index) buttonAfter(n *snapshot.Node) string {
	next := n.Next
	if next == nil || next.Role != "button" || x.previous(n) != nil {
		return ""
	}
	for m := next; m != nil; m = m.Next {
		if is(m, field) || m != next && is(m, control) || x.holdsControl(m) {
			return ""
		}
	}
	return next.Name
}

// onlyHeading is the heading in a box; nil where there is none, or several.
func (x *Index) onlyHeading(box *snapshot.Node) (only *snapshot.Node) {
	for m := range x.page.Inside(box) {
		if is(m, heading) && only != nil {
			return nil
		}
		if is(m, heading) {
			only = m
		}
	}
	return only
}

// beside are the texts next to a field: before it, after a checkbox, or at the head of its column.
func (x *Index) beside(n *snapshot.Node) (texts []string) {
	if x.labeledAfter(n) {
		return []string{x.page.Content(x.boxBefore(n).Next, 100)}
	}
	if head := x.columnOf(n); head != "" {
		return []string{head} // the cell before says what the row is about
	}
	at := n
	for range 3 {
		if at.Parent == nil || at.Role == "row" { // the row above is another
			break
		}
		before := x.previous(at)
		for before != nil && before.Role == "text" && before.Text == "" { // was an icon
			before = x.previous(before)
		}
		if before != nil {
			text := x.page.Content(before, 100)
			ofOther := x.told[Question{n.Ref, LabelOwner, text}].Others
			if _, either := x.byTurns(at); either {
				break
			}
			if !before.Pointer && x.plainText(before) && !sentence.MatchString(text) && !ofOther {
				texts = append(texts, text)
			}
			break // what stands before that belongs to something else
		}
		at = at.Parent
	}
	return texts
}

// labeledAfter tells whether the text after a field is its label. Checkboxes have it there, unless the
// texts and the boxes begin with a text and end with a box; other fields where they begin with a field and
// end with a text.
func (x *Index) labeledAfter(n *snapshot.Node) bool {
	at := x.boxBefore(n)
	if at == nil || !is(n, checkable) && (!is(n, field) || n.Name != "" || x.columnOf(n) != "") {
		return false
	}
	if is(n, checkable) {
		first, last := x.ends(at)
		return !x.plainText(first) || x.plainText(last)
	}
	after, _ := x.byTurns(at)
	return after && !sentence.MatchString(x.page.Content(at.Next, 100))
}

// ends are the first sibling of a node and the last one that is a text or has a field.
func (x *Index) ends(at *snapshot.Node) (first, last *snapshot.Node) {
	first = at.Parent.First
	for m := first; m != nil; m = m.Next {
		if x.plainText(m) || x.holdsField(m) {
			last = m
		}
	}
	return first, last
}

// byTurns tells whether the siblings of a node are fields and texts by turns, from a field to a text: each
// text labels the field before it; or from one field without a name to another, so that a text may label
// either.
func (x *Index) byTurns(at *snapshot.Node) (after, either bool) {
	first, last := x.ends(at)
	blank := true
	for m := first; m != nil && x.holdsField(m); m = m.Next.Next {
		blank = blank && is(m, field) && m.Name == "" && m.Placeholder == ""
		if m == last {
			return false, blank && m != first
		}
		if m.Next == nil || !x.plainText(m.Next) {
			return false, false
		}
		if m.Next == last {
			return true, false
		}
	}
	return false, false
}

// boxBefore is the field, or the box that it fills, which a text follows; nil for none.
func (x *Index) boxBefore(n *snapshot.Node) *snapshot.Node {
	at := n
	for depth := 0; depth < 3 && at.Parent != nil && at.Next == nil && at.Parent.First == at && !is(at.Parent, row|cell|landmark); depth++ {
		at = at.Parent
	}
	if at.Parent == nil || at.Next == nil || !x.plainText(at.Next) {
		return nil
	}
	return at
}

// holdsField tells whether a node is a field or a checkbox, or has one in it.
func (x *Index) holdsField(n *snapshot.Node) bool {
	if is(n, field|checkable) {
		return true
	}
	for m := range x.page.Inside(n) {
		if is(m, field|checkable) {
			return true
		}
	}
	return false
}

// sentence is a text that explains rather than names.
var sentence = regexp.MustCompile(`(?:\S+\s+){4,}\S+[.!]$|[，,].*[。！]$`)

// previous is the sibling before a node that has a parent; nil for the first.
func (x *Index) previous(n *snapshot.Node) *snapshot.Node {
	if n.Parent.First == n {
		return nil
	}
	before := x.page.Node(n.Index - 1) // the last descendant of the sibling
	for before.Parent != n.Parent {
		before = before.Parent
	}
	return before
}

// plainText tells whether a node is short text without controls in it.
func (x *Index) plainText(n *snapshot.Node) bool {
	if n.End-n.Index > 6 || is(n, control) || n.Role == "heading" {
		return false
	}
	for m := range x.page.Inside(n) {
		if is(m, control) || m.Pointer {
			return false
		}
	}
	text := x.page.Content(n, 100)
	return text != "" && len(text) <= 90
}
