package jsonschema

import (
	"math/big"
	"strconv"
	"strings"
)

// Types is a set of JSON Schema types. The empty set means no constraint.
type Types uint8

// The types, each at the bit of its Kind; TInteger is a number without a fraction.
const (
	TNull Types = 1 << iota
	TBoolean
	TNumber
	TString
	TArray
	TObject
	TInteger
)

// AllTypes are the types by name, in output order.
var AllTypes = []struct {
	Type Types
	Name string
}{
	{TString, "string"}, {TInteger, "integer"}, {TNumber, "number"}, {TBoolean, "boolean"},
	{TObject, "object"}, {TArray, "array"}, {TNull, "null"},
}

// TypeNamed returns the type with that name, or 0.
func TypeNamed(name string) Types {
	for _, e := range AllTypes {
		if e.Name == name {
			return e.Type
		}
	}
	return 0
}

// TypeNames returns the elements of the type keyword, which is one name or a list.
func (n *Node) TypeNames() []*Node {
	if n.Kind == Array {
		return n.Kids
	}
	return []*Node{n}
}

// Types returns the known types in the value of the type keyword.
func (n *Node) Types() (set Types) {
	if n == nil {
		return 0
	}
	for _, v := range n.TypeNames() {
		if v.Kind == String {
			set |= TypeNamed(v.Text)
		}
	}
	return set
}

// Type returns the type of a value. A number without fraction and exponent is an integer.
func (n *Node) Type() Types {
	if n.Kind == Number && !strings.ContainsAny(n.Text, ".eE") {
		return TInteger
	}
	return 1 << n.Kind
}

// IsSingle reports whether t holds exactly one type.
func (t Types) IsSingle() bool { return t != 0 && t&(t-1) == 0 }

// Names returns the types of the set in order. Number includes integer.
func (t Types) Names() []string {
	var names []string
	for _, e := range AllTypes {
		if t&e.Type != 0 && !(e.Type == TInteger && t&TNumber != 0) {
			names = append(names, e.Name)
		}
	}
	return names
}

// And returns the intersection; an integer is a number.
func (t Types) And(u Types) Types {
	if t == 0 || u == 0 {
		return t | u
	}
	both := t & u
	if t&TInteger != 0 && u&TNumber != 0 || u&TInteger != 0 && t&TNumber != 0 {
		both |= TInteger
	}
	return both
}

// Accepts reports whether a value of type v may be one of t.
func (t Types) Accepts(v Types) bool {
	const numbers = TInteger | TNumber
	return t == 0 || t&v != 0 || v&numbers != 0 && t&numbers != 0
}

// Decimal parses a number exactly, unless it is too long or its exponent too large to be
// meant.
func Decimal(text string) (*big.Rat, bool) {
	const longest, most = 64, 400
	if len(text) > longest {
		return nil, false
	}
	if _, exp, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if e, err := strconv.Atoi(exp); err != nil || e > most || e < -most {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// Compare compares two numbers. ok is false when one of them is too large to compare.
func Compare(a, b *Node) (order int, ok bool) {
	x, ok := Decimal(a.Text)
	if !ok {
		return 0, false
	}
	y, ok := Decimal(b.Text)
	if !ok {
		return 0, false
	}
	return x.Cmp(y), true
}
