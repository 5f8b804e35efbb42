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
		}
	case isField:
		add(x.caption(n), byCaption)
	case n.Name == "" && n.Text == "" && n.First != nil && n.End-n.Index <= smallBox:
		add(x.page.Content(n, 200), byContent)
	}
	x.labels[n.Index] = list
	return list
}

// badge is a count after a name: Cart (3), 消息（99+）; Cart, 2 items.
var badge = regexp.MustCompile(`^(.*\S)\s*[(（\[]\s*\d+\+?\s*[)）\]]$|^([^,，\d]*\pL)[,，]\s*\d+\+?(?:\s*(?:items?|new|unread|[件条个项]))?$`)

// beside are the texts next to a field: before it, after a checkbox, or at the head of its column.
func (x *Index) beside(n *snapshot.Node) (texts []string) {
	if is(n, checkable) {
		if n.Next != nil && x.plainText(n.Next) {
			return []string{x.page.Content(n.Next, 100)}
		}
	}
	if head := x.columnOf(n); head != "" {
		return []string{head} // the cell before says what the row is about
	}
	at := n
	for range 3 {
		if at.Parent == nil {
			break
		}
		before := x.previous(at)
		for before != nil && before.Role == "text" && before.Text == "" { // was an icon
			before = x.previous(before)
		}
		if before != nil {
			text := x.page.Content(before, 100)
			ofOther := x.told[Question{n.Ref, LabelOwner, text}].Others
			if !before.Pointer && x.plainText(before) && !sentence.MatchString(text) && !ofOther {
				texts = append(texts, text)
			}
			break // what stands before that belongs to something else
		}
		at = at.Parent
	}
	return texts
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
