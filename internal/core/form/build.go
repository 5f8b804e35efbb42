package form

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// builder makes the fields of a form from its schema and inputs.
type builder struct {
	schema *Schema
	values url.Values
	left   int // fields that may be made
	steps  int // values that may be filled in
	id     int

	refill string // the path of a field that gets a value
	with   *jsonschema.Node
}

// place is where a field is.
type place struct {
	name, of string
	path     string
	required bool
	depth    int
	above    []*jsonschema.Node // schemas of the objects around it that are there without a person's doing
}

// in is the place of something inside.
func (at place) in(token, name string, required bool) place {
	of := at.of
	if name != "" {
		of = name
	}
	return place{name: name, of: of, path: at.path + "/" + token, required: required, depth: at.depth, above: at.above}
}

// inside is the place of what is in an object, list or map.
func (at place) inside(p spec) place {
	at.depth++
	at.above = append(at.above[:len(at.above):len(at.above)], p.parts...)
	return at
}

// row is the place of a row.
func (at place) row(id string) place {
	in := at.in(id, "", true)
	in.above = nil
	return in
}

// input is what the names of inputs end with.
func input(path string) string { return strings.TrimPrefix(path, "/") }

// rest is the token of the further members of an object. It is the name of none.
const rest = "~2"

// token is the name of a member in a path. Browsers change line ends in the names of inputs.
func token(name string) string {
	var b strings.Builder
	for _, r := range jsonschema.EscapeToken(name) {
		if visible.Hidden(r) || unicode.IsControl(r) || r == utf8.RuneError {
			fmt.Fprintf(&b, "~u%x;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// top is the form of all arguments.
func (b *builder) top() *Field {
	p, branches := b.schema.narrow(b.schema.spec(b.schema.root))
	f := &Field{Required: true}
	if p.broken || branches != nil || p.types != 0 && p.types&jsonschema.TObject == 0 || len(p.members()) > maxMembers {
		return f
	}
	f.Kind = Object
	b.inside(f, place{}, p)
	return f
}

// field makes the field at a place.
func (b *builder) field(at place, p spec) *Field {
	b.left--
	b.id++
	f := &Field{ID: b.id, Name: at.name, Of: at.of, Input: input(at.path), Required: at.required, path: at.path}
	if b.left < 0 {
		f.Kind = JSON
		return f
	}
	if b.refill == at.path && b.with != nil {
		value := b.with
		b.with = nil
		b.clear(f.Input)
		b.fill(at, p, value)
	}
	f.Help = visible.Beginning(p.str("description"), maxHelp)
	p, branches := b.schema.narrow(p)
	if f.Help == "" {
		f.Help = visible.Beginning(p.str("description"), maxHelp)
	}
	f.hints(&p)
	kind := b.kindOf(at, &p, branches)
	f.Value = b.values.Get(inValue + f.Input)
	if kind != JSON && kind != Fixed && b.values.Has(inRaw+f.Input) {
		f.Kind = JSON
		f.Raw = true
		f.Open = f.Value != ""
		return f
	}
	f.MayNull = at.mayNull(&p, kind)
	f.Null = f.MayNull && b.values.Has(inNull+f.Input)
	f.Kind = kind
	switch kind {
	case Text:
		f.text(&p, b.values)
	case Choice:
		f.choose(p.options(branches))
	case Many:
		items, branches := b.schema.narrow(b.schema.spec(p.get("items")))
		given := b.values[inValue+f.Input]
		for _, o := range items.options(branches) {
			o.On = slices.Contains(given, o.Value)
			f.Choices = append(f.Choices, o)
		}
	case Fixed:
		f.only = p.only().Raw()
		f.Choices = optionsOf([]*jsonschema.Node{p.only()}, nil)
		f.Choices[0].On = f.Value == f.Choices[0].Value
	case Object, List, Map:
		b.inside(f, at, p)
	case Variant:
		b.variant(f, at, branches)
	}
	f.Fold = !f.Required && kind == Object
	_, f.Open = f.value("")
	return f
}

// hints are what is shown beside the field.
func (f *Field) hints(p *spec) {
	const most = 60
	if d := p.get("default"); d != nil && d.Kind != jsonschema.Null {
		f.Default = visible.Beginning(textOf(d), most)
	} else if e := p.get("examples").Elements(); len(e) > 0 {
		f.Example = visible.Beginning(textOf(e[0]), most)
	}
	f.Least = p.limit("minimum")
	f.Most = p.limit("maximum")
	if more := p.limit("exclusiveMinimum"); more != "" {
		f.Least = "> " + more
	}
	if less := p.limit("exclusiveMaximum"); less != "" {
		f.Most = "< " + less
	}
	f.Short = p.limit("minLength", "minItems")
	f.Full = p.limit("maxLength", "maxItems")
	if p.types == jsonschema.TString && p.str("format") == "" {
		f.Pattern = visible.Beginning(p.str("pattern"), most)
	}
}

func textOf(n *jsonschema.Node) string {
	if n.Kind == jsonschema.String {
		return n.Text
	}
	return n.String()
}

// inside makes the fields in an object, list or map.
func (b *builder) inside(f *Field, at place, p spec) {
	at = at.inside(p)
	switch f.Kind {
	case Object:
		for _, m := range p.members() {
			f.Fields = append(f.Fields, b.field(at.in(token(m.name), m.name, m.required), b.schema.spec(m.schemas...)))
		}
		if r := p.rest(); r != nil {
			in := at.in(rest, "", false)
			if b.listed(in, r) {
				f.Extra = &Field{ID: -b.id, Of: at.of, Input: input(in.path), Kind: Map, path: in.path}
				b.rows(f.Extra, in, r)
			}
		}
	case List:
		b.rows(f, at, p.get("items"))
	case Map:
		b.rows(f, at, p.rest())
	}
}

// listed tells whether there are fields for what stands in rows.
func (b *builder) listed(at place, schema *jsonschema.Node) bool {
	p, branches := b.schema.narrow(b.schema.spec(schema))
	return b.kindOf(at, &p, branches) != JSON
}

// rows makes the rows of a list or map.
func (b *builder) rows(f *Field, at place, schema *jsonschema.Node) {
	ids := b.values[inRow+f.Input]
	p := b.schema.spec(schema)
	var seen []string
	for _, id := range ids[:min(len(ids), maxRows)] {
		if n, err := strconv.Atoi(id); err != nil || n < 0 || strconv.Itoa(n) != id || slices.Contains(seen, id) {
			continue
		}
		seen = append(seen, id)
		row := b.field(at.row(id), p)
		row.Row = id
		row.Help = ""
		row.Fold = false
		if f.Kind == Map {
			row.Key = b.values.Get(inKey + row.Input)
			row.accepted = row.Key != ""
		}
		f.Fields = append(f.Fields, row)
	}
}

// variant makes the choice of branches, and the field of the chosen one.
func (b *builder) variant(f *Field, at place, branches []branch) {
	f.Value = b.values.Get(inVariant + f.Input)
	for i, one := range branches {
		o := Option{Value: strconv.Itoa(i), Label: visible.Beginning(one.label, 60)}
		o.On = f.Value == o.Value
		f.Choices = append(f.Choices, o)
		if o.On {
			inner := b.field(place{of: at.of, path: at.path, required: true, depth: at.depth, above: at.above}, one.spec)
			inner.Help = ""
			inner.MayNull = false
			f.Fields = []*Field{inner}
		}
	}
}

// choose marks the chosen option. A value that is not among them is kept as JSON.
func (f *Field) choose(options []Option) {
	if options == nil { // a boolean
		options = []Option{{Value: "true", Label: "true"}, {Value: "false", Label: "false"}}
	}
	f.Choices = options
	for i := range options {
		options[i].On = options[i].Value == f.Value
		if options[i].On {
			return
		}
	}
	if f.Value != "" {
		f.Kind = JSON
		f.Raw = true
		f.Choices = nil
	}
}
