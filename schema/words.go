package schema

import "strings"

// describe puts title and description where a reader looks first, behind the type.
func (w *writer) describe(out *node, at int, f *form, notes []string) {
	if text := shortened(describe(f.desc, notes), w.rung.words); text != "" {
		w.insert(out, at, "description", text)
	}
	if f.title != "" && w.d.keep["title"] {
		w.insert(out, at, "title", f.title)
	}
}

// clip is the beginning of a text in at most so many bytes, without a cut character.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, most)], "")
}

// shortened is a text of at most so many bytes, cut between words where possible.
func shortened(s string, most int) string {
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
