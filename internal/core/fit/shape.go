package fit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// types is a set of JSON Schema types.
type types uint8

const (
	tNull types = 1 << iota
	tBoolean
	tNumber // integers included
	tString
	tArray
	tObject
	tInteger // numbers without a fraction only

	tAny = tNull | tBoolean | tNumber | tString | tArray | tObject
)

var typeNames = []struct {
	name string
	t    types
}{
	{"string", tString}, {"integer", tInteger}, {"number", tNumber}, {"boolean", tBoolean}, {"object", tObject}, {"array", tArray},
	{"null", tNull},
}

// typesOf returns the type of a value's kind; numbers count as number.
func typesOf(k kind) types { return 1 << k }

// and returns the intersection; integers are numbers.
func (t types) and(u types) types {
	both := t & u
	if t&tNumber != 0 && u&tInteger != 0 || u&tNumber != 0 && t&tInteger != 0 {
		both |= tInteger
	}
	return both
}

func (t types) String() string {
	if t&tAny == tAny {
		return "any value"
	}
	var names []string
	for _, n := range typeNames {
		if t&n.t != 0 && !(n.t == tInteger && t&tNumber != 0) {
			names = append(names, n.name)
		}
	}
	return orList(names)
}

// orList joins words with commas and "or".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// shape is a compiled schema. It never changes after compilation, and may be recursive.
type shape struct {
	*rare
	never   bool  // nothing is valid
	types   types // 0: any
	accepts types // the widest set of types that the shape and those applied with it accept
	listed  bool  // enum or const is given
	enum    []literal

	low, high         *bound
	minLength, maxLen int32 // -1: no limit, as for all sizes
	pattern           *pattern

	items              *shape
	minItems, maxItems int32

	props      []prop
	required   []string
	additional *shape

	ref      *shape
	all, any []*shape

	fallback []byte // the schema's default
	resource int32  // the part of the document that it belongs to
}

// rare holds rarely used keywords. Shapes without any share one.
type rare struct {
	multiple *decimal
	texts    map[string]types // values of a long enum except numbers; nil for a short one

	prefix                   []*shape
	contains                 *shape
	minContains, maxContains int32
	unique                   bool
	unevaluatedItems         *shape

	byName             map[string]int // of many props; nil for few
	patterns           []patternProp
	names              *shape
	minProps, maxProps int32
	dependents         []dependent
	unevaluatedProps   *shape

	dynamic             *dynamicRef
	one                 []*shape
	not, when, then, or *shape // or: the else keyword
}

// nothingRare is never changed.
var nothingRare = &rare{minContains: -1, maxContains: -1, minProps: -1, maxProps: -1}

// isOpen reports whether anything has the shape; nil accepts anything.
func (s *shape) isOpen() bool {
	return s == nil || !s.never && s.accepts&tAny == tAny && s.types == 0 && !s.listed && s.low == nil && s.high == nil &&
		s.minLength <= 0 && s.maxLen < 0 && s.pattern == nil && s.items == nil && s.minItems <= 0 && s.maxItems < 0 && len(s.props) == 0 &&
		len(s.required) == 0 && s.additional == nil && s.ref == nil && len(s.all) == 0 && len(s.any) == 0 && s.rare == nothingRare
}

// own returns the shape's own rare part, for writing.
func (s *shape) own() *rare {
	if s.rare == nothingRare {
		r := *nothingRare
		s.rare = &r
	}
	return s.rare
}

type prop struct {
	name  string
	shape *shape
}

type patternProp struct {
	pattern *pattern
	shape   *shape
}

// dependent is what else must hold if a property is present.
type dependent struct {
	name  string
	needs []string
	shape *shape
}

// bound is a numeric limit.
type bound struct {
	value     decimal
	exclusive bool
}

// index builds the index of many properties.
func (s *shape) index() {
	if len(s.props) <= 12 {
		return
	}
	s.own().byName = make(map[string]int, len(s.props))
	for k := range s.props {
		s.byName[s.props[k].name] = k
	}
}

// prop returns the property by name, or nil.
func (s *shape) prop(t *tape, i int32) *shape {
	if s.byName != nil {
		var at int
		var ok bool
		if tok := &t.tokens[i]; tok.escaped {
			at, ok = s.byName[t.name(i)]
		} else {
			at, ok = s.byName[string(t.data[tok.key+1:tok.keyEnd-1])]
		}
		if ok {
			return s.props[at].shape
		}
		return nil
	}
	for k := range s.props {
		if t.is(i, s.props[k].name) {
			return s.props[k].shape
		}
	}
	return nil
}

// child adds what s alone asks of a member of the name, and tells whether s declares the name.
func (s *shape) child(b *budget, name string, to []*shape) (_ []*shape, declared bool) {
	before := len(to)
	for k := range s.props {
		if s.props[k].name == name {
			to = append(to, s.props[k].shape)
		}
	}
	for k := range s.patterns {
		if s.patterns[k].pattern.match([]byte(name), b) {
			to = append(to, s.patterns[k].shape)
		}
	}
	declared = len(to) > before
	if !declared && s.additional != nil {
		to = append(to, s.additional)
	}
	return to, declared
}

// literal is a value of an enum.
type literal struct {
	kind   kind
	raw    []byte
	number decimal
	text   string // all but numbers: the same for equal values
}

func newLiteral(n *node) literal {
	l := literal{kind: n.Kind, raw: n.Raw(), text: n.Text}
	switch l.kind {
	case isNumber:
		l.number = parseDecimal(l.raw)
		l.text = ""
	case isArray, isObject:
		var t tape
		if t.read(l.raw) == nil {
			l.text = string(appendPlain(nil, &t, 0))
		}
	}
	return l
}

// appendPlain writes value i so that equal values give equal bytes.
func appendPlain(dst []byte, t *tape, i int32) []byte {
	switch t.tokens[i].kind {
	case isString:
		return rawjson.AppendString(dst, t.text(i))
	case isNumber:
		d := parseDecimal(t.raw(i))
		dst = append(strconv.AppendBool(dst, d.neg), d.digits...)
		return strconv.AppendInt(append(dst, 'e'), int64(d.exp), 10)
	case isArray:
		dst = append(dst, '[')
		for e := t.first(i); e >= 0; e = t.after(e) {
			dst = append(appendPlain(dst, t, e), ',')
		}
		return append(dst, ']')
	case isObject:
		members := make([]int32, 0, t.tokens[i].size)
		for m := t.first(i); m >= 0; m = t.after(m) {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b int32) int { return strings.Compare(t.name(a), t.name(b)) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(rawjson.AppendString(dst, t.name(m)), ':')
			dst = append(appendPlain(dst, t, m), ',')
		}
		return append(dst, '}')
	}
	return append(dst, t.raw(i)...)
}
