package schema

import "strings"

// describe inserts title and description after the type, where readers look first.
func (w *writer) describe(out *node, at int, f *form, notes []string) {
	if text := shorten(describe(f.desc, notes), w.rung.words); text != "" {
		w.insert(out, at, "description", text)
	}
	if f.title != "" && w.d.keep["title"] {
		w.insert(out, at, "title", f.title)
	}
}

// clip returns at most most bytes of s, cutting between characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, most)], "")
}

// shorten is clip, cutting between words where possible.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = clip(s, most-3)
	if s == "" {
		return ""
	}
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + "…"
}
