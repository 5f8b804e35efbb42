package schema

import (
	"slices"
	"strings"
)

// describe puts title and description where a reader looks first, behind the type.
func (w *writer) describe(out *node, at int, f *form, notes []string) {
	if text := shortened(describe(f.desc, notes), w.rung.words); text != "" {
		n := w.text(text)
		n.Key = "description"
		out.Kids = slices.Insert(out.Kids, at, n)
	}
	if f.title != "" && w.d.titles {
		n := w.text(f.title)
		n.Key = "title"
		out.Kids = slices.Insert(out.Kids, at, n)
	}
}

// shortened is a text of at most so many bytes, whole characters and, where possible, words.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:validCut(s, max(0, most-3))]
	if s == "" {
		return ""
	}
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + "…"
}
