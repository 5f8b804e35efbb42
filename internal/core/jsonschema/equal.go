package jsonschema

import "slices"

// Equal reports whether two values are the same, whatever the order of their members.
// Numbers are compared by their text: 1 and 1.0 may be two values to a server.
func Equal(a, b *Node) bool {
	return alike(a, b, func(a, b *Node) bool { return a.Text == b.Text })
}

// EqualNumbers is Equal, but 1 and 1.0 are the same.
func EqualNumbers(a, b *Node) bool {
	return alike(a, b, func(a, b *Node) bool {
		order, ok := Compare(a, b)
		return ok && order == 0
	})
}

func alike(a, b *Node, sameNumber func(a, b *Node) bool) bool {
	if a.Kind != b.Kind || len(a.Kids) != len(b.Kids) {
		return false
	}
	switch a.Kind {
	case Number:
		return sameNumber(a, b)
	case Array, Object:
	default:
		return a.Text == b.Text
	}
	for i, kid := range a.Kids {
		other := b.Kids[i]
		if a.Kind == Object && other.Key != kid.Key {
			other = b.Get(kid.Key)
		}
		if other == nil || !alike(kid, other, sameNumber) {
			return false
		}
	}
	return true
}

// Distinct are the values of a list without those that equal an earlier one.
func Distinct(list []*Node) []*Node {
	const few = 12 // values that are compared faster than put into a map
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
