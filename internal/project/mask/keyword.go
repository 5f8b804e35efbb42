package mask

import "github.com/toolfit/toolfit/internal/rawjson"

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

func (n *nodeWriter) add(keyword string, value []byte) {
	if n.out[len(n.out)-1] != '{' {
		n.out = append(n.out, ',')
	}
	n.out = append(rawjson.AppendString(n.out, keyword), ':')
	n.out = append(n.out, value...)
}

func (n *nodeWriter) keyword(name string, value []byte) {
	switch name {
	case "properties":
		n.add(name, n.properties(value))
	case "required":
		if !n.cuts.Budget { // which may take any member, where rows and long strings are not enough
			n.add(name, n.required(value))
		}
	case "additionalProperties":
		n.add(name, n.write(value, n.others(), false))
	case "items":
		n.items(name, value)
	case "prefixItems":
		n.prefix(name, value)
	case "anyOf", "oneOf":
		// What is cut may fit two of the choices, so that oneOf becomes anyOf. A second
		// one goes: to allow more is always right.
		if !n.choice {
			n.choice = true
			n.add("anyOf", n.each(value, n.views, n.root))
		}
	case "allOf":
		n.add(name, n.each(value, n.views, n.root))
	case "$ref":
		n.add(name, n.reference(value, n.views, n.root))
	case "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains":
		if !n.rows && !n.members && !n.strings {
			n.add(name, value)
		}
	case "minLength", "maxLength", "pattern", "format":
		if !n.strings {
			n.add(name, value)
		}
	case "enum", "const":
		byMask := n.views.some(func(v view) bool { return v.limit != noCap || v.cutsMembers() || v.rows.set })
		if !byMask && isShortEnum(value) {
			n.add(name, value)
		}
	case "maxProperties", "propertyNames":
		if !n.root { // the note is one more
			n.add(name, value)
		}
	case "patternProperties", "unevaluatedProperties", "unevaluatedItems", "dependentRequired", "dependentSchemas", "dependencies",
		"if", "then", "else", "minProperties", "not", "$dynamicRef", "$recursiveRef":
		n.failed = true // what it means depends on what may be missing
	default:
		n.add(name, value)
	}
}

// properties writes the members that some mask keeps.
func (n *nodeWriter) properties(value []byte) []byte {
	if value[0] != '{' {
		return value
	}
	p := nodeWriter{out: []byte{'{'}}
	for w := rawjson.Object(value); w.Next(); {
		kept, _ := n.views.member(string(w.Key))
		if n.root && string(w.Key) == n.cuts.Note {
			n.noted = true // the tool has such a member itself
		}
		if len(kept) > 0 {
			p.add(string(w.Key), n.write(w.Value, kept, false))
		}
	}
	if n.root && !n.noted {
		p.add(n.cuts.Note, []byte(noteSchema))
		n.noted = true
	}
	return append(p.out, '}')
}

const noteSchema = `{"type":"object","description":"What was left out of this result, and the ref to fetch it with."}`

// note is the properties of a root that has none.
func (n *nodeWriter) note() []byte {
	p := nodeWriter{out: []byte{'{'}}
	p.add(n.cuts.Note, []byte(noteSchema))
	return append(p.out, '}')
}

// required writes the names that no mask leaves out.
func (n *nodeWriter) required(value []byte) []byte {
	if value[0] != '[' {
		return value
	}
	out := []byte{'['}
	for w := rawjson.Array(value); w.Next(); {
		name, ok := rawjson.String(w.Value)
		if _, missing := n.views.member(name); ok && missing {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, w.Value...)
	}
	return append(out, ']')
}

// others are the views of members that are not named.
func (n *nodeWriter) others() (out views) {
	for _, v := range n.views {
		out = append(out, v.members()...)
	}
	return out.distinct()
}

func (n *nodeWriter) elements() (out views) {
	for _, v := range n.views {
		out = append(out, v.element())
	}
	return out.distinct()
}

func (n *nodeWriter) items(name string, value []byte) {
	if value[0] == '[' {
		n.prefix(name, value)
		return
	}
	n.add(name, n.write(value, n.elements(), false))
}

// prefix writes the schemas of the first elements. Those that a slice moves have no place.
func (n *nodeWriter) prefix(name string, value []byte) {
	if n.views.some(func(v view) bool { return v.rows.last || v.rows.from > 0 }) {
		n.failed = true
		return
	}
	n.add(name, n.each(value, n.elements(), false))
}

func (n *nodeWriter) each(value []byte, vs views, root bool) []byte {
	if value[0] != '[' {
		return value
	}
	out := []byte{'['}
	for w := rawjson.Array(value); w.Next(); {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, n.write(w.Value, vs, root)...)
	}
	return append(out, ']')
}
