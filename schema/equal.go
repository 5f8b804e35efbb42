package schema

// equal tells whether two values are the same, whatever the order of their members.
// Numbers are compared by their text: 1 and 1.0 may be two values to a server.
func equal(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.kids) != len(b.kids) {
		return false
	}
	for i, kid := range a.kids {
		other := b.kids[i]
		if a.kind == objectKind && other.key != kid.key {
			if other = b.get(kid.key); other == nil {
				return false
			}
		}
		if !equal(kid, other) {
			return false
		}
	}
	return true
}

// alike is equal, but for how a number is written.
func alike(a, b *node) bool {
	if a.kind != b.kind || len(a.kids) != len(b.kids) {
		return false
	}
	if a.kind == numberKind {
		x, ok := number(a.text)
		y, ok2 := number(b.text)
		return ok && ok2 && x.Cmp(y) == 0
	}
	for i, kid := range a.kids {
		other := b.kids[i]
		if a.kind == objectKind {
			other = b.get(kid.key)
		}
		if other == nil || !alike(kid, other) {
			return false
		}
	}
	return a.text == b.text
}
