package mask

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// nodeWriter writes one schema object, keyword by keyword.
type nodeWriter struct {
	*schemaWriter
	views                  views
	root                   bool
	members, rows, strings bool // what may be cut here
	noted                  bool // the note is among the properties
	choice                 bool // an anyOf is written
	out                    []byte
}

// key begins the next member.
func (n *nodeWriter) key(name string) {
	n.next()
	n.out = append(rawjson.AppendString(n.out, name), ':')
}

// next writes a comma unless the object or array is still empty.
func (n *nodeWriter) next() {
	if last := n.out[len(n.out)-1]; last != '{' && last != '[' {
		n.out = append(n.out, ',')
	}
}

// same writes a keyword as it is.
func (n *nodeWriter) same(kid *node) {
	n.key(kid.Key)
	n.out = kid.AppendRaw(n.out)
}

// inner writes a schema as the value of a keyword.
func (n *nodeWriter) inner(name string, schema *node, vs views) {
	n.key(name)
	n.out = n.write(n.out, schema, vs, false)
}

func (n *nodeWriter) keyword(kid *node) {
	switch kid.Key {
	case "properties":
		n.key(kid.Key)
		n.properties(kid)
	case "required":
		if !n.cuts.Budget { // which may take any member, where rows and long strings are not enough
			n.required(kid)
		}
	case "additionalProperties":
		n.inner(kid.Key, kid, n.others())
	case "items":
		if kid.Kind == jsonschema.Array {
			n.prefix(kid)
		} else {
			n.inner(kid.Key, kid, n.elements())
		}
	case "prefixItems":
		n.prefix(kid)
	case "anyOf", "oneOf":
		// What is cut may fit two of the choices, so that oneOf becomes anyOf. A second
		// one goes: to allow more is always right.
		if !n.choice {
			n.choice = true
			n.each("anyOf", kid, n.views, n.root)
		}
	case "allOf":
		n.each(kid.Key, kid, n.views, n.root)
	case "$ref":
		name := n.define(kid, n.views, n.root)
		n.failed = n.failed || name == ""
		n.key(kid.Key)
		n.out = rawjson.AppendString(n.out, "#/$defs/"+name)
	case "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains":
		if !n.rows && !n.members && !n.strings {
			n.same(kid)
		}
	case "minLength", "maxLength", "pattern", "format":
		if !n.strings {
			n.same(kid)
		}
	case "enum", "const":
		byMask := n.views.some(func(v view) bool { return v.limit != noCap || v.cutsMembers() || v.rows.set })
		if !byMask && isShort(kid) {
			n.same(kid)
		}
	case "maxProperties", "propertyNames":
		if !n.root { // the note is one more
			n.same(kid)
		}
	case "$id", "$anchor", "$dynamicAnchor":
		if !n.moved { // its own place keeps the name
			n.same(kid)
		}
	case "patternProperties", "unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas", "dependencies",
		"if", "then", "else", "minProperties", "not", "$dynamicRef", "$recursiveRef":
		n.failed = true // what it means depends on what may be missing
	default:
		n.same(kid)
	}
}

// properties writes the members that some mask keeps, and the note.
func (n *nodeWriter) properties(list *node) {
	if list != nil && list.Kind != jsonschema.Object {
		n.out = list.AppendRaw(n.out)
		return
	}
	n.out = append(n.out, '{')
	for _, kid := range list.Members() {
		kept, _ := n.views.member(kid.Key)
		if n.root && kid.Key == n.cuts.Note {
			n.noted = true // the tool has such a member itself
		}
		if len(kept) > 0 {
			n.inner(kid.Key, kid, kept)
		}
	}
	if n.root && !n.noted {
		n.key(n.cuts.Note)
		n.out = append(n.out, noteSchema...)
		n.noted = true
	}
	n.out = append(n.out, '}')
}

const noteSchema = `{"type":"object","description":"What was left out of this result, and the ref to fetch it with."}`

// required writes the names that no mask leaves out.
func (n *nodeWriter) required(list *node) {
	if list.Kind != jsonschema.Array {
		n.same(list)
		return
	}
	n.key(list.Key)
	n.out = append(n.out, '[')
	for _, kid := range list.Kids {
		if _, missing := n.views.member(kid.Text); missing {
			continue
		}
		n.next()
		n.out = kid.AppendRaw(n.out)
	}
	n.out = append(n.out, ']')
}

// others are the views of members that are not named.
func (n *nodeWriter) others() views { return n.views.each(view.members) }

func (n *nodeWriter) elements() views {
	return n.views.each(func(v view) []view {
		v.rows = slice{}
		return []view{v}
	})
}

// prefix writes the schemas of the first elements. Those that a slice moves have no place.
func (n *nodeWriter) prefix(list *node) {
	if n.views.some(func(v view) bool { return v.rows.last || v.rows.from > 0 }) {
		n.failed = true
		return
	}
	n.each(list.Key, list, n.elements(), false)
}

// each writes the schemas of a list.
func (n *nodeWriter) each(name string, list *node, vs views, root bool) {
	n.key(name)
	if list.Kind != jsonschema.Array {
		n.out = list.AppendRaw(n.out)
		return
	}
	n.out = append(n.out, '[')
	for _, kid := range list.Kids {
		n.next()
		n.out = n.write(n.out, kid, vs, root)
	}
	n.out = append(n.out, ']')
}
