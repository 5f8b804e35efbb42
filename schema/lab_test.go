package schema

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

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
	root, err := r.parse(raw)
	if err != nil {
		return ""
	}
	r.root, r.flavour = root, flavourOf(root, Auto)
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
	case f.null && !g.full && g.rand.IntN(4) == 0:
		return "null"
	case f.union != nil:
		b := f.union[g.rand.IntN(len(f.union))]
		own := *f
		own.union, own.flat, own.base = nil, nil, nil
		own.read, own.mixed = true, true
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
	names := t.names()
	one, _ := typeOf(names[g.rand.IntN(len(names))])
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
	case n.text == "date-time":
		return `"2026-01-02T03:04:05Z"`
	case n.text == "date":
		return `"2026-01-02"`
	case n.text == "email":
		return `"a@example.com"`
	case n.text == "uri":
		return `"https://example.com/a"`
	case n.text == "uuid":
		return `"123e4567-e89b-12d3-a456-426614174000"`
	}
	s := []string{"a", "text", "12", "Some words", "x-y"}[g.rand.IntN(5)]
	if least := g.bound(f, "minLength", 0); len(s) < least && least < 1000 {
		s += strings.Repeat("x", least-len(s))
	}
	if most := g.bound(f, "maxLength", 1000); len(s) > most {
		s = s[:max(0, most)]
	}
	return quote(s)
}

func (g *generator) bound(f *form, key string, none int) int {
	if n := f.keyword(key); n != nil {
		if v, err := strconv.ParseFloat(n.text, 64); err == nil {
			return int(v)
		}
	}
	return none
}

func (g *generator) number(f *form, t types) string {
	low := max(g.bound(f, "minimum", 0), g.bound(f, "exclusiveMinimum", -1<<40)+1)
	high := min(g.bound(f, "maximum", low+9), g.bound(f, "exclusiveMaximum", 1<<40)-1)
	if f.keyword("minimum") == nil && f.keyword("exclusiveMinimum") == nil && high < low {
		low = high
	}
	v := low + g.rand.IntN(max(1, high-low+1))
	if m := f.keyword("multipleOf"); m != nil {
		if by := g.bound(f, "multipleOf", 1); by > 0 {
			v = v / by * by
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

func quoteJSON(s string) string { return string((&node{kind: stringKind, text: s}).append(nil)) }

func valid(s *jsonschema.Schema, raw []byte) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return err == nil && s.Validate(v) == nil
}

// plainNull writes nullable, which is no JSON Schema, as a list of types.
func plainNull(t *testing.T, raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"nullable":true`)) {
		return raw
	}
	var tr tree
	root, err := tr.parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var visit func(n *node)
	visit = func(n *node) {
		if kind, enum := n.get("type"), n.get("enum"); n.get("nullable").isTrue() && kind != nil {
			*kind = node{kind: arrayKind, key: "type", kids: []*node{{kind: stringKind, text: kind.text}, {kind: stringKind, text: "null"}}}
			if enum != nil {
				enum.kids = append(enum.kids, &node{})
			}
		}
		for _, kid := range n.kids {
			visit(kid)
		}
	}
	visit(root)
	return root.append(nil)
}

// paths are the places of properties that a schema names, each reference entered twice at
// most on one way, eight levels deep.
func paths(t *testing.T, raw []byte) map[string]bool {
	r := &reader{degrade: true}
	root, err := r.parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	r.root, r.flavour = root, flavourOf(root, Auto)
	out := map[string]bool{}
	var visit func(f *form, at string, level int, up *frame)
	visit = func(f *form, at string, level int, up *frame) {
		f = r.open(f)
		if level > 8 || len(out) > 5000 || up.times(f.id()) > 1 {
			return
		}
		up = &frame{f.id(), up}
		for _, p := range f.props {
			if !r.open(p.form).never {
				out[at+"/"+p.key] = true
				visit(p.form, at+"/"+p.key, level+1, up)
			}
		}
		if f.more != nil {
			visit(f.more, at+"/*", level+1, up)
		}
		if f.items != nil {
			visit(f.items, at+"[]", level+1, up)
		}
		for _, c := range append(f.prefix, f.union...) {
			visit(c, at, level, up)
		}
	}
	visit(r.at(root), "", 0, nil)
	return out
}

// withoutNulls drops members that are null: a strict dialect cannot tell them from absent ones.
func withoutNulls(t *testing.T, raw string) string {
	var tr tree
	root, err := tr.parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	var visit func(n *node)
	visit = func(n *node) {
		if n.kind == objectKind {
			n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { return k.kind == nullKind })
		}
		for _, kid := range n.kids {
			visit(kid)
		}
	}
	visit(root)
	return root.String()
}

// score counts how often a law held.
type score struct{ held, of int }

func (s *score) add(ok bool) {
	s.of++
	if ok {
		s.held++
	}
}

func (s score) percent() float64 {
	if s.of == 0 {
		return 100
	}
	return 100 * float64(s.held) / float64(s.of)
}

// lab measures one dialect on one corpus.
type lab struct{ complete, strictComplete, sound, ceiling, trip, paths score }

func (l *lab) run(t *testing.T, raw []byte, original *jsonschema.Schema, d Dialect, seed uint64) {
	res, err := Plan(raw, d, nil)
	if err != nil {
		return
	}
	converted, err := compile(plainNull(t, res.Parameters))
	if err != nil {
		t.Errorf("%s: %v", d, err)
		return
	}
	if len(res.steps) == 0 { // names that are changed are other paths
		have := paths(t, res.Parameters)
		for p := range paths(t, raw) {
			l.paths.add(have[p])
		}
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for i := range 4 {
		if x := generate(raw, rnd, i == 0); x != "" && x[0] == '{' && valid(original, []byte(x)) {
			l.ceiling.add(true)
			y, err := res.Forward([]byte(x))
			ok := err == nil && valid(converted, y)
			if res.Strict {
				l.strictComplete.add(ok)
			} else {
				l.complete.add(ok)
			}
			if !ok && l.complete.of-l.complete.held+l.strictComplete.of-l.strictComplete.held < 4 {
				t.Logf("%s is incomplete: %.300s becomes %.300s\nfor %.700s", d, x, y, res.Parameters)
			}
			back, _, err := res.Back(y)
			same := err == nil && (sameJSON(t, string(back), x) || res.Strict && sameJSON(t, withoutNulls(t, string(back)), withoutNulls(t, x)))
			l.trip.add(same)
			if !same && l.trip.of-l.trip.held < 4 {
				t.Errorf("%s: %.300s becomes %.300s and comes back as %.300s, %v\nfor %.700s", d, x, y, back, err, res.Parameters)
			}
		} else if x != "" {
			l.ceiling.add(false)
		}
		x := generate(res.Parameters, rnd, i == 0)
		if x == "" || !valid(converted, []byte(x)) {
			continue
		}
		back, _, err := res.Back([]byte(x))
		ok := err == nil && valid(original, back)
		l.sound.add(ok)
		if !ok && l.sound.of-l.sound.held < 4 {
			t.Logf("%s is unsound: %.300s comes back as %.300s, %v\nfor %.500s\nfrom %.700s", d, x, back, err, res.Parameters, raw)
		}
	}
}

func TestLegalCallsStayPossibleAndComeBackUnchanged(t *testing.T) {
	for _, file := range corpora {
		t.Run(file, func(t *testing.T) {
			schemas := corpus(t, file)
			every := max(1, len(schemas)/150) // a sample is enough to see a loss
			for d := range dialects {
				var l lab
				for i, raw := range schemas {
					if i%every != 0 {
						continue
					}
					if original, err := compile(raw); err == nil {
						l.run(t, raw, original, d, uint64(i))
					}
				}
				t.Logf("%-16s complete %.2f, strict %.2f, sound %.2f (generator %.2f), round trip %.2f, paths %.2f", d,
					l.complete.percent(), l.strictComplete.percent(), l.sound.percent(), l.ceiling.percent(), l.trip.percent(), l.paths.percent())
				if d != Recall && l.complete.percent() < 99.9 || l.strictComplete.percent() < 99 {
					t.Errorf("%s loses legal calls", d)
				}
			}
		})
	}
}
