package jsonschema

import "slices"

// Equal reports whether two values are the same, in any order of members. Numbers are
// compared as text: a server may distinguish 1 from 1.0.
func Equal(a, b *Node) bool {
	if a.Kind != b.Kind || len(a.Kids) != len(b.Kids) {
		return false
	}
	if a.Kind != Array && a.Kind != Object {
		return a.Text == b.Text
	}
	for i, kid := range a.Kids {
		other := b.Kids[i]
		if a.Kind == Object && other.Key != kid.Key {
			other = b.Get(kid.Key)
		}
		if other == nil || !Equal(kid, other) {
			return false
		}
	}
	return true
}

// Distinct returns the values of a list without duplicates.
func Distinct(list []*Node) []*Node {
	const few = 12 // up to here, comparing is faster than a map
	if len(list) <= few && !hasEqual(list) {
		return list
	}
	type value struct {
		isString bool
		text     string
	}
	seen := make(map[value]bool, len(list))
	out := make([]*Node, 0, len(list))
	for _, n := range list {
		v := value{n.Kind == String, n.Text}
		if !v.isString {
			v.text = n.String()
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, n)
		}
	}
	return out
}

func hasEqual(list []*Node) bool {
	for i, v := range list {
		if slices.ContainsFunc(list[:i], func(o *Node) bool { return Equal(o, v) }) {
			return true
		}
	}
	return false
}

// IsDistinct reports whether no two values of a list are equal.
func IsDistinct(list []*Node) bool { return len(Distinct(list)) == len(list) }
