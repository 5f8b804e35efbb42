package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// equal tells whether two values are the same, whatever the order of their members.
// Numbers are compared by their text: 1 and 1.0 may be two values to a server.
func equal(a, b *node) bool {
	container := a.Kind == jsonschema.Array || a.Kind == jsonschema.Object
	if a.Kind != b.Kind || !container && a.Text != b.Text || len(a.Kids) != len(b.Kids) {
		return false
	}
	for i, kid := range a.Kids {
		other := b.Kids[i]
		if a.Kind == jsonschema.Object && other.Key != kid.Key {
			if other = b.Get(kid.Key); other == nil {
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
	if a.Kind != b.Kind || len(a.Kids) != len(b.Kids) {
		return false
	}
	if a.Kind == jsonschema.Number {
		x, ok := number(a.Text)
		y, ok2 := number(b.Text)
		return ok && ok2 && x.Cmp(y) == 0
	}
	for i, kid := range a.Kids {
		other := b.Kids[i]
		if a.Kind == jsonschema.Object {
			other = b.Get(kid.Key)
		}
		if other == nil || !alike(kid, other) {
			return false
		}
	}
	return a.Kind == jsonschema.Array || a.Kind == jsonschema.Object || a.Text == b.Text
}
