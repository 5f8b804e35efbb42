package schema

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

func itoa(i int) string { return strconv.Itoa(i) }

func i64toa(i int64) string { return strconv.FormatInt(i, 10) }

// types is a set of JSON types; the empty set means that nothing was said.
type types uint8

const (
	tString types = 1 << iota
	tInteger
	tNumber
	tBoolean
	tObject
	tArray
	tNull
)

// typeNames are in the order in which a set is written.
var typeNames = [...]struct {
	t    types
	name string
}{
	{tString, "string"}, {tInteger, "integer"}, {tNumber, "number"}, {tBoolean, "boolean"},
	{tObject, "object"}, {tArray, "array"}, {tNull, "null"},
}

func typeOf(name string) (types, bool) {
	for _, e := range typeNames {
		if e.name == name {
			return e.t, true
		}
	}
	return 0, false
}

// single tells whether t holds exactly one type.
func (t types) single() bool { return t != 0 && t&(t-1) == 0 }

// names are the types of the set in their order. Number covers integer.
func (t types) names() []string {
	var out []string
	for _, e := range typeNames {
		if t&e.t != 0 && !(e.t == tInteger && t&tNumber != 0) {
			out = append(out, e.name)
		}
	}
	return out
}

// meet is the intersection; an integer is a number.
func (t types) meet(u types) types {
	if t == 0 || u == 0 {
		return t | u
	}
	both := t & u
	if t&tInteger != 0 && u&tNumber != 0 || u&tInteger != 0 && t&tNumber != 0 {
		both |= tInteger
	}
	return both
}

// valueType is the type of a literal. A number without fraction and exponent is an integer.
func valueType(n *node) types {
	switch n.Kind {
	case jsonschema.Null:
		return tNull
	case jsonschema.Bool:
		return tBoolean
	case jsonschema.String:
		return tString
	case jsonschema.Array:
		return tArray
	case jsonschema.Object:
		return tObject
	}
	if strings.ContainsAny(n.Text, ".eE") {
		return tNumber
	}
	return tInteger
}

// holds tells whether a value of type v is one of t.
func (t types) holds(v types) bool {
	return t == 0 || t&v != 0 || v == tInteger && t&tNumber != 0 || v == tNumber && t&tInteger != 0
}

// number reads a literal exactly. Absurd exponents are not worth the memory.
func number(s string) (*big.Rat, bool) {
	if len(s) > 64 {
		return nil, false
	}
	if _, exp, ok := strings.Cut(strings.ToLower(s), "e"); ok {
		if e, err := strconv.Atoi(exp); err != nil || e > 400 || e < -400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}
