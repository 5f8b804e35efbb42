package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

var typeNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// isNullable tells whether n says so in the way of OpenAPI 3.0 or of Swagger. Without a
// type the word has no effect.
func isNullable(n *node) bool { return n.is("nullable") || n.is("x-nullable") }

// types appends the type, with null beside it where null may come.
func (w *schemaWriter) types(dst []byte, n, kid *node) []byte {
	var list []string
	for _, t := range n.strings("type") {
		lower := strings.ToLower(t)
		switch {
		case t == "file":
			lower = "string"
		case t != lower:
			w.bad.add(kid.pointer(), "types are written in small letters")
		}
		if !slices.Contains(typeNames, lower) {
			list = nil
			break
		}
		if !slices.Contains(list, lower) {
			list = append(list, lower)
		}
	}
	if len(list) == 0 {
		w.bad.add(kid.pointer(), "is no type; any type is accepted")
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
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, s)
	}
	return append(dst, ']')
}

// values appends the values that are allowed. In a result they are examples: servers learn new ones.
func (w *schemaWriter) values(dst []byte, n, kid *node) []byte {
	if kid.key == "const" {
		if w.way == request {
			return kid.append(name(dst, "const"))
		}
		return append(kid.append(append(name(dst, "examples"), '[')), ']')
	}
	if kid.kind != arrayKind || len(kid.kids) == 0 {
		w.bad.add(kid.pointer(), "lists no values; left out")
		return dst
	}
	if w.way == response {
		if n.get("const") != nil {
			return dst
		}
		return kid.append(name(dst, "examples"))
	}
	dst = append(name(dst, "enum"), '[')
	seen, null := make(map[string]bool, len(kid.kids)), false
	for i := range kid.kids {
		v := &kid.kids[i]
		start := len(dst)
		if len(seen) > 0 {
			dst = append(dst, ',')
		}
		mark := len(dst)
		dst = v.append(dst)
		if text := string(dst[mark:]); seen[text] {
			w.bad.add(v.pointer(), "stands there twice")
			dst = dst[:start]
		} else {
			seen[text] = true
		}
		null = null || v.kind == nullKind
	}
	if !null && isNullable(n) && n.get("type") != nil {
		dst = append(dst, ",null"...)
	}
	return append(dst, ']')
}

// properties appends those that this direction has.
func (w *schemaWriter) properties(dst []byte, n, kid *node) []byte {
	if kid.kind != objectKind {
		w.bad.add(kid.pointer(), "is no object; left out")
		return dst
	}
	dst = append(name(dst, "properties"), '{')
	for i := range kid.kids {
		p := &kid.kids[i]
		if p.twice {
			w.bad.add(p.pointer(), "stands there twice; the last one counts")
		}
		if !w.isHidden(p) {
			dst = w.inside(name(dst, p.key), p)
		}
	}
	return append(dst, '}')
}

// isHidden tells whether a property is only for the other direction. Its own schema may
// say so, or the one that it refers to.
func (w *schemaWriter) isHidden(p *node) bool {
	if p.is(w.way.hides()) {
		return true
	}
	ref := p.ref()
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

// required appends the names that must be there and may be.
func (w *schemaWriter) required(dst []byte, n, kid *node) []byte {
	if w.way == response {
		return dst
	}
	if kid.kind != arrayKind {
		if kid.kind != boolKind { // a boolean is how the oldest drafts wrote it, one level too low for us
			w.bad.add(kid.pointer(), "is no list of names; left out")
		}
		return dst
	}
	hidden, seen := w.hidden(n), make(map[string]bool, len(kid.kids))
	var names []string
	for _, v := range kid.kids {
		switch {
		case v.kind != stringKind || seen[v.text]:
			w.bad.add(kid.pointer(), "names one twice, or something that is no name")
		case !hidden[v.text]:
			names = append(names, v.text)
		}
		seen[v.text] = true
	}
	if len(names) == 0 {
		return dst
	}
	return appendStrings(name(dst, "required"), names)
}

// hidden are the properties that n, or what it is composed of, has in the other direction only.
func (w *schemaWriter) hidden(n *node) map[string]bool {
	if n.parent != nil && n.parent.key == "allOf" && n.parent.parent != nil {
		n = n.parent.parent // a branch may require what its neighbour has
	}
	var out map[string]bool
	w.d.parts(n, func(_, part *node) bool {
		all := part.get("properties").members()
		for i := range all {
			if w.isHidden(&all[i]) {
				if out == nil {
					out = map[string]bool{}
				}
				out[all[i].key] = true
			}
		}
		return true
	})
	return out
}
