package doctree

import "strings"

// Line is a line of a document.
type Line struct {
	Number int    `json:"line"`
	Text   string `json:"text"`
}

// Lines shows an entry of the document with the numbers of the lines at which its parts stand.
// It is written anew, without comments, so that nothing is shown but the value that is given.
func (s *Source) Lines(e Entry) []Line {
	style := yamlStyle
	if s.JSON {
		style = jsonStyle
	}
	w := lineWriter{src: s, style: style}
	w.entry(e, 0, "")
	return w.lines
}

type lineWriter struct {
	src   *Source
	style Style
	lines []Line
}

func (w *lineWriter) add(number, depth int, text string) {
	w.lines = append(w.lines, Line{number, strings.Repeat("  ", depth) + text})
}

func (w *lineWriter) entry(e Entry, depth int, comma string) {
	key := w.style.Key(e.Key)
	if !spread(e) {
		w.add(e.Line, depth, key+w.style.Separator+e.Value.Format(w.style)+comma)
		return
	}
	open, closing := ":", ""
	if e.Value.Flow || w.src.JSON {
		open, closing = ": "+string(w.src.Text[e.Value.Start]), "]"
		if e.Value.Kind == Mapping {
			closing = "}"
		}
	}
	w.add(e.Line, depth, key+open)
	last := max(len(e.Value.Entries), len(e.Value.Items)) - 1
	between := func(i int) string {
		if closing == "" || i == last {
			return ""
		}
		return ","
	}
	for i, inner := range e.Value.Entries {
		w.entry(inner, depth+1, between(i))
	}
	for i, item := range e.Value.Items {
		mark := ""
		if closing == "" {
			mark = "- "
		}
		w.add(item.Line, depth+1, mark+item.Format(w.style)+between(i))
	}
	if closing != "" {
		w.add(LineAt(w.src.Text, e.Value.End-1), depth, closing+comma)
	}
}

// spread tells whether the parts of a value stand on lines of their own.
func spread(e Entry) bool {
	switch {
	case len(e.Value.Entries) > 0:
		return e.Value.Entries[0].Line > e.Line
	case len(e.Value.Items) > 0:
		return e.Value.Items[0].Line > e.Line && (e.Value.End > 0 || !e.Value.Flow)
	}
	return false
}
