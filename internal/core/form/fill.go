package form

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxSteps limits the values that are tried in the branches of unions.
const maxSteps = 5000

// Fill returns the inputs that give these arguments. A value that the fields cannot express is entered as JSON. Objects and
// lists that are required and missing come with the form, empty: a person may want to fill them in.
func (s *Schema) Fill(args []byte) url.Values {
	if rawjson.IsNull(args) {
		return url.Values{}
	}
	whole := url.Values{As: {AsJSON}, Whole: {pretty(args)}}
	if s.none || len(args) > maxFilled {
		return whole
	}
	v, err := jsonschema.Parse(args)
	if err != nil || v.Kind != jsonschema.Object {
		return url.Values{As: {AsJSON}, Whole: {string(args)}}
	}
	b := &builder{schema: s, values: url.Values{}, left: maxFields * maxDepth, steps: maxSteps}
	p, _ := s.narrow(s.spec(s.root))
	b.fillObject(place{}.inside(p), p, v)
	if b.steps < 0 || b.left < 0 || !same(s.Form(b.values).Arguments(), v) {
		return whole
	}
	return b.values
}

// same tells whether JSON is a value, digit by digit, apart from empty objects and lists that the value lacks.
func same(raw []byte, v *jsonschema.Node) bool {
	got, err := jsonschema.Parse(raw)
	return err == nil && fits(got, v)
}

func fits(got, v *jsonschema.Node) bool {
	switch {
	case got.Kind != v.Kind || got.Kind == jsonschema.Array && len(got.Kids) != len(v.Kids):
		return false
	case got.Kind == jsonschema.Array:
		for i, kid := range v.Kids {
			if !fits(got.Kids[i], kid) {
				return false
			}
		}
		return true
	case got.Kind != jsonschema.Object:
		return got.Text == v.Text
	}
	for _, kid := range v.Kids {
		if other := got.Get(kid.Key); other == nil || !fits(other, kid) {
			return false
		}
	}
	return !slices.ContainsFunc(got.Kids, func(kid *jsonschema.Node) bool { return v.Get(kid.Key) == nil && !isEmpty(kid) })
}

// isEmpty tells whether there is nothing in an object or list but empty ones.
func isEmpty(n *jsonschema.Node) bool {
	return n.Kind == jsonschema.Array && len(n.Kids) == 0 ||
		n.Kind == jsonschema.Object && !slices.ContainsFunc(n.Kids, func(kid *jsonschema.Node) bool { return !isEmpty(kid) })
}

// fill sets the inputs of a field to a value, and tells whether its own fields express it.
func (b *builder) fill(at place, p spec, v *jsonschema.Node) bool {
	b.steps--
	if b.steps < 0 {
		return false
	}
	name := input(at.path)
	narrow, branches := b.schema.narrow(p)
	kind := b.kindOf(at, &narrow, branches)
	if kind != JSON && !strings.ContainsFunc(v.Text, visible.Hidden) && b.enter(at, narrow, branches, kind, v) {
		f := b.field(at, p)
		f.accepted = b.values.Get(inKey+name) != ""
		if raw, given := f.value(""); raw != nil && (given || at.required) && same(raw, v) {
			return true
		}
	}
	b.clear(name)
	b.values.Set(inValue+name, pretty(v.Append(nil)))
	if kind == JSON {
		return true
	}
	b.values.Set(inRaw+name, "1")
	return false
}

// enter sets the inputs of a field as a person would to whom the value is told.
func (b *builder) enter(at place, p spec, branches []branch, kind Kind, v *jsonschema.Node) bool {
	name := input(at.path)
	if v.Kind == jsonschema.Null && at.mayNull(&p, kind) {
		b.values.Set(inNull+name, "1")
		return true
	}
	switch kind {
	case Text, Number:
		text := v.Text
		if kind == Text && p.str("format") != "" && v.Kind == jsonschema.String {
			if local, zone := splitZone(text); shown(inputTypes[p.str("format")], local) && inputTypes[p.str("format")] != "date" {
				text = local
				b.values.Set(inZone+name, zone)
			}
		}
		b.values.Set(inValue+name, text)
		return kind == Number || v.Kind == jsonschema.String
	case Choice, Fixed:
		b.values.Set(inValue+name, string(rawjson.OneLine(v.Raw())))
		return true
	case Many:
		for _, one := range v.Elements() {
			b.values.Add(inValue+name, string(rawjson.OneLine(one.Raw())))
		}
		return v.Kind == jsonschema.Array
	case Object:
		return v.Kind == jsonschema.Object && b.fillObject(at.inside(p), p, v)
	case List:
		return b.fillRows(at.inside(p), p.get("items"), v, jsonschema.Array)
	case Map:
		return b.fillRows(at.inside(p), p.rest(), v, jsonschema.Object)
	}
	for i, one := range branches {
		if !b.suits(&one.spec, v) {
			continue
		}
		if b.fill(place{of: at.of, path: at.path, required: true, depth: at.depth, above: at.above}, one.spec, v) {
			b.values.Set(inVariant+name, strconv.Itoa(i))
			return true
		}
		b.clear(name)
	}
	return false
}

// suits tells whether a value may be meant by a branch.
func (b *builder) suits(p *spec, v *jsonschema.Node) bool {
	if p.types != 0 && !p.types.Accepts(v.Type()) {
		return false
	}
	if v.Kind != jsonschema.Object {
		return true
	}
	members := p.members()
	for _, m := range members {
		one := b.schema.spec(m.schemas...)
		value := v.Get(m.name)
		if value == nil && m.required || value != nil && one.only() != nil && !jsonschema.Equal(value, one.only()) {
			return false
		}
	}
	return len(members) == 0 || p.rest() != nil || !slices.ContainsFunc(v.Kids, func(kid *jsonschema.Node) bool {
		return !slices.ContainsFunc(members, func(m member) bool { return m.name == kid.Key })
	})
}

// fillObject sets the inputs of all members; false: some have none.
func (b *builder) fillObject(at place, p spec, v *jsonschema.Node) bool {
	members := p.members()
	var more []*jsonschema.Node
	for _, kid := range v.Members() {
		i := slices.IndexFunc(members, func(m member) bool { return m.name == kid.Key })
		if i < 0 {
			more = append(more, kid)
			continue
		}
		m := members[i]
		b.fill(at.in(token(m.name), m.name, m.required), b.schema.spec(m.schemas...), kid)
	}
	if len(more) == 0 {
		return true
	}
	in := at.in(rest, "", false)
	if p.rest() == nil || !b.listed(in, p.rest()) {
		return false
	}
	return b.fillRows(in, p.rest(), &jsonschema.Node{Kind: jsonschema.Object, Kids: more}, jsonschema.Object)
}

// fillRows adds a row for each element or member.
func (b *builder) fillRows(at place, schema *jsonschema.Node, v *jsonschema.Node, kind jsonschema.Kind) bool {
	if v.Kind != kind || len(v.Kids) > maxRows {
		return false
	}
	p := b.schema.spec(schema)
	for i, kid := range v.Kids {
		id := strconv.Itoa(i)
		b.values.Add(inRow+input(at.path), id)
		row := at.row(id)
		if kind == jsonschema.Object {
			if strings.ContainsFunc(kid.Key, visible.Hidden) || strings.ContainsRune(kid.Key, '\n') {
				return false
			}
			b.values.Set(inKey+input(row.path), kid.Key)
		}
		b.fill(row, p, kid)
	}
	return true
}

// clear empties the inputs of a field and of all fields inside.
func (b *builder) clear(name string) {
	for key := range b.values {
		if len(key) < len(inValue) {
			continue
		}
		if rest, ok := strings.CutPrefix(key[len(inValue):], name); ok && (rest != "" && rest[0] == '/' || rest == "" && key[:len(inKey)] != inKey) {
			delete(b.values, key)
		}
	}
}
