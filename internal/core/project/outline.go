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

// lineClass is what a line of an outline is good for. The higher go first.
type lineClass int

const (
	acts   lineClass = iota // it can be acted upon, or it is a landmark or no line of an outline
	shows                   // a heading, or data in a table: nobody acts upon it, but it is what pages are read for
	says                    // text that only says something
	detail                  // a property of the line above
	holds                   // it only holds others together
)

// static are the roles of elements that hold or say something, and do nothing.
var static = []string{
	"generic", "text", "paragraph", "list", "listitem", "img", "image", "strong", "emphasis", "code", "blockquote", "separator", "group",
	"none", "presentation", "figure", "caption", "superscript", "subscript", "deletion", "insertion", "mark", "time", "rowgroup", "document",
}

// shown are the roles of headings and data.
var shown = []string{"heading", "table", "row", "cell", "gridcell", "columnheader", "rowheader", "term", "definition"}

const (
	leastOutline = 8  // lines with a ref that make an outline
	sayingChars  = 80 // of a line that only says something, before it goes
)

// trimOutline leaves out lines of an outline, until it fits or only what acts is left. Another text is
// returned as it is.
func trimOutline(text []byte, budget int, t *mask.Tally) []byte {
	if bytes.Count(text, []byte("[ref=")) < leastOutline {
		return text
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	classes := make([]lineClass, len(lines))
	for i, line := range lines {
		classes[i] = classOf(line)
	}
	for class := holds; class > shows; class-- {
		if class == says {
			t.Cut += shortenSaying(lines, classes)
			if text = bytes.Join(lines, nil); tokens.Fits(text, budget) {
				return text
			}
		}
		for i := range lines {
			if classes[i] == class {
				lines[i] = nil
				t.Rows++
			}
		}
		if text = bytes.Join(lines, nil); tokens.Fits(text, budget) {
			return text
		}
	}
	t.Cut += withoutRefs(lines, classes)
	return bytes.Join(lines, nil)
}

// withoutRefs takes the refs from lines that nobody acts upon, and counts them.
func withoutRefs(lines [][]byte, classes []lineClass) (cut int) {
	for i, line := range lines {
		if classes[i] != shows {
			continue
		}
		if short := ref.ReplaceAll(line, nil); len(short) < len(line) {
			lines[i] = short
			cut++
		}
	}
	return cut
}

var ref = regexp.MustCompile(` \[ref=\w+\]`)

// shortenSaying cuts lines that only say something, and counts them.
func shortenSaying(lines [][]byte, classes []lineClass) (cut int) {
	for i, line := range lines {
		if classes[i] == says {
			short, n := cutLines(line, sayingChars)
			lines[i] = short
			cut += n
		}
	}
	return cut
}

// classOf classifies a line.
func classOf(line []byte) lineClass {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("- ")) {
		return acts
	}
	line = bytes.TrimLeft(line[2:], "'")
	if line[0] == '/' {
		return detail
	}
	end := bytes.IndexFunc(line, func(r rune) bool { return r < 'a' || r > 'z' })
	if end < 0 {
		end = len(line)
	}
	switch role := string(line[:end]); {
	case bytes.Contains(line, []byte("[cursor=pointer]")), bytes.Contains(line, []byte("[active]")):
		return acts
	case role == "row":
		return shows // it says which cells belong together
	case !slices.Contains(static, role) && !slices.Contains(shown, role):
		return acts
	case bytes.IndexByte(line, '"') < 0 && (bytes.HasSuffix(line, []byte(":")) || bytes.HasSuffix(line, []byte("]")) || end == len(line)):
		return holds
	case slices.Contains(shown, role):
		return shows
	}
	return says
}
