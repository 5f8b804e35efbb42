package schema

import (
	"slices"
	"strings"
)

// known are the keywords that are carried as they are, beside those that read takes apart.
var known = map[string]bool{
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "pattern": true, "format": true, "minItems": true, "maxItems": true, "uniqueItems": true,
	"minProperties": true, "maxProperties": true, "default": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true,
	"contentEncoding": true, "contentMediaType": true, "contentSchema": true, "not": true, "if": true, "then": true, "else": true,
	"contains": true, "minContains": true, "maxContains": true, "dependentRequired": true, "dependentSchemas": true, "dependencies": true,
	"unevaluatedProperties": true, "unevaluatedItems": true,
}

// silent are keywords that name places or documents; they have done their work.
var silent = map[string]bool{
	"$schema": true, "$id": true, "id": true, "$anchor": true, "$dynamicAnchor": true, "$recursiveAnchor": true, "$vocabulary": true,
	"$comment": true, "$defs": true, "definitions": true, "components": true, "example": true, "xml": true, "externalDocs": true, "discriminator": true,
}

// read takes the keywords of f's node apart and repairs what people get wrong.
func (r *reader) read(f *form) {
	f.read = true
	n := f.src
	switch {
	case n.kind == boolKind:
		f.never = n.text == "false"
		return
	case n.kind != objectKind:
		r.change(n, NotASchema, "accepts anything")
		return
	}
	var rest [32]*node
	kept := rest[:0]
	for _, kid := range n.kids {
		if r.keyword(f, kid) {
			continue
		}
		switch {
		case known[kid.key]:
			if kid = r.repair(f, kid); kid != nil {
				kept = append(kept, kid)
			}
		case !silent[kid.key]:
			r.change(kid, UnknownKeyword, "dropped")
		}
	}
	if len(kept) > 0 {
		f.rest = slices.Clone(kept)
	}
	if m := n.get("discriminator"); m != nil {
		r.discriminate(f, m)
	}
	if m := n.get("not"); m.isTrue() || m != nil && m.kind == objectKind && len(m.kids) == 0 {
		f.never = true // how some writers say that a value must be absent
	}
}

// keyword reads one keyword that has a place of its own in the form.
func (r *reader) keyword(f *form, kid *node) bool {
	switch kid.key {
	case "type":
		r.readType(f, kid)
	case "title":
		if kid.kind == stringKind {
			f.title = kid.text
		}
	case "description":
		if kid.kind == stringKind {
			f.desc = kid.text
		}
	case "properties":
		r.readProperties(f, kid)
	case "patternProperties":
		for _, k := range kid.kids {
			f.patterns = append(f.patterns, prop{k.key, r.at(k)})
		}
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
		f.enum, f.listed, f.constant = []*node{kid}, true, true
	case "anyOf", "oneOf", "allOf":
		r.readBranches(f, kid)
	case "nullable", "x-nullable":
		if kid.isTrue() && f.src.get("type") != nil {
			f.null, r.rewrite = true, true
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		r.readRef(f, kid)
	default:
		return false
	}
	return true
}

func (r *reader) readType(f *form, kid *node) {
	list := []*node{kid}
	if kid.kind == arrayKind {
		list = kid.kids
	}
	for _, v := range list {
		t, ok := typeOf(v.text)
		if v.text == "file" { // how Swagger says bytes
			t, ok = tString, true
			r.change(kid, BadType, "read as string")
		}
		if !ok || v.kind != stringKind {
			f.types = 0
			r.change(kid, BadType, "accepts any type")
			return
		}
		f.types |= t
	}
}

func (r *reader) readProperties(f *form, kid *node) {
	if kid.kind != objectKind {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if inner := wrapped(kid); inner != nil {
		r.change(kid, Wrapped, "lifted by one level")
		r.readProperties(f, inner)
		if req := kid.get("required"); req != nil {
			r.readRequired(f, req)
		}
		return
	}
	f.props = make([]prop, 0, len(kid.kids))
	for _, k := range kid.kids {
		f.props = append(f.props, prop{k.key, r.at(k)})
	}
}

// wrapped is the properties of a whole schema that was written where they belong: its type
// is a word, not a schema. Nil: it is none.
func wrapped(properties *node) *node {
	if inner := properties.get("properties"); inner != nil && inner.kind == objectKind && properties.str("type") == "object" {
		return inner
	}
	return nil
}

func (r *reader) readRequired(f *form, kid *node) {
	if kid.kind != arrayKind {
		r.change(kid, BadRequired, "dropped")
		return
	}
	seen := map[string]bool(nil)
	if len(kid.kids) > 16 {
		seen = make(map[string]bool, len(kid.kids))
	}
	f.required = slices.Grow(f.required, len(kid.kids))
	for _, k := range kid.kids {
		double := seen[k.text] || seen == nil && slices.Contains(f.required, k.text)
		if k.kind != stringKind || double {
			r.change(k, BadRequired, "dropped")
			continue
		}
		if seen != nil {
			seen[k.text] = true
		}
		f.required = append(f.required, k.text)
	}
}

func (r *reader) readItems(f *form, kid *node) {
	list := kid.key == "prefixItems" || kid.kind == arrayKind
	switch {
	case list && len(kid.kids) > maxBranches:
		r.change(kid, TooMuch, "more than "+itoa(maxBranches)+" positions: any item is accepted")
	case list && kid.kind == arrayKind && kid.key != "additionalItems":
		f.prefix = make([]*form, 0, len(kid.kids))
		for _, k := range kid.kids {
			f.prefix = append(f.prefix, r.at(k))
		}
	case list:
		r.change(kid, NotASchema, "dropped")
	case kid.key == "items":
		f.items = r.at(kid)
	default: // additionalItems means something only beside a list
		if items := f.src.get("items"); items != nil && items.kind == arrayKind {
			f.items = r.at(kid)
		}
	}
}

func (r *reader) readEnum(f *form, kid *node) {
	if kid.kind != arrayKind {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if f.constant {
		return
	}
	f.enum, f.listed = kid.kids, true
	if len(kid.kids) > maxEnum { // nobody writes such a list
		return
	}
	f.enum = dedupe(kid.kids)
	if len(f.enum) < len(kid.kids) {
		r.change(kid, DoubleValue, "deduplicated")
	}
}

// maxBranches is how many alternatives, or positions of a tuple, are told apart.
const maxBranches = 500

func (r *reader) readBranches(f *form, kid *node) {
	if kid.kind != arrayKind || len(kid.kids) == 0 {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if len(kid.kids) > maxBranches && kid.key != "allOf" {
		r.change(kid, TooMuch, "more than "+itoa(maxBranches)+" alternatives: described")
		f.notes = append(f.notes, "One of "+itoa(len(kid.kids))+" alternatives, checked when called.")
		return
	}
	branches := make([]*form, 0, len(kid.kids))
	for _, k := range kid.kids {
		branches = append(branches, r.at(k))
	}
	switch {
	case kid.key == "allOf":
		f.all = append(f.all, branches...)
	case f.union == nil:
		f.union, f.one = branches, kid.key == "oneOf"
	default: // both anyOf and oneOf
		other := r.made(kid)
		other.union, other.one = branches, kid.key == "oneOf"
		f.all = append(f.all, other)
	}
}

func (r *reader) readRef(f *form, kid *node) {
	if kid.kind != stringKind {
		r.change(kid, NotASchema, "dropped")
		return
	}
	if r.index == nil {
		r.index = newIndex(r.root)
	}
	at := r.index.lookup(f.src, kid.text)
	switch f.dynamic = kid.key != "$ref"; kid.key {
	case "$recursiveRef":
		at = found{node: r.index.resource(f.src)}
	case "$dynamicRef":
		if !strings.Contains(kid.text, "#/") { // a pointer means what it says
			at.node = r.index.outermost(at.node)
		}
	}
	switch {
	case at.external && !r.degrade:
		if r.fault == nil {
			r.fault = &Error{ExternalRef, kid.pointer(), "the reference " + quote(kid.text) + " leads to another document"}
		}
	case at.node == nil:
		r.change(kid, MissingRef, "accepts anything: "+lastToken(kid.text)+" is not there")
		f.notes = append(f.notes, "(schema missing)")
	default:
		if at.repaired {
			r.change(kid, RefRepaired, "read as "+quote("#"+at.node.pointer()))
		}
		f.ref = r.at(at.node)
		f.ref.name = lastToken(kid.text)
	}
}
