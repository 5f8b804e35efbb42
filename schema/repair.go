package schema

import "slices"

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
	values := map[string]string{}
	if mapping := m.get("mapping"); mapping != nil {
		for _, k := range slices.Backward(mapping.kids) { // the first of two counts
			values[k.text] = k.key
		}
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
		if key, ok := values[ref]; ok {
			value = key
		} else if key, ok := values[value]; ok {
			value = key
		}
		tag, whole := r.made(b.src), r.made(b.src)
		tag.enum, tag.listed, tag.types = []*node{{kind: stringKind, text: value}}, true, tString
		whole.types, whole.props, whole.required = tObject, []prop{{name, tag}}, []string{name}
		f.union[i] = r.pair(b, whole)
	}
	r.change(m, Discriminated, "each alternative names itself in "+quote(name))
}
