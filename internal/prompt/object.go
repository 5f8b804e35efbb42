package prompt

import (
	"bytes"
	"unicode"

	"github.com/toolfit/toolfit/internal/rawjson"
)

func (p *printer) array(n *node) binding {
	p.depth++
	defer func() { p.depth-- }()
	if tuple := n.prefix; isArray(tuple) || isArray(n.items) {
		if !isArray(tuple) {
			tuple = n.items
		}
		p.out = append(p.out, '[')
		for w := rawjson.Array(tuple); w.Next(); {
			if p.out[len(p.out)-1] != '[' {
				p.out = append(p.out, ", "...)
			}
			p.schema(w.Value)
		}
		p.out = append(p.out, ']')
		return atom
	}
	from := len(p.out)
	if isObject(n.items) {
		p.group(from, p.schema(n.items), atom)
	} else {
		p.word("any")
	}
	p.out = append(p.out, "[]"...)
	return atom
}

func (p *printer) object(n *node) binding {
	p.depth++
	defer func() { p.depth-- }()
	if !isObject(n.properties) || p.brief && p.depth > maxInline {
		if !isObject(n.more) {
			return p.word("object")
		}
		p.out = append(p.out, "Record<string, "...)
		p.schema(n.more)
		p.out = append(p.out, '>')
		return atom
	}
	p.out = append(p.out, '{')
	p.members(n)
	if p.lines {
		p.out = append(p.out, '\n')
	}
	p.out = append(p.out, '}')
	return atom
}

// members writes what an object holds.
func (p *printer) members(n *node) {
	p.properties(n)
	if isObject(n.more) {
		p.separate()
		p.out = append(p.out, "[key: string]: "...)
		p.schema(n.more)
	}
}

// separate begins the next property.
func (p *printer) separate() {
	last := p.out[len(p.out)-1]
	first := last == '{' || last == '('
	switch {
	case p.lines && first:
		p.out = append(p.out, '\n')
	case p.lines:
		p.out = append(p.out, ",\n"...)
	case !first:
		p.out = append(p.out, ", "...)
	}
}

// properties writes the properties of an object, in the order of the schema.
func (p *printer) properties(n *node) {
	base := len(p.required)
	needed := p.need(n)
	for w := rawjson.Object(n.properties); w.Next(); {
		p.property(w.Key, w.Value, contains(needed, w.Key))
	}
	p.required = p.required[:base]
}

// property is apart from the loop so that n stays on the stack.
func (p *printer) property(key, value []byte, needed bool) {
	n := read(value)
	p.separate()
	if p.lines {
		p.comment(&n)
	}
	p.out = appendKey(p.out, key)
	if !needed {
		p.out = append(p.out, '?')
	}
	p.out = append(p.out, ": "...)
	p.node(&n)
}

// need puts the names of an object's required properties on the stack of such names.
func (p *printer) need(n *node) [][]byte {
	base := len(p.required)
	if isArray(n.required) {
		for w := rawjson.Array(n.required); w.Next(); {
			p.required = append(p.required, plain(w.Value))
		}
	}
	return p.required[base:]
}

func contains(list [][]byte, key []byte) bool {
	for _, k := range list {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// appendKey writes a property's name, in quotes where it is no identifier.
func appendKey(out, key []byte) []byte {
	for i, r := range string(key) {
		if !(r == '_' || r == '$' || i > 0 && r >= '0' && r <= '9' || unicode.IsLetter(r)) {
			return rawjson.AppendString(out, string(key))
		}
	}
	if len(key) == 0 {
		return append(out, `""`...)
	}
	return append(out, key...)
}
