package run

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

const maxText = 20_000

// pageText is all that can be read on a page.
func pageText(tree *snapshot.Page) string {
	var b strings.Builder
	for n := range tree.All() {
		for _, s := range [...]string{n.Name, n.Text} {
			if s != "" {
				b.WriteString(s)
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// pageSays tells whether a page has a text that is as expected.
func pageSays(tree *snapshot.Page, e *steps.Expectation) bool {
	switch e.Match {
	case steps.Equals:
		want := squeeze(e.Value)
		return anyText(tree, func(s string) bool { return squeeze(s) == want })
	case steps.Matches:
		re, err := regexp.Compile(e.Value)
		return err == nil && (anyText(tree, re.MatchString) || re.MatchString(pageText(tree)))
	}
	return pageHas(tree, e.Value)
}

// anyText tells whether one of the texts of a page is so.
func anyText(tree *snapshot.Page, so func(string) bool) bool {
	for n := range tree.All() {
		if n.Name != "" && so(n.Name) || n.Text != "" && so(n.Text) {
			return true
		}
		if n.First != nil && slices.ContainsFunc(strings.Split(sentence(n), "\n"), so) {
			return true
		}
	}
	return false
}

// pageHas tells whether a page has a text, white space, emphasis and links aside.
func pageHas(tree *snapshot.Page, want string) bool {
	want = squeeze(want)
	if want == "" {
		return false
	}
	for n := range tree.All() {
		for _, text := range [...]string{squeeze(n.Name), squeeze(n.Text), sentence(n)} {
			if strings.Contains(text, want) {
				return true
			}
		}
	}
	return false
}

// sentence is the text that stands in one line of a node.
func sentence(n *snapshot.Node) string {
	var b strings.Builder
	for m := n.First; m != nil; m = m.Next {
		switch m.Role {
		case "text":
			b.WriteString(squeeze(m.Text))
		case "strong", "emphasis", "code", "link", "mark", "subscript", "superscript", "insertion", "deletion", "time":
			b.WriteString(squeeze(m.Name))
			if m.Name == "" {
				b.WriteString(squeeze(m.Text))
			}
		default:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func clip(s string) string { return visible.Beginning(s, 200) }
