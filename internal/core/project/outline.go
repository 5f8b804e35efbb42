package project

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// An outline is how browsers' servers describe a page: a line per element, with its role, its name and
// a ref by which it can be acted upon.
//
//	- main [ref=e2]:
//	  - heading "Users" [level=1] [ref=e3]
//	  - generic [ref=e4]: Some text
//	  - button "New user" [ref=e5]

// What a line of an outline is good for. The higher go first.
const (
	acts  = iota // it can be acted upon, or it is a landmark or no line of an outline
	shows        // a heading, or data in a table: its ref goes, since nobody acts upon it
	says         // it only says something
	holds        // it only holds others together, or is a property of the line above
)

// static are the roles of elements that hold or say something, and do nothing.
var static = []string{
	"generic", "text", "paragraph", "list", "listitem", "img", "image", "strong", "emphasis", "code", "blockquote", "separator", "group",
	"none", "presentation", "figure", "caption", "superscript", "subscript", "deletion", "insertion", "mark", "time", "rowgroup", "document",
}

// shown are the roles of headings and data.
var shown = []string{"heading", "table", "row", "cell", "gridcell", "columnheader", "rowheader", "term", "definition"}

var ref = regexp.MustCompile(` \[ref=\w+\]`)

const leastOutline = 8 // lines with a ref that make an outline

// trimOutline leaves out lines of an outline, until it fits or only what acts is left. Another text is
// returned as it is.
func trimOutline(text []byte, budget int, t *mask.Tally) []byte {
	if bytes.Count(text, []byte("[ref=")) < leastOutline {
		return text
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for class := holds; class > acts && !tokens.Fits(text, budget); class-- {
		for i, line := range lines {
			switch {
			case classOf(line) != class:
			case class == shows:
				lines[i] = ref.ReplaceAll(line, nil)
				t.Cut++
			default:
				lines[i] = nil
				t.Rows++
			}
		}
		text = bytes.Join(lines, nil)
	}
	return text
}

// classOf classifies a line.
func classOf(line []byte) int {
	line, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("- "))
	if !found {
		return acts
	}
	line = bytes.TrimLeft(line, "'")
	role := line[:len(line)-len(bytes.TrimLeft(line, "abcdefghijklmnopqrstuvwxyz"))]
	named := bytes.IndexByte(line, '"') >= 0
	switch {
	case bytes.HasPrefix(line, []byte("/")):
		return holds
	case bytes.Contains(line, []byte("[cursor=pointer]")), bytes.Contains(line, []byte("[active]")),
		!slices.Contains(static, string(role)) && !slices.Contains(shown, string(role)):
		return acts
	case string(role) != "row" && !named && (bytes.HasSuffix(line, []byte(":")) || bytes.HasSuffix(line, []byte("]")) || len(role) == len(line)):
		return holds
	case slices.Contains(shown, string(role)):
		return shows
	}
	return says
}
