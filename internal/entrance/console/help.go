package console

import (
	"regexp"
	"strings"

	pages "github.com/toolfit/toolfit/docs/errors"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// helpPage explains the code of an error.
type helpPage struct {
	Code   string
	Title  string
	Blocks []prosePart
}

func (c *Console) help(v *visit) (helpPage, error) {
	code := v.PathValue("code")
	page, ok := pages.Of(fault.Code(code), v.lang)
	if !ok {
		return helpPage{}, fault.New(fault.NotFound, "there is no code %.100q", code)
	}
	_, rest, _ := strings.Cut(page.Text, "\n")
	return helpPage{code, page.Summary, proseOf(rest)}, nil
}

// prosePart is a heading, a paragraph, a list or commands of a document of ours.
type prosePart struct {
	Kind  string // h2, p, ul or pre
	Items [][]prosePiece
}

// prosePiece is text, code or something important.
type prosePiece struct{ Kind, Text string }

// proseOf reads what these documents use of Markdown: headings, paragraphs, lists, indented commands, code and
// bold text.
func proseOf(text string) (parts []prosePart) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		kind := "p"
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "## "):
			kind, line = "h2", line[3:]
		case strings.HasPrefix(line, "- "):
			kind, line = "ul", line[2:]
		case strings.HasPrefix(line, "    "):
			kind, line = "pre", line[4:]
		}
		if last := len(parts) - 1; last >= 0 && parts[last].Kind == kind && (kind == "ul" || kind == "pre") {
			parts[last].Items = append(parts[last].Items, pieces(kind, line))
			continue
		}
		parts = append(parts, prosePart{kind, [][]prosePiece{pieces(kind, line)}})
	}
	return parts
}

func pieces(kind, line string) (all []prosePiece) {
	if kind == "pre" {
		return []prosePiece{{"", line}}
	}
	from := 0
	for _, m := range marked.FindAllStringIndex(line, -1) {
		one := prosePiece{"code", strings.Trim(line[m[0]:m[1]], "`")}
		if line[m[0]] == '*' {
			one = prosePiece{"b", strings.Trim(line[m[0]:m[1]], "*")}
		}
		all = append(all, prosePiece{"", line[from:m[0]]}, one)
		from = m[1]
	}
	return append(all, prosePiece{"", line[from:]})
}

var marked = regexp.MustCompile("`[^`]+`|\\*\\*[^*]+\\*\\*")
