package prompt

import (
	"unicode"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func (p *printer) array(n *node) binding {
	p.depth++
	defer func() { p.depth-- }()
	items := n.Get("items")
	if tuple := tuple(n); tuple != nil {
		p.out = append(p.out, '[')
		for i, kid := range tuple.Kids {
			if i > 0 {
				p.out = append(p.out, ", "...)
			}
			p.schema(kid)
		}
		p.out = append(p.out, ']')
		return atom
	}
	from := len(p.out)
	if isObject(items) {
		p.group(from, p.schema(items), atom)
	} else {
		p.word("any")
	}
	p.out = append(p.out, "[]"...)
	return atom
}

// tuple returns the schemas of the positions of a tuple, or nil.
func tuple(n *node) *node {
	for _, key := range [...]string{"prefixItems", "items"} {
		if list := n.Get(key); isArray(list) {
			return list
		}
	}
	return nil
}

func (p *printer) object(n *node) binding {
	p.depth++
	defer func() { p.depth-- }()
	if !isObject(n.Get("properties")) || p.brief && p.depth > maxInline {
		more := more(n)
		if more == nil {
			return p.word("object")
		}
		p.out = append(p.out, "Record<string, "...)
		p.schema(more)
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

// members writes the members of an object, in the order of the schema.
func (p *printer) members(n *node) {
	for _, kid := range n.Get("properties").Members() {
		p.separate()
		if p.lines {
			p.comment(kid)
		}
		p.out = appendKey(p.out, kid.Key)
		if !requires(n, kid.Key) {
			p.out = append(p.out, '?')
		}
		p.out = append(p.out, ": "...)
		p.schema(kid)
	}
	if more := more(n); more != nil {
		p.separate()
		p.out = append(p.out, "[key: string]: "...)
		p.schema(more)
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

// appendKey writes a property's name, quoted unless it is an identifier.
func appendKey(out []byte, key string) []byte {
	for i, r := range key {
		if !(r == '_' || r == '$' || i > 0 && r >= '0' && r <= '9' || unicode.IsLetter(r)) {
			return rawjson.AppendString(out, key)
		}
	}
	if len(key) == 0 {
		return append(out, `""`...)
	}
	return append(out, key...)
}
