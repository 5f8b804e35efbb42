package prompt

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// printer writes the types of one tool's arguments. Cycles and trees that grow without end
// are cut: where one would go on, only its outermost kind is written.
type printer struct {
	out      []byte
	root     []byte
	lines    bool     // one property to a line, with comments; else all on one line
	brief    bool     // long lists of values and deep objects are cut
	depth    int      // of objects and arrays around
	left     int      // schemas that may still be written
	refs     [][]byte // references that are being followed
	required [][]byte
}

const (
	maxSchemas = 600 // of one tool
	maxDepth   = 24
	maxInline  = 3  // levels of objects in a signature
	maxChoices = 12 // values of an enum in a signature
)

// start prepares for the next tool.
func (p *printer) start(root []byte) {
	out := p.out[len(p.out):] // what was written before is kept
	if cap(out) < 2<<10 {
		out = make([]byte, 0, 32<<10)
	}
	*p = printer{root: root, left: maxSchemas, refs: p.refs[:0], required: p.required[:0], out: out}
}

// binding is how strongly a written type holds together.
type binding uint8

const (
	atom binding = iota
	choice
	both
)

// schema writes a schema as a type.
func (p *printer) schema(raw []byte) binding {
	n := read(raw)
	return p.node(&n)
}

func (p *printer) node(n *node) binding {
	if p.left--; p.left < 0 || p.depth > maxDepth {
		return p.word(outer(n))
	}
	if n.ref != nil {
		return p.follow(n)
	}
	from := len(p.out)
	how := atom
	if !n.onlyCombines() {
		how = p.own(n)
	}
	how = p.combine(from, how, n.anyOf, true)
	how = p.combine(from, how, n.oneOf, true)
	how = p.combine(from, how, n.allOf, false)
	if len(p.out) == from {
		p.word(outer(n))
	}
	if n.nullable {
		p.out = append(p.out, "|null"...)
		how = choice
	}
	return how
}

// outer is the kind of a schema whose inside is not written.
func outer(n *node) string {
	if k := n.kind(); k != "" {
		return k
	}
	return "any"
}

// follow writes what a reference means.
func (p *printer) follow(n *node) binding {
	target := resolve(p.root, n.ref)
	inner := read(target)
	if target == nil || slices.ContainsFunc(p.refs, func(r []byte) bool { return bytes.Equal(r, n.ref) }) {
		return p.word(outer(&inner))
	}
	p.refs = append(p.refs, n.ref)
	how := p.schema(target)
	p.refs = p.refs[:len(p.refs)-1]
	return how
}

// own writes what a schema says itself, without its alternatives.
func (p *printer) own(n *node) binding {
	switch {
	case n.constant != nil:
		return p.literal(n.constant)
	case isArray(n.enum):
		return p.choices(n.enum)
	case isArray(n.typ):
		return p.several(n)
	}
	switch k := n.kind(); k {
	case "":
		return atom
	case "object":
		return p.object(n)
	case "array":
		return p.array(n)
	default:
		return p.word(k)
	}
}

// word writes the name of a type. One that JSON Schema does not know is written as it is.
func (p *printer) word(kind string) binding {
	p.out = append(p.out, oneLine(kind)...)
	return atom
}

// several writes a list of types.
func (p *printer) several(n *node) binding {
	from := len(p.out)
	one := *n
	for w := rawjson.Array(n.typ); w.Next(); {
		if len(p.out) > from {
			p.out = append(p.out, '|')
		}
		one.typ = w.Value
		p.group(len(p.out), p.own(&one), choice)
	}
	if len(p.out) == from {
		return p.word("any")
	}
	return choice
}

// choices writes the values of an enum.
func (p *printer) choices(list []byte) binding {
	from, count := len(p.out), 0
	for w := rawjson.Array(list); w.Next(); count++ {
		if count > 0 {
			p.out = append(p.out, '|')
		}
		if p.brief && count == maxChoices {
			p.out = append(p.out, "…"...)
			break
		}
		p.literal(w.Value)
	}
	if len(p.out) == from {
		return p.word("never")
	}
	if count > 1 {
		return choice
	}
	return atom
}

// literal writes a value.
func (p *printer) literal(raw []byte) binding {
	if s, ok := rawjson.String(raw); ok {
		p.out = rawjson.AppendString(p.out, s)
	} else {
		p.out = append(p.out, rawjson.OneLine(raw)...)
	}
	return atom
}
