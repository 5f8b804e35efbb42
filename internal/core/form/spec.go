package form

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// spec is all that a schema says about one value: the schema, what it refers to, and the parts that it is composed of.
type spec struct {
	parts  []*jsonschema.Node
	types  jsonschema.Types // 0: any
	null   bool             // null is allowed beside the types
	broken bool             // it refers to what is not there, or allows nothing
	used   []*jsonschema.Node
	ref    string // the name under which it is known
}

const maxParts = 32

// spec reads schemas that apply to the same value.
func (s *Schema) spec(nodes ...*jsonschema.Node) spec {
	var p spec
	for _, n := range nodes {
		s.add(&p, n)
	}
	p.settle()
	return p
}

// with is the spec with one branch of a union.
func (s *Schema) with(p spec, union, branch *jsonschema.Node) spec {
	p.parts = slices.Clone(p.parts)
	p.used = append(slices.Clone(p.used), union)
	p.ref = ""
	s.add(&p, branch)
	p.settle()
	return p
}

func (s *Schema) add(p *spec, n *jsonschema.Node) {
	switch {
	case n == nil || slices.Contains(p.parts, n):
		return
	case n.Kind != jsonschema.Object || len(p.parts) == maxParts:
		p.broken = p.broken || !n.IsTrue()
		return
	}
	p.parts = append(p.parts, n)
	for _, m := range n.Members() {
		switch {
		case jsonschema.IsRef(m.Key) && m.Kind == jsonschema.String:
			found := s.index.Lookup(n, m.Text).Node
			if found == nil {
				p.broken = true
				continue
			}
			if p.ref == "" {
				p.ref = jsonschema.LastToken(m.Text)
			}
			s.add(p, found)
		case m.Key == "allOf":
			for _, one := range m.Elements() {
				s.add(p, one)
			}
		}
	}
}

// settle finds the types.
func (p *spec) settle() {
	p.types = 0
	for _, part := range p.parts {
		p.types = p.types.And(part.Get("type").Types())
		p.null = p.null || part.Get("nullable").IsTrue() || part.Get("x-nullable").IsTrue()
	}
	if p.types != jsonschema.TNull && p.types&jsonschema.TNull != 0 {
		p.null = true
		p.types &^= jsonschema.TNull
	}
	if p.types&jsonschema.TNumber != 0 {
		p.types &^= jsonschema.TInteger
	}
}

// get is the first value of a keyword.
func (p *spec) get(keyword string) *jsonschema.Node {
	for _, part := range p.parts {
		if m := part.Get(keyword); m != nil {
			return m
		}
	}
	return nil
}

func (p *spec) str(keyword string) string {
	if m := p.get(keyword); m != nil && m.Kind == jsonschema.String {
		return m.Text
	}
	return ""
}

// limit is the first number of some keywords.
func (p *spec) limit(keywords ...string) string {
	for _, k := range keywords {
		if m := p.get(k); m != nil && m.Kind == jsonschema.Number {
			return m.Text
		}
	}
	return ""
}

// has tells whether the schema has one of the keywords.
func (p *spec) has(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return p.get(k) != nil })
}

// member is a property with all schemas for it.
type member struct {
	name     string
	schemas  []*jsonschema.Node
	required bool
}

// members are the properties, in order; of many, more than a form has.
func (p *spec) members() []member {
	var all []member
	at := map[string]int{}
	for _, part := range p.parts {
		for _, m := range part.Get("properties").Members() {
			i, known := at[m.Key]
			if !known && len(all) > maxMembers {
				return all
			}
			if !known {
				i = len(all)
				at[m.Key] = i
				all = append(all, member{name: m.Key})
			}
			all[i].schemas = append(all[i].schemas, m)
		}
	}
	for _, part := range p.parts {
		for _, name := range part.Strings("required") {
			if i, known := at[name]; known {
				all[i].required = true
			}
		}
	}
	return all
}

// rest is the schema of members that are not named; nil: there are none, or anything goes.
func (p *spec) rest() *jsonschema.Node {
	if m := p.get("additionalProperties"); m != nil && m.Kind == jsonschema.Object && len(m.Kids) > 0 {
		return m
	}
	return nil
}

// only is the one value that is allowed; nil: there are others.
func (p *spec) only() *jsonschema.Node {
	if c := p.get("const"); c != nil {
		return c
	}
	if list := p.get("enum").Elements(); len(list) == 1 {
		return list[0]
	}
	return nil
}

// union is the first union of schemas that has not been looked into.
func (p *spec) union() *jsonschema.Node {
	for _, part := range p.parts {
		for _, key := range []string{"oneOf", "anyOf"} {
			if u := part.Get(key); len(u.Elements()) > 0 && !slices.Contains(p.used, u) {
				return u
			}
		}
	}
	return nil
}

// branch is one of several schemas for a value.
type branch struct {
	spec
	label, title string
}

// narrow looks into unions. Branches for null become a remark; where one other is left, it is the schema. More than one are
// returned if they say what a value looks like: those that only want something more are left to the call.
func (s *Schema) narrow(p spec) (spec, []branch) {
	for {
		u := p.union()
		if u == nil {
			break
		}
		if len(u.Elements()) > maxOptions { // more than anybody chooses from
			p.broken = true
			return p, nil
		}
		var branches []branch
		shapes := false
		for _, one := range u.Elements() {
			inner := s.with(p, u, one)
			if inner.types == jsonschema.TNull || inner.only() != nil && inner.only().Kind == jsonschema.Null {
				p.null = true
				continue
			}
			own := s.spec(one)
			shapes = shapes || own.types != 0 || own.has("properties", "items", "enum", "const", "oneOf", "anyOf", "additionalProperties")
			branches = append(branches, branch{inner, own.label(), own.str("title")})
		}
		null := p.null
		types := alike(branches)
		switch {
		case len(branches) == 1:
			p = branches[0].spec
		case !shapes || types != 0:
			p.used = append(slices.Clone(p.used), u)
			p.types = p.types.And(types)
		default:
			return p, branches
		}
		p.null = p.null || null
	}
	if p.types == 0 || p.types.IsSingle() || p.has("enum", "const") {
		return p, nil
	}
	var branches []branch
	for _, t := range jsonschema.AllTypes {
		if p.types&t.Type != 0 {
			one := p
			one.types = t.Type
			branches = append(branches, branch{one, t.Name, ""})
		}
	}
	return p, branches
}

// alike is the type of branches that are all texts, or all numbers, so that one field does for them; 0: they differ.
func alike(branches []branch) (all jsonschema.Types) {
	named := true
	for _, b := range branches {
		if b.types == 0 {
			return 0
		}
		all |= b.types
		named = named && b.only() != nil
	}
	switch {
	case named:
		return 0
	case all == jsonschema.TString || all == jsonschema.TInteger:
		return all
	case all&^(jsonschema.TNumber|jsonschema.TInteger) == 0:
		return all & jsonschema.TNumber
	}
	return 0
}

// label is what a branch is called.
func (p *spec) label() string {
	if title := p.str("title"); title != "" {
		return title
	}
	for _, m := range p.members() {
		for _, schema := range m.schemas {
			one := spec{parts: []*jsonschema.Node{schema}}
			if v := one.only(); v != nil && v.Kind == jsonschema.String {
				return v.Text
			}
		}
	}
	if p.ref != "" {
		return p.ref
	}
	var required []string
	for _, m := range p.members() {
		if m.required {
			required = append(required, m.name)
		}
	}
	if len(required) > 0 {
		return strings.Join(required, ", ")
	}
	return strings.Join(p.types.Names(), ", ")
}

// options are the values to choose from; nil: there is no list.
func (p *spec) options(branches []branch) []Option {
	if values := p.get("enum").Elements(); len(values) > 0 {
		return optionsOf(values, nil)
	}
	var values []*jsonschema.Node
	var labels []string
	for _, b := range branches {
		v := b.only()
		if v == nil {
			return nil
		}
		values = append(values, v)
		labels = append(labels, b.title)
	}
	return optionsOf(values, labels)
}

func optionsOf(values []*jsonschema.Node, labels []string) []Option {
	if len(values) > maxOptions {
		return nil
	}
	texts := !slices.ContainsFunc(values, func(v *jsonschema.Node) bool { return v.Kind != jsonschema.String })
	var all []Option
	for i, v := range values {
		o := Option{Value: string(rawjson.OneLine(v.Raw()))}
		o.Label = o.Value
		if texts && v.Text != "" {
			o.Label = v.Text
		}
		if labels != nil && labels[i] != "" {
			o.Label = labels[i]
		}
		all = append(all, o)
	}
	return all
}
