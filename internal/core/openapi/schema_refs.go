package openapi

import (
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// about is what a reference must know of its target before either is written.
type about struct {
	readOnly, writeOnly bool
	union               bool   // it has branches
	edges               []edge // definitions that apply to the same value
}

// edge leads from a definition to one that applies to the same value.
type edge struct {
	to   place
	base bool // in allOf
}

// about examines a definition, once.
func (d *Document) about(p place) *about {
	d.defs.mu.Lock()
	a := d.defs.known[p.pointer]
	d.defs.mu.Unlock()
	if a != nil {
		return a
	}
	n := d.node(p)
	a = &about{
		readOnly:  n.Get("readOnly").IsTrue(),
		writeOnly: n.Get("writeOnly").IsTrue(),
		union:     n.Get("anyOf") != nil || n.Get("oneOf") != nil,
	}
	d.collect(n, false, a)
	d.defs.mu.Lock()
	defer d.defs.mu.Unlock()
	d.defs.known[p.pointer] = a
	return a
}

func (d *Document) collect(n *node, base bool, a *about) {
	if ref := refOf(n); ref != nil {
		if p, err := d.target(ref); err == nil {
			a.edges = append(a.edges, edge{p, base})
		}
	}
	for _, kid := range n.Members() {
		rule := jsonschema.Keywords[kid.Key]
		switch {
		case kid.Key == "allOf" || kid.Key == "anyOf" || kid.Key == "oneOf":
			for _, branch := range kid.Elements() {
				d.collect(branch, kid.Key == "allOf", a)
			}
		case rule.InPlace && rule.Holds == jsonschema.OneSchema:
			d.collect(kid, false, a)
		}
	}
}

// reaches reports whether from leads back to the definition at the pointer without descending
// into the value: such a schema could never be evaluated. With kept, edges from a child to its
// union are skipped, because those are cut elsewhere.
func (d *Document) reaches(from place, pointer string, kept bool, seen map[string]bool) bool {
	if from.pointer == pointer {
		return true
	}
	const most = 1000
	if seen[from.pointer] || len(seen) > most {
		return false
	}
	seen[from.pointer] = true
	return slices.ContainsFunc(d.about(from).edges, func(e edge) bool {
		if kept && e.base && d.about(e.to).union {
			return false
		}
		return d.reaches(e.to, pointer, kept, seen)
	})
}

// reference appends a reference to a definition, or a replacement if there is none. It reports
// whether the schema is complete.
func (w *schemaWriter) reference(dst []byte, n, ref *node) ([]byte, bool) {
	target, err := w.d.target(ref)
	if err != nil {
		w.bad.add(ref.Pointer(), err.Error()+"; it accepts anything")
		return w.missing(dst, n), false
	}
	if w.here && w.self != "" {
		isBase := n.Parent != nil && n.Parent.Key == "allOf" && w.d.about(target).union
		if w.d.reaches(target, w.self, !isBase, map[string]bool{}) {
			if isBase && target.pointer != w.self && !slices.Contains(w.parents, target.pointer) {
				// A child that refers to its parent union means the common part, not the choice.
				w.parents = append(w.parents, target.pointer)
				dst = w.members(dst, w.d.node(target), choices)
				w.parents = w.parents[:len(w.parents)-1]
				return dst, true
			}
			w.bad.add(ref.Pointer(), "the schema contains itself with nothing between; it accepts anything")
			return dst, false
		}
	}
	def := w.d.define(target, w.way)
	w.refs = append(w.refs, def)
	return rawjson.AppendString(name(dst, "$ref"), "#/$defs/"+def.name), false
}

// choices are the keywords with which a parent lists its children.
var choices = map[string]bool{"anyOf": true, "oneOf": true, "discriminator": true}

func (w *schemaWriter) missing(dst []byte, n *node) []byte {
	if n.Get("description") != nil || w.way == response {
		return dst
	}
	return rawjson.AppendString(name(dst, "description"), "(schema missing)")
}

// union appends branches. With a discriminator, each branch gets its value.
func (w *schemaWriter) union(dst []byte, n, kid *node) []byte {
	if kid.Kind != jsonschema.Array || len(kid.Kids) == 0 {
		w.bad.add(kid.Pointer(), "lists no schemas; ignored")
		return dst
	}
	key := kid.Key
	property := n.Get("discriminator").Str("propertyName")
	if w.way == response {
		key = "anyOf"
		property = ""
		if kid.Key == "oneOf" && n.Get("anyOf") != nil {
			return dst // without a discriminator, oneOf is no better than anyOf
		}
	}
	dst = name(dst, key)
	if property == "" {
		return w.schemas(dst, kid)
	}
	dst = append(dst, '[')
	for _, branch := range kid.Kids {
		dst = w.schema(comma(dst), branch)
		if values := w.tags(n, branch, property); len(values) > 0 && dst[len(dst)-1] == '}' {
			dst = append(name(dst[:len(dst)-1], "properties"), '{')
			dst = append(name(dst, property), `{"type":"string","enum":`...)
			dst = append(appendStrings(dst, values), "}}"...)
			dst = append(appendStrings(name(dst, "required"), []string{property}), '}')
		}
	}
	return append(dst, ']')
}

// tags returns the discriminator values of a branch; none if the branch defines them itself or
// is not a reference.
func (w *schemaWriter) tags(n, branch *node, property string) (values []string) {
	ref := refOf(branch)
	if ref == nil || branch.Get("properties") != nil || branch.Get("required") != nil {
		return nil
	}
	target, err := w.d.target(ref)
	if err != nil || w.pins(w.d.node(target), property) {
		return nil
	}
	own := jsonschema.LastToken(ref.Text)
	mapping := n.Get("discriminator").Get("mapping").Members()
	for _, m := range mapping {
		mapped, err := w.d.resolve(m.Text, m)
		if m.Text == own || err == nil && mapped.pointer == target.pointer {
			values = append(values, m.Key)
		}
	}
	if len(values) == 0 {
		values = []string{own}
	}
	return values
}

// pins reports whether a branch itself lists the values of the property.
func (w *schemaWriter) pins(branch *node, property string) (pinned bool) {
	w.d.parts(branch, func(_, part *node) bool {
		if p := part.Get("properties").Get(property); p != nil {
			p, err := w.d.follow(p)
			pinned = err == nil && (p.Get("enum") != nil || p.Get("const") != nil)
		}
		return !pinned
	})
	return pinned
}
