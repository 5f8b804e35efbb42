package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// isNullable reports whether n is nullable in OpenAPI 3.0 or Swagger. Without a type the
// keyword has no effect.
func isNullable(n *node) bool { return n.Get("nullable").IsTrue() || n.Get("x-nullable").IsTrue() }

// types appends the type, with null if allowed.
func (w *schemaWriter) types(dst []byte, n, kid *node) []byte {
	var list []string
	for _, t := range n.Strings("type") {
		lower := strings.ToLower(t)
		switch {
		case t == "file":
			lower = "string"
		case t != lower:
			w.bad.add(kid.Pointer(), "types are lowercase")
		}
		if jsonschema.TypeNamed(lower) == 0 {
			list = nil
			break
		}
		if !slices.Contains(list, lower) {
			list = append(list, lower)
		}
	}
	if len(list) == 0 {
		w.bad.add(kid.Pointer(), "is not a type; any type is accepted")
		return dst
	}
	if (isNullable(n) || w.way == response) && !slices.Contains(list, "null") {
		list = append(list, "null")
	}
	dst = name(dst, "type")
	if len(list) == 1 {
		return rawjson.AppendString(dst, list[0])
	}
	return appendStrings(dst, list)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for _, s := range list {
		dst = rawjson.AppendString(comma(dst), s)
	}
	return append(dst, ']')
}

// values appends an enum. In results they are examples, because servers add values.
func (w *schemaWriter) values(dst []byte, n, kid *node) []byte {
	if kid.Key == "const" {
		if w.way == request {
			return kid.Append(name(dst, "const"))
		}
		return append(kid.Append(append(name(dst, "examples"), '[')), ']')
	}
	if kid.Kind != jsonschema.Array || len(kid.Kids) == 0 {
		w.bad.add(kid.Pointer(), "lists no values; ignored")
		return dst
	}
	if w.way == response {
		if n.Get("const") != nil {
			return dst
		}
		return kid.Append(name(dst, "examples"))
	}
	list := jsonschema.Distinct(kid.Kids)
	if len(list) < len(kid.Kids) {
		w.bad.add(kid.Pointer(), "lists a value twice")
	}
	dst = append(name(dst, "enum"), '[')
	for _, v := range list {
		dst = v.Append(comma(dst))
	}
	isNull := func(v *node) bool { return v.Kind == jsonschema.Null }
	if isNullable(n) && n.Get("type") != nil && !slices.ContainsFunc(list, isNull) {
		dst = append(dst, ",null"...)
	}
	return append(dst, ']')
}

// properties appends the properties of this direction.
func (w *schemaWriter) properties(dst []byte, n, kid *node) []byte {
	if kid.Kind != jsonschema.Object {
		w.bad.add(kid.Pointer(), "is not an object; ignored")
		return dst
	}
	dst = append(name(dst, "properties"), '{')
	for _, p := range kid.Kids {
		if p.Twice {
			w.bad.add(p.Pointer(), "is a duplicate; the last one counts")
		}
		if !w.isHidden(p) {
			dst = w.inside(name(dst, p.Key), p)
		}
	}
	return append(dst, '}')
}

// isHidden reports whether a property, or the schema it refers to, is only for the other
// direction.
func (w *schemaWriter) isHidden(p *node) bool {
	if p.Get(w.way.hides()).IsTrue() {
		return true
	}
	ref := refOf(p)
	if ref == nil {
		return false
	}
	target, err := w.d.target(ref)
	if err != nil {
		return false
	}
	about := w.d.about(target)
	return w.way == request && about.readOnly || w.way == response && about.writeOnly
}

// required appends the required names that are properties of this direction.
func (w *schemaWriter) required(dst []byte, n, kid *node) []byte {
	if w.way == response {
		return dst
	}
	if kid.Kind != jsonschema.Array {
		if kid.Kind != jsonschema.Bool { // a boolean is draft 3's form, one level too low
			w.bad.add(kid.Pointer(), "is not a list of names; ignored")
		}
		return dst
	}
	hidden := w.hidden(n)
	seen := make(map[string]bool, len(kid.Kids))
	var names []string
	for _, v := range kid.Kids {
		switch {
		case v.Kind != jsonschema.String || seen[v.Text]:
			w.bad.add(kid.Pointer(), "has a duplicate, or an element that is not a string")
		case !hidden[v.Text]:
			names = append(names, v.Text)
		}
		seen[v.Text] = true
	}
	if len(names) == 0 {
		return dst
	}
	return appendStrings(name(dst, "required"), names)
}

// hidden returns the properties of n, and of what it is composed of, that are only for the
// other direction.
func (w *schemaWriter) hidden(n *node) map[string]bool {
	if n.Parent != nil && n.Parent.Key == "allOf" && n.Parent.Parent != nil {
		n = n.Parent.Parent // a branch may require a property of another one
	}
	out := map[string]bool{}
	w.d.parts(n, func(_, part *node) bool {
		for _, p := range part.Get("properties").Members() {
			if w.isHidden(p) {
				out[p.Key] = true
			}
		}
		return true
	})
	return out
}
