package schema

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// isKnown reports whether a keyword describes values.
func isKnown(key string) bool {
	k, ok := jsonschema.Keywords[key]
	return ok && !k.Silent
}

// read fills f from the keywords of its node and repairs common mistakes.
func (r *reader) read(f *form) {
	f.read = true
	n := f.src
	switch {
	case n.Kind == jsonschema.Bool:
		f.never = n.Text == "false"
		return
	case n.Kind != jsonschema.Object:
		r.change(n, NotASchema, "accepts anything")
		return
	}
	var rest [32]*node
	kept := rest[:0]
	for _, kid := range n.Kids {
		if r.keyword(f, kid) {
			continue
		}
		switch {
		case isKnown(kid.Key):
			kid = r.repair(n, kid)
			if kid != nil {
				kept = append(kept, kid)
			}
		case !jsonschema.Keywords[kid.Key].Silent:
			r.change(kid, UnknownKeyword, "dropped")
		}
	}
	if len(kept) > 0 {
		f.rest = slices.Clone(kept)
	}
	holdsArray := slices.ContainsFunc(f.enum, func(v *node) bool { return v.Kind == jsonschema.Array })
	if m := n.Get("enum"); m != nil && f.types == tArray && !f.constant && !holdsArray {
		r.change(m, BadKeyword, "read as that of the items")
		items := r.made(m)
		items.enum = f.enum
		items.listed = true
		f.enum = nil
		f.listed = false
		f.items = r.pair(f.items, items)
	}
	if m := n.Get("discriminator"); m != nil {
		r.discriminate(f, m)
	}
	if m := n.Get("not"); m.IsTrue() || m != nil && m.Kind == jsonschema.Object && len(m.Kids) == 0 {
		f.never = true // a common way to require that a value is absent
	}
}

// keyword reads a keyword that has its own field in the form.
func (r *reader) keyword(f *form, kid *node) bool {
	switch kid.Key {
	case "type":
		r.readType(f, kid)
	case "title":
		f.title = f.src.Str("title")
	case "description":
		f.desc = f.src.Str("description")
	case "properties":
		r.readProperties(f, kid)
	case "patternProperties":
		f.patterns = r.named(kid.Kids)
	case "required":
		r.readRequired(f, kid)
	case "additionalProperties":
		f.more = r.at(kid)
	case "propertyNames":
		f.names = r.at(kid)
	case "items", "prefixItems", "additionalItems":
		r.readItems(f, kid)
	case "enum":
		r.readEnum(f, kid)
	case "const":
		f.enum = []*node{kid}
		f.listed = true
		f.constant = true
	case "anyOf", "oneOf", "allOf":
		r.readBranches(f, kid)
	case "nullable", "x-nullable":
		if kid.IsTrue() && f.src.Get("type") != nil {
			f.null = true
			r.rewrite = true
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		r.readRef(f, kid)
	default:
		return false
	}
	return true
}

func (r *reader) readType(f *form, kid *node) {
	for _, v := range kid.TypeNames() {
		t := jsonschema.TypeNamed(v.Text)
		if v.Text == "file" { // Swagger's type for bytes
			t = tString
			r.change(kid, BadType, "read as string")
		}
		if t == 0 || v.Kind != jsonschema.String {
			f.types = 0
			r.change(kid, BadType, "accepts any type")
			return
		}
		f.types |= t
	}
}

func (r *reader) readProperties(f *form, kid *node) {
	if kid.Kind != jsonschema.Object {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if inner := wrapped(kid); inner != nil {
		r.change(kid, Wrapped, "lifted by one level")
		r.readProperties(f, inner)
		if req := kid.Get("required"); req != nil {
			r.readRequired(f, req)
		}
		return
	}
	f.props = r.named(kid.Kids)
}

// wrapped returns the properties of a whole schema that was written in place of its properties
// (its "type" is a string, not a schema), or nil.
func wrapped(properties *node) *node {
	inner := properties.Get("properties")
	if inner == nil || inner.Kind != jsonschema.Object || properties.Str("type") != "object" {
		return nil
	}
	return inner
}

func (r *reader) readRequired(f *form, kid *node) {
	if kid.Kind != jsonschema.Array {
		r.change(kid, BadRequired, "dropped")
		return
	}
	f.required = slices.Grow(f.required, len(kid.Kids))
	for _, k := range kid.Kids {
		if k.Kind != jsonschema.String || f.isRequired(k.Text) {
			r.change(k, BadRequired, "dropped")
			continue
		}
		f.require(k.Text)
	}
}

func (r *reader) readItems(f *form, kid *node) {
	list := kid.Key == "prefixItems" || kid.Kind == jsonschema.Array
	switch {
	case list && len(kid.Kids) > maxBranches:
		r.change(kid, TooMuch, "more than "+itoa(maxBranches)+" positions: any item is accepted")
	case list && kid.Kind == jsonschema.Array && kid.Key != "additionalItems":
		f.prefix = r.each(kid.Kids)
	case list:
		r.change(kid, NotASchema, "dropped")
	case kid.Key == "items":
		f.items = r.at(kid)
	default: // additionalItems only applies beside a list
		if items := f.src.Get("items"); items != nil && items.Kind == jsonschema.Array {
			f.items = r.at(kid)
		}
	}
}

func (r *reader) readEnum(f *form, kid *node) {
	if kid.Kind != jsonschema.Array {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if f.constant {
		return
	}
	f.enum = kid.Kids
	f.listed = true
	if len(kid.Kids) > maxEnum { // too long to be written in any dialect
		return
	}
	f.enum = jsonschema.Distinct(kid.Kids)
	if len(f.enum) < len(kid.Kids) {
		r.change(kid, DoubleValue, "deduplicated")
	}
}

// maxBranches limits the branches of a union and the positions of a tuple.
const maxBranches = 500

func (r *reader) readBranches(f *form, kid *node) {
	if kid.Kind != jsonschema.Array || len(kid.Kids) == 0 {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if len(kid.Kids) > maxBranches && kid.Key != "allOf" {
		r.change(kid, TooMuch, "more than "+itoa(maxBranches)+" alternatives: described")
		f.notes = append(f.notes, "One of "+itoa(len(kid.Kids))+" alternatives, checked when called.")
		return
	}
	branches := r.each(kid.Kids)
	switch {
	case kid.Key == "allOf":
		f.all = append(f.all, branches...)
	case f.union == nil:
		f.union = branches
		f.one = kid.Key == "oneOf"
	default: // both anyOf and oneOf
		other := r.made(kid)
		other.union = branches
		other.one = kid.Key == "oneOf"
		f.all = append(f.all, other)
	}
}

func (r *reader) readRef(f *form, kid *node) {
	if kid.Kind != jsonschema.String {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if r.index == nil {
		r.index = jsonschema.NewIndex(r.root, r.flavor.draft(r.root))
	}
	at := r.index.Lookup(f.src, kid.Text)
	f.dynamic = kid.Key != "$ref"
	switch kid.Key {
	case "$recursiveRef":
		at = jsonschema.Found{Node: r.index.Resource(f.src)}
	case "$dynamicRef":
		if !strings.Contains(kid.Text, "#/") { // not a JSON pointer
			at.Node = r.index.Outermost(at.Node)
		}
	}
	switch {
	case at.External && !r.degrade:
		if r.err == nil {
			r.err = &Error{ExternalRef, kid.Pointer(), "the reference " + quote(kid.Text) + " leads to another document"}
		}
	case at.Node == nil:
		r.change(kid, MissingRef, "accepts anything: "+jsonschema.LastToken(kid.Text)+" is not there")
		f.notes = append(f.notes, "(schema missing)")
	default:
		if at.Repaired {
			r.change(kid, RefRepaired, "read as "+quote("#"+at.Node.Pointer()))
		}
		f.ref = r.at(at.Node)
		f.ref.name = jsonschema.LastToken(kid.Text)
	}
}
