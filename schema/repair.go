package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// repair makes a carried keyword right, or gives nil to drop it.
func (r *reader) repair(f *form, kid *node) *node {
	ok := kid.Fits()
	switch kid.Key {
	case "exclusiveMinimum", "exclusiveMaximum":
		if kid.Kind == jsonschema.Bool {
			return r.repairBound(f, kid)
		}
	case "minimum", "maximum":
		if f.src.Get("exclusiveM" + kid.Key[1:]).IsTrue() {
			return nil // the boolean form says it
		}
	case "multipleOf":
		v, number := number(kid.Text)
		ok = ok && number && v.Sign() > 0
	case "dependentSchemas", "dependencies":
		ok = ok && !slices.ContainsFunc(kid.Kids, func(k *node) bool {
			return !k.IsSchema() && (kid.Key == "dependentSchemas" || !k.IsNames())
		})
	}
	if !ok {
		r.change(kid, BadKeyword, "dropped")
		return nil
	}
	return kid
}

// repairBound writes a boolean exclusive bound as the number that it speaks of.
func (r *reader) repairBound(f *form, kid *node) *node {
	r.change(kid, BooleanBound, "written as a number")
	bound := f.src.Get("m" + kid.Key[len("exclusiveM"):])
	if !kid.IsTrue() || bound == nil || bound.Kind != jsonschema.Number {
		return nil
	}
	n := *bound
	n.Key = kid.Key
	return &n
}

// discriminate makes the property that tells the branches of an OpenAPI union apart a
// required value of its own in each branch.
func (r *reader) discriminate(f *form, m *node) {
	name := m.Str("propertyName")
	if name == "" || f.union == nil {
		return
	}
	values := map[string]string{}
	if mapping := m.Get("mapping"); mapping != nil {
		for _, k := range slices.Backward(mapping.Kids) { // the first of two counts
			values[k.Text] = k.Key
		}
	}
	for i, b := range f.union {
		if b.src == nil {
			continue
		}
		ref := b.src.Str("$ref")
		if ref == "" {
			continue
		}
		value := jsonschema.LastToken(ref)
		if key, ok := values[ref]; ok {
			value = key
		} else if key, ok := values[value]; ok {
			value = key
		}
		tag, whole := r.made(b.src), r.made(b.src)
		tag.enum, tag.listed, tag.types = []*node{{Kind: jsonschema.String, Text: value}}, true, tString
		whole.types, whole.props, whole.required = tObject, []prop{{name, tag}}, []string{name}
		f.union[i] = r.pair(b, whole)
	}
	r.change(m, Discriminated, "each alternative names itself in "+quote(name))
}
