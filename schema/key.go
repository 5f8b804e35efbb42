package schema

import "strings"

// shownKeys returns the names of the properties that the model sees.
func (w *writer) shownKeys(f *form, props []prop) []string {
	shown := make([]string, len(props))
	bad := false
	for i, pr := range props {
		shown[i] = pr.key
		bad = bad || w.d.key != nil && !w.d.key(pr.key)
	}
	if !bad {
		return shown
	}
	taken := make(map[string]bool, len(props))
	for _, pr := range props {
		if w.d.key(pr.key) {
			taken[pr.key] = true
		}
	}
	next := map[string]int{} // by cleaned name
	for i, pr := range props {
		if w.d.key(pr.key) {
			continue
		}
		clean := cleanKey(pr.key)
		name := clean
		for n := max(2, next[clean]); taken[name] || !w.d.key(name); n++ {
			tail := "_" + itoa(n)
			name = clean[:min(len(clean), 64-len(tail))] + tail
			next[clean] = n + 1
		}
		taken[name] = true
		shown[i] = name
	}
	return shown
}

// cleanKey replaces everything but letters, digits and underscores by single underscores.
func cleanKey(key string) string {
	var b strings.Builder
	gap := false
	for i := range len(key) {
		c := key[i]
		if !letter(c) && !digit(c) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 || b.Len() == 0 && digit(c) {
			b.WriteByte('_')
		}
		gap = false
		b.WriteByte(c)
		if b.Len() >= 60 {
			break
		}
	}
	if b.Len() == 0 {
		return "field"
	}
	return b.String()
}
