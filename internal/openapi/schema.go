package openapi

import (
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// way is the direction that a schema describes.
type way uint8

const (
	request  way = iota // what is sent: exact, without what only the server sets
	response            // what comes back: names and types alone, since servers say more and less than they promise
)

// hides is the keyword that takes a property out of this direction.
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
	refs []*definition // what the written schemas refer to
	self string        // the pointer of the definition that is written; "" for a schema of its own
	here bool          // the schema speaks of the same value as the definition
}

// schema appends n.
func (w *schemaWriter) schema(dst []byte, n *node) []byte {
	switch n.kind {
	case boolKind:
		return append(dst, n.text...)
	case objectKind:
		dst = w.members(append(dst, '{'), n, nil)
		return append(dst, '}')
	}
	w.bad.add(n.pointer(), "is no schema; it accepts anything")
	return append(dst, "{}"...)
}

// inside appends n, which speaks of a part of the value.
func (w *schemaWriter) inside(dst []byte, n *node) []byte {
	here := w.here
	w.here = false
	dst = w.schema(dst, n)
	w.here = here
	return dst
}

// members appends the keywords of n but those to omit.
func (w *schemaWriter) members(dst []byte, n *node, omit map[string]bool) []byte {
	if ref := n.ref(); ref != nil && !omit["$ref"] {
		if other := n.get("$dynamicRef"); other != nil && other != ref {
			w.bad.add(other.pointer(), "stands beside $ref; left out")
		}
		if ref.kind != stringKind {
			w.bad.add(ref.pointer(), "is no text; left out")
		} else {
			var whole bool
			if dst, whole = w.reference(dst, n, ref); whole {
				return dst
			}
			if w.d.format.lonely() {
				return w.guidance(dst, n, omit)
			}
		}
	}
	for i := range n.kids {
		kid := &n.kids[i]
		if omit[kid.key] {
			continue
		}
		if kid.twice {
			w.bad.add(kid.pointer(), "stands there twice; the last one counts")
		}
		dst = w.keyword(dst, n, kid)
	}
	return dst
}

// guidance appends what is useful beside a reference and constrains nothing.
func (w *schemaWriter) guidance(dst []byte, n *node, omit map[string]bool) []byte {
	for _, key := range []string{"title", "description", "default", "deprecated"} {
		if kid := n.get(key); kid != nil && !omit[key] {
			dst = w.keyword(dst, n, kid)
		}
	}
	return dst
}

// name appends the name of a member.
func name(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(rawjson.AppendString(dst, key), ':')
}

// keyword appends one keyword, or nothing.
func (w *schemaWriter) keyword(dst []byte, n, kid *node) []byte {
	if rule, ok := keywords[kid.key]; ok {
		return w.plain(dst, n, kid, rule)
	}
	switch kid.key {
	case "description":
		if kid.kind == stringKind && kid.text != "" {
			dst = kid.append(name(dst, kid.key))
		}
	case "type":
		dst = w.types(dst, n, kid)
	case "enum", "const":
		dst = w.values(dst, n, kid)
	case "examples":
		if kid.kind == arrayKind && w.way == request {
			dst = kid.append(name(dst, kid.key))
		}
	case "properties":
		dst = w.properties(dst, n, kid)
	case "required":
		dst = w.required(dst, n, kid)
	case "additionalProperties":
		if w.way == request || kid.kind == objectKind {
			dst = w.plain(dst, n, kid, keyword{shape: isSchema, loose: true})
		}
	case "items":
		dst = w.items(dst, n, kid)
	case "anyOf", "oneOf":
		dst = w.union(dst, n, kid)
	case "exclusiveMinimum", "exclusiveMaximum":
		dst = w.bound(dst, n, kid)
	}
	return dst
}

// plain appends a keyword that is carried over as it is.
func (w *schemaWriter) plain(dst []byte, n, kid *node, rule keyword) []byte {
	if w.way == response && !rule.loose {
		return dst
	}
	if !rule.shape.fits(kid) {
		w.bad.add(kid.pointer(), "is not what this keyword takes; left out")
		return dst
	}
	if (kid.key == "minimum" || kid.key == "maximum") && n.is("exclusiveM"+kid.key[1:]) {
		return dst // the exclusive bound says it
	}
	if kid.key == "multipleOf" && !isPositive(kid.text) {
		w.bad.add(kid.pointer(), "is not above zero; left out")
		return dst
	}
	dst = name(dst, kid.key)
	here := w.here
	w.here = here && rule.inPlace
	switch rule.shape {
	case isSchema:
		dst = w.schema(dst, kid)
	case isSchemas:
		dst = w.schemas(dst, kid)
	case isSchemaMap:
		dst = append(dst, '{')
		for i := range kid.kids {
			dst = w.schema(name(dst, kid.kids[i].key), &kid.kids[i])
		}
		dst = append(dst, '}')
	default:
		dst = kid.append(dst)
	}
	w.here = here
	return dst
}

// isPositive tells whether a number's text means more than zero.
func isPositive(text string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	return text[0] != '-' && strings.ContainsAny(digits, "123456789")
}

func (w *schemaWriter) schemas(dst []byte, list *node) []byte {
	dst = append(dst, '[')
	for i := range list.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.schema(dst, &list.kids[i])
	}
	return append(dst, ']')
}

// items appends the schema of elements. A list of schemas is the old way to write a tuple.
func (w *schemaWriter) items(dst []byte, n, kid *node) []byte {
	switch {
	case kid.kind == arrayKind && n.get("prefixItems") == nil:
		return w.plain(dst, n, &node{kind: arrayKind, key: "prefixItems", kids: kid.kids, parent: kid.parent}, keywords["prefixItems"])
	case kid.kind == objectKind || kid.kind == boolKind:
		return w.inside(name(dst, "items"), kid)
	}
	w.bad.add(kid.pointer(), "is no schema; left out")
	return dst
}

// bound appends an exclusive bound. Before 3.1 it was a boolean beside the bound itself.
func (w *schemaWriter) bound(dst []byte, n, kid *node) []byte {
	if w.way == response {
		return dst
	}
	if kid.kind == boolKind {
		limit := n.get("m" + kid.key[len("exclusiveM"):])
		if kid.text == "true" && limit != nil && limit.kind == numberKind {
			dst = limit.append(name(dst, kid.key))
		}
		return dst
	}
	return w.plain(dst, n, kid, keyword{shape: isNumber})
}
