package schema

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// repair corrects a keyword of the schema src, or returns nil to drop it.
func (r *reader) repair(src, kid *node) *node {
	if bound := src.Bound(kid); bound != kid {
		if strings.HasPrefix(kid.Key, "exclusive") {
			r.change(kid, BooleanBound, "written as a number")
		}
		return bound
	}
	if !kid.Fits() {
		r.change(kid, BadKeyword, "dropped")
		return nil
	}
	return kid
}

// discriminate adds the discriminator of an OpenAPI union to each branch as a required
// constant.
func (r *reader) discriminate(f *form, m *node) {
	name := m.Str("propertyName")
	if name == "" || f.union == nil {
		return
	}
	values := map[string]string{}
	if mapping := m.Get("mapping"); mapping != nil {
		for _, k := range slices.Backward(mapping.Kids) { // the first of duplicates wins
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
		tag := r.made(b.src)
		whole := r.made(b.src)
		tag.enum = []*node{{Kind: jsonschema.String, Text: value}}
		tag.listed = true
		tag.types = tString
		whole.types = tObject
		whole.props = []prop{{name, tag}}
		whole.required = []string{name}
		f.union[i] = r.pair(b, whole)
	}
	r.change(m, Discriminated, "each alternative names itself in "+quote(name))
}
