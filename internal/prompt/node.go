package prompt

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// node is one schema, its keywords as raw JSON; nil where there is none.
type node struct {
	typ, ref, description, enum, constant, properties, required, items, prefix, more []byte
	anyOf, oneOf, allOf, fallback, format, pattern                                   []byte
	min, max, above, below, step, minLength, maxLength, minItems, maxItems           []byte
	nullable                                                                         bool
}

// read takes a schema apart. What is no object is a schema that says nothing.
func read(raw []byte) (n node) {
	if !isObject(raw) {
		return n
	}
	for w := rawjson.Object(raw); w.Next(); {
		if at := n.keyword(string(w.Key)); at != nil {
			*at = w.Value
		} else if string(w.Key) == "nullable" {
			n.nullable = string(w.Value) == "true"
		}
	}
	if !isArray(n.typ) && plain(n.typ) == nil {
		n.typ = nil
	}
	if isObject(n.more) {
		if more := read(n.more); !more.says() {
			n.more = nil // anything may come, as everywhere
		}
	}
	return n
}

// keyword is where the value of a keyword belongs.
func (n *node) keyword(key string) *[]byte {
	switch key {
	case "type":
		return &n.typ
	case "$ref", "$dynamicRef", "$recursiveRef":
		return &n.ref
	case "description":
		return &n.description
	case "enum":
		return &n.enum
	case "const":
		return &n.constant
	case "properties":
		return &n.properties
	case "required":
		return &n.required
	case "items":
		return &n.items
	case "prefixItems":
		return &n.prefix
	case "additionalProperties":
		return &n.more
	case "anyOf":
		return &n.anyOf
	case "oneOf":
		return &n.oneOf
	case "allOf":
		return &n.allOf
	}
	return n.limit(key)
}

// limit is keyword for those that narrow a type.
func (n *node) limit(key string) *[]byte {
	switch key {
	case "default":
		return &n.fallback
	case "format":
		return &n.format
	case "pattern":
		return &n.pattern
	case "minimum":
		return &n.min
	case "maximum":
		return &n.max
	case "exclusiveMinimum":
		return &n.above
	case "exclusiveMaximum":
		return &n.below
	case "multipleOf":
		return &n.step
	case "minLength":
		return &n.minLength
	case "maxLength":
		return &n.maxLength
	case "minItems":
		return &n.minItems
	case "maxItems":
		return &n.maxItems
	}
	return nil
}

// says tells whether a schema says anything about its type.
func (n *node) says() bool {
	return n.typ != nil || n.ref != nil || n.enum != nil || n.constant != nil || n.properties != nil || n.items != nil || n.prefix != nil ||
		n.anyOf != nil || n.oneOf != nil || n.allOf != nil || isObject(n.more)
}

// combines tells whether a schema has alternatives or parts that say anything. Those that
// only name what is required do not.
func (n *node) combines() bool {
	return says(n.anyOf) || says(n.oneOf) || says(n.allOf)
}

// says tells whether one of a list of schemas says anything about its type.
func says(list []byte) bool {
	if !isArray(list) {
		return false
	}
	for w := rawjson.Array(list); w.Next(); {
		if part := read(w.Value); part.says() {
			return true
		}
	}
	return false
}

// onlyCombines tells whether all that a schema says beside its alternatives is that it is an object.
func (n *node) onlyCombines() bool {
	return n.kind() == "object" && n.properties == nil && !isObject(n.more) && n.combines()
}

// kind is the one type that a schema names or must mean; "" where it is open.
func (n *node) kind() string {
	switch {
	case n.typ != nil:
		return kindName(plain(n.typ))
	case n.properties != nil || isObject(n.more):
		return "object"
	case n.items != nil || n.prefix != nil:
		return "array"
	}
	return ""
}

// kindName is the name of a kind; those of JSON Schema cost no memory.
func kindName(name []byte) string {
	for _, known := range [...]string{"string", "object", "array", "integer", "number", "boolean", "null"} {
		if string(name) == known {
			return known
		}
	}
	return string(name)
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }

// resolve finds what a reference in the document means; nil when it is not in there.
func resolve(root, ref []byte) []byte {
	target, ok := rawjson.String(ref)
	if !ok {
		return nil
	}
	path, ok := strings.CutPrefix(target, "#")
	if !ok {
		return named(root, target)
	}
	if path != "" && path[0] != '/' {
		return named(root, path)
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			return at
		}
		if step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"); isArray(at) {
			at = element(at, step)
		} else {
			at = rawjson.Get(at, step)
		}
		if at == nil {
			return nil
		}
	}
	return at
}

// element is the member of an array that a step of a path names.
func element(list []byte, step string) []byte {
	i := 0
	for w := rawjson.Array(list); w.Next(); i++ {
		if strconv.Itoa(i) == step {
			return w.Value
		}
	}
	return nil
}

// named finds the definition that goes by an anchor or an id.
func named(root []byte, name string) []byte {
	for _, under := range []string{"$defs", "definitions"} {
		for w := rawjson.Object(rawjson.Get(root, under)); w.Next(); {
			for _, key := range []string{"$anchor", "$dynamicAnchor", "$id"} {
				if s, ok := rawjson.String(rawjson.Get(w.Value, key)); ok && s == name {
					return w.Value
				}
			}
		}
	}
	return nil
}

// plain is the text of a JSON string; nil when raw is none. It allocates only for escapes.
func plain(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	s, _ := rawjson.String(raw)
	return []byte(s)
}
