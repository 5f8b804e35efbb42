package schema

import (
	"bytes"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	own "github.com/toolfit/toolfit/internal/core/jsonschema"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// generator makes values that a schema probably accepts; whoever uses it validates them.
type generator struct {
	r    *reader
	rand *rand.Rand
	full bool // every optional property is filled
	left int
}

// generate gives a value for a schema, "" when it has no idea.
func generate(raw []byte, rnd *rand.Rand, full bool) string {
	r := &reader{degrade: true}
	root, err := r.Parse(raw)
	if err != nil {
		return ""
	}
	r.root = root
	r.flavor = flavorOf(root, Auto)
	g := &generator{r: r, rand: rnd, full: full, left: 400}
	return g.value(r.at(root), 0)
}

func (g *generator) value(f *form, depth int) string {
	f = g.r.open(f)
	g.left--
	switch {
	case f.never:
		return ""
	case f.listed && len(f.enum) > 0:
		return f.enum[g.rand.IntN(len(f.enum))].String()
	case f.null && !g.full && g.rand.IntN(2) == 0:
		return "null"
	case f.union != nil:
		b := f.union[g.rand.IntN(len(f.union))]
		own := *f
		own.union = nil
		own.flat = nil
		own.base = nil
		own.read = true
		own.mixed = true
		if own.bare() {
			return g.value(b, depth+1)
		}
		return g.value(g.r.pair(b, &own), depth+1)
	}
	t := f.types
	if t == 0 {
		t = tString
		if f.objectLike() {
			t = tObject
		}
	}
	names := t.Names()
	one := own.TypeNamed(names[g.rand.IntN(len(names))])
	switch one {
	case tString:
		return g.text(f)
	case tInteger, tNumber:
		return g.number(f, one)
	case tBoolean:
		return []string{"true", "false"}[g.rand.IntN(2)]
	case tNull:
		return "null"
	case tArray:
		return g.array(f, depth)
	}
	return g.object(f, depth)
}

func (g *generator) text(f *form) string {
	switch n := f.keyword("format"); {
	case n == nil:
	case n.Text == "date-time":
		return `"2026-01-02T03:04:05Z"`
	case n.Text == "date":
		return `"2026-01-02"`
	case n.Text == "email":
		return `"a@example.com"`
	case n.Text == "uri":
		return `"https://example.com/a"`
	case n.Text == "uuid":
		return `"123e4567-e89b-12d3-a456-426614174000"`
	}
	s := []string{"a", "text", "12", "Some words", "x-y"}[g.rand.IntN(5)]
	if g.rand.IntN(2) == 0 {
		s += itoa(g.rand.IntN(100))
	}
	if n := f.keyword("pattern"); n != nil {
		if fit := g.matching(f, n.Text); fit != "" {
			return quote(fit)
		}
	}
	if least := g.bound(f, "minLength", 0); len(s) < least && least < 1000 {
		s += strings.Repeat("x", least-len(s))
	}
	if most := g.bound(f, "maxLength", 1000); len(s) > most {
		s = s[:max(0, most)]
	}
	return quote(s)
}

// matching is a text that a pattern accepts, "" when none is at hand.
func (g *generator) matching(f *form, pattern string) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	least := g.bound(f, "minLength", 0)
	most := g.bound(f, "maxLength", 1000)
	for _, s := range []string{"abc", "a", "en", "12", "1", "ABC", "A", "USD", "a_b", "a-b", "x.y", "12345", "12345678", "abcdefgh", "2026-01-02", "09:30", "09:30:00",
		"https://example.com/a", "a@example.com", "1.0", "1.2.3", "0x1234567890abcdef1234567890abcdef12345678", "#A1B2C3", "123e4567-e89b-12d3-a456-426614174000", "/a/b",
		"1h", "2026-01", "20260102", "+15551234567", "ABCDEF", "ABCDEFGHIJ", "1234567890", "0123456789abcdef0123456789abcdef", "key=value", "10.0.0.1", "A1"} {
		if len(s) >= least && len(s) <= most && re.MatchString(s) {
			return s
		}
	}
	return ""
}

func (g *generator) bound(f *form, key string, none int) int {
	if n := f.keyword(key); n != nil {
		if v, err := strconv.ParseFloat(n.Text, 64); err == nil {
			if strings.Contains(key, "in") && strings.HasPrefix(strings.TrimPrefix(key, "exclusive"), "M") || strings.HasPrefix(key, "min") {
				v = math.Ceil(v)
			}
			return int(max(-1<<52, min(1<<52, v)))
		}
	}
	return none
}

func (g *generator) number(f *form, t types) string {
	low := g.bound(f, "minimum", 0)
	if f.keyword("exclusiveMinimum") != nil {
		low = max(low, g.bound(f, "exclusiveMinimum", 0)+1)
	}
	high := g.bound(f, "maximum", low+9)
	if f.keyword("exclusiveMaximum") != nil {
		high = min(high, g.bound(f, "exclusiveMaximum", 0)-1)
	}
	if f.keyword("minimum") == nil && f.keyword("exclusiveMinimum") == nil && high < low {
		low = high
	}
	if high < low && t == tNumber { // no whole number between the bounds
		if n := f.keyword("minimum"); n != nil {
			return n.Text
		}
	}
	v := low + g.rand.IntN(max(1, min(1<<30, high-low+1)))
	if by := g.bound(f, "multipleOf", 1); by > 1 {
		v = v / by * by
		if v < low {
			v += by
		}
	}
	return itoa(v)
}

func (g *generator) array(f *form, depth int) string {
	n := g.bound(f, "minItems", 0)
	if n == 0 && depth < 6 && g.left > 0 {
		n = 1 + g.rand.IntN(2)
	}
	n = min(n, g.bound(f, "maxItems", 5))
	var items []string
	for i := range n {
		v := `"any"`
		switch {
		case i < len(f.prefix):
			v = g.value(f.prefix[i], depth+1)
		case f.items != nil:
			v = g.value(f.items, depth+1)
		}
		if v == "" {
			break
		}
		items = append(items, v)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (g *generator) object(f *form, depth int) string {
	var members []string
	for _, p := range f.props {
		if !f.isRequired(p.key) && (depth > 6 || g.left < 0 || !g.full && g.rand.IntN(2) == 0) {
			continue
		}
		if depth > 40 {
			return ""
		}
		if v := g.value(p.form, depth+1); v != "" {
			members = append(members, quoteJSON(p.key)+":"+v)
		}
	}
	for _, key := range f.required {
		if f.prop(key) == nil {
			members = append(members, quoteJSON(key)+`:"x"`)
		}
	}
	if f.more != nil && len(f.props) == 0 && depth < 6 && !g.r.open(f.more).never {
		if v := g.value(f.more, depth+1); v != "" {
			members = append(members, `"key":`+v)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func quoteJSON(s string) string { return string((&node{Kind: own.String, Text: s}).Append(nil)) }

func valid(s *jsonschema.Schema, raw []byte) bool { return validate(s, raw) == nil }

func validate(s *jsonschema.Schema, raw []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// plainNull writes nullable, which is no JSON Schema, as a list of types.
func plainNull(t *testing.T, raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"nullable":true`)) {
		return raw
	}
	var tr tree
	root, err := tr.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var visit func(n *node)
	visit = func(n *node) {
		if kind, enum := n.Get("type"), n.Get("enum"); n.Get("nullable").IsTrue() && kind != nil {
			*kind = node{Kind: own.Array, Key: "type", Kids: []*node{{Kind: own.String, Text: kind.Text}, {Kind: own.String, Text: "null"}}}
			if enum != nil {
				enum.Kids = append(enum.Kids, &node{})
			}
		}
		for _, kid := range n.Kids {
			visit(kid)
		}
	}
	visit(root)
	return root.Append(nil)
}

// withoutNulls drops members that are null: a strict dialect cannot tell them from absent ones.
func withoutNulls(t *testing.T, raw string) string {
	var tr tree
	root, err := tr.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	var visit func(n *node)
	visit = func(n *node) {
		if n.Kind == own.Object {
			n.Kids = slices.DeleteFunc(n.Kids, func(k *node) bool { return k.Kind == own.Null })
		}
		for _, kid := range n.Kids {
			visit(kid)
		}
	}
	visit(root)
	return root.String()
}
