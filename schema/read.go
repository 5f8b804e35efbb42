package schema

import "slices"

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
	case "nullable":
		f.null = kid.isTrue() && f.src.get("type") != nil
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
	// A whole schema written where its properties belong: type is a word, not a schema.
	if inner := kid.get("properties"); inner != nil && inner.kind == objectKind && kid.str("type") == "object" {
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
	f.enum, f.listed = dedupe(kid.kids), true
	if len(f.enum) < len(kid.kids) {
		r.change(kid, DoubleValue, "deduplicated")
	}
}

func (r *reader) readBranches(f *form, kid *node) {
	if kid.kind != arrayKind || len(kid.kids) == 0 {
		r.change(kid, NotASchema, "dropped")
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
	if kid.key == "$recursiveRef" {
		at = found{node: r.index.resource(f.src)}
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

// repair makes a carried keyword right, or gives nil to drop it.
func (r *reader) repair(f *form, kid *node) *node {
	ok := true
	switch kid.key {
	case "exclusiveMinimum", "exclusiveMaximum":
		if kid.kind == boolKind {
			return r.repairBound(f, kid)
		}
		ok = kid.kind == numberKind
	case "minimum", "maximum":
		if f.src.get("exclusiveM" + kid.key[1:]).isTrue() {
			return nil // the boolean form says it
		}
		ok = kid.kind == numberKind
	case "multipleOf":
		v, number := number(kid.text)
		ok = kid.kind == numberKind && number && v.Sign() > 0
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		v, number := number(kid.text)
		ok = kid.kind == numberKind && number && v.Sign() >= 0 && v.IsInt()
	case "pattern", "format", "contentEncoding", "contentMediaType":
		ok = kid.kind == stringKind
	case "uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable":
		ok = kid.kind == boolKind
	case "examples":
		ok = kid.kind == arrayKind
	case "dependentRequired":
		ok = kid.kind == objectKind && !slices.ContainsFunc(kid.kids, func(k *node) bool { return !isNames(k) })
	case "dependentSchemas":
		ok = kid.kind == objectKind && !slices.ContainsFunc(kid.kids, func(k *node) bool { return !isSchemaKind(k) })
	case "dependencies":
		ok = kid.kind == objectKind && !slices.ContainsFunc(kid.kids, func(k *node) bool { return !isNames(k) && !isSchemaKind(k) })
	case "not", "if", "then", "else", "contains", "unevaluatedProperties", "unevaluatedItems", "contentSchema":
		ok = isSchemaKind(kid)
	}
	if !ok {
		r.change(kid, BadKeyword, "dropped")
		return nil
	}
	return kid
}

func isSchemaKind(n *node) bool { return n.kind == objectKind || n.kind == boolKind }

// isNames tells whether n is a list of distinct names.
func isNames(n *node) bool {
	return n.kind == arrayKind && len(dedupe(n.kids)) == len(n.kids) &&
		!slices.ContainsFunc(n.kids, func(k *node) bool { return k.kind != stringKind })
}

// repairBound writes a boolean exclusive bound as the number that it speaks of.
func (r *reader) repairBound(f *form, kid *node) *node {
	r.change(kid, BooleanBound, "written as a number")
	bound := f.src.get("m" + kid.key[len("exclusiveM"):])
	if !kid.isTrue() || bound == nil || bound.kind != numberKind {
		return nil
	}
	n := *bound
	n.key, n.form = kid.key, nil
	return &n
}

// discriminate makes the property that tells the branches of an OpenAPI union apart a
// required value of its own in each branch.
func (r *reader) discriminate(f *form, m *node) {
	name := m.str("propertyName")
	if name == "" || f.union == nil {
		return
	}
	for i, b := range f.union {
		if b.src == nil {
			continue
		}
		ref := b.src.str("$ref")
		if ref == "" {
			continue
		}
		value := lastToken(ref)
		if mapping := m.get("mapping"); mapping != nil {
			for _, k := range mapping.kids {
				if k.text == ref || k.text == value {
					value = k.key
					break
				}
			}
		}
		tag, whole := r.made(b.src), r.made(b.src)
		tag.enum, tag.listed, tag.types = []*node{{kind: stringKind, text: value}}, true, tString
		whole.types, whole.props, whole.required = tObject, []prop{{name, tag}}, []string{name}
		f.union[i] = r.pair(b, whole)
	}
}
