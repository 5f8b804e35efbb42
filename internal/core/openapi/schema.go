package openapi

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// way is the direction that a schema describes.
type way uint8

const (
	request  way = iota // sent: exact, without properties that only the server sets
	response            // received: only names and types, since servers deviate from their documents
)

// hides is the keyword that removes a property from this direction.
func (w way) hides() string {
	if w == request {
		return "readOnly"
	}
	return "writeOnly"
}

// schemaWriter writes schemas of the document as JSON Schema 2020-12.
type schemaWriter struct {
	d    *Document
	way  way
	bad  *problems
	refs []*definition // definitions that the written schemas refer to
	self string        // pointer of the definition being written; "" outside of definitions
	here bool          // the schema applies to the same value as the definition

	parents []string // pointers of the unions being written in place of a reference
}

// schema appends n.
func (w *schemaWriter) schema(dst []byte, n *node) []byte {
	switch n.Kind {
	case jsonschema.Bool:
		return append(dst, n.Text...)
	case jsonschema.Object:
		dst = w.members(append(dst, '{'), n, nil)
		return append(dst, '}')
	}
	w.bad.add(n.Pointer(), "is not a schema; accepts anything")
	return append(dst, "{}"...)
}

// inside appends n, which applies to a part of the value.
func (w *schemaWriter) inside(dst []byte, n *node) []byte {
	here := w.here
	w.here = false
	dst = w.schema(dst, n)
	w.here = here
	return dst
}

// members appends the keywords of n except those in omit.
func (w *schemaWriter) members(dst []byte, n *node, omit map[string]bool) []byte {
	if ref := refOf(n); ref != nil && !omit["$ref"] {
		if other := n.Get("$dynamicRef"); other != nil && other != ref {
			w.bad.add(other.Pointer(), "is beside $ref; ignored")
		}
		if ref.Kind != jsonschema.String {
			w.bad.add(ref.Pointer(), "is not a string; ignored")
		} else {
			var whole bool
			dst, whole = w.reference(dst, n, ref)
			if whole {
				return dst
			}
			if w.d.format.refAlone() {
				return w.guidance(dst, n, omit)
			}
		}
	}
	for _, kid := range n.Kids {
		if omit[kid.Key] {
			continue
		}
		if kid.Twice {
			w.bad.add(kid.Pointer(), "is a duplicate; the last one counts")
		}
		dst = w.keyword(dst, n, kid)
	}
	return dst
}

// guidance appends the annotations beside a reference.
func (w *schemaWriter) guidance(dst []byte, n *node, omit map[string]bool) []byte {
	for _, key := range []string{"title", "description", "default", "deprecated"} {
		if kid := n.Get(key); kid != nil && !omit[key] {
			dst = w.keyword(dst, n, kid)
		}
	}
	return dst
}

// name appends the name of a member.
func name(dst []byte, key string) []byte {
	return append(rawjson.AppendString(comma(dst), key), ':')
}

// comma appends a comma unless the object or array is still empty.
func comma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last != '{' && last != '[' {
		dst = append(dst, ',')
	}
	return dst
}

// keyword appends one keyword, or nothing.
func (w *schemaWriter) keyword(dst []byte, n, kid *node) []byte {
	if loose, ok := carried[kid.Key]; ok {
		return w.plain(dst, n, kid, loose)
	}
	switch kid.Key {
	case "description":
		if kid.Kind == jsonschema.String && kid.Text != "" {
			dst = kid.Append(name(dst, kid.Key))
		}
	case "type":
		dst = w.types(dst, n, kid)
	case "enum", "const":
		dst = w.values(dst, n, kid)
	case "examples":
		if kid.Kind == jsonschema.Array && w.way == request {
			dst = kid.Append(name(dst, kid.Key))
		}
	case "properties":
		dst = w.properties(dst, n, kid)
	case "required":
		dst = w.required(dst, n, kid)
	case "additionalProperties":
		if w.way == request || kid.Kind == jsonschema.Object {
			dst = w.plain(dst, n, kid, true)
		}
	case "items":
		dst = w.items(dst, n, kid)
	case "anyOf", "oneOf":
		dst = w.union(dst, n, kid)
	}
	return dst
}

// plain appends a keyword unchanged; in results only if it is loose.
func (w *schemaWriter) plain(dst []byte, n, kid *node, loose bool) []byte {
	kid = n.Bound(kid)
	if kid == nil || w.way == response && !loose {
		return dst
	}
	if !kid.Fits() {
		w.bad.add(kid.Pointer(), "has the wrong type or value; ignored")
		return dst
	}
	dst = name(dst, kid.Key)
	here := w.here
	rule := jsonschema.Keywords[kid.Key]
	w.here = here && rule.InPlace
	switch rule.Holds {
	case jsonschema.OneSchema:
		dst = w.schema(dst, kid)
	case jsonschema.SchemaList:
		dst = w.schemas(dst, kid)
	case jsonschema.SchemaMap:
		dst = append(dst, '{')
		for _, k := range kid.Kids {
			dst = w.schema(name(dst, k.Key), k)
		}
		dst = append(dst, '}')
	default:
		dst = kid.Append(dst)
	}
	w.here = here
	return dst
}

func (w *schemaWriter) schemas(dst []byte, list *node) []byte {
	dst = append(dst, '[')
	for _, kid := range list.Kids {
		dst = w.schema(comma(dst), kid)
	}
	return append(dst, ']')
}

// items appends the schema of elements. A list of schemas is a tuple of older drafts.
func (w *schemaWriter) items(dst []byte, n, kid *node) []byte {
	switch {
	case kid.Kind == jsonschema.Array && n.Get("prefixItems") == nil:
		return w.plain(dst, n, &node{Kind: jsonschema.Array, Key: "prefixItems", Kids: kid.Kids, Parent: kid.Parent}, true)
	case kid.Kind == jsonschema.Object || kid.Kind == jsonschema.Bool:
		return w.inside(name(dst, "items"), kid)
	}
	w.bad.add(kid.Pointer(), "is not a schema; ignored")
	return dst
}
