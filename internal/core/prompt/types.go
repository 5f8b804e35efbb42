package prompt

import (
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// printer writes the types of one tool's arguments. Recursive and very large schemas are cut short.
type printer struct {
	out   []byte
	tree  jsonschema.Tree
	root  *node // nil: no readable schema
	index *jsonschema.Index
	lines bool    // one property to a line, with comments; else all on one line
	brief bool    // long lists of values and deep objects are cut
	code  bool    // types are named as TypeScript names them
	depth int     // of objects and arrays around
	left  int     // schemas that may still be written
	refs  []*node // targets of the references being followed
}

const (
	maxSchemas = 600 // of one tool
	maxDepth   = 24
	maxInline  = 3  // levels of objects in a signature
	maxChoices = 12 // values of an enum in a signature
)

// start prepares for the next tool.
func (p *printer) start(schema []byte) {
	out := p.out[len(p.out):] // what was written before is kept
	if cap(out) < 2<<10 {
		out = make([]byte, 0, 32<<10)
	}
	*p = printer{tree: p.tree, left: maxSchemas, refs: p.refs[:0], out: out}
	p.tree.Reset()
	p.root, _ = p.tree.Parse(schema)
}

// binding is the precedence of a written type.
type binding uint8

const (
	atom binding = iota
	choice
	both
)

// schema writes a schema as a type.
func (p *printer) schema(n *node) binding {
	p.left--
	if p.left < 0 || p.depth > maxDepth {
		return p.word(outer(n))
	}
	if ref := reference(n); ref != nil {
		return p.follow(ref)
	}
	from := len(p.out)
	how := atom
	if !combines(n) || n.Get("properties") != nil || more(n) != nil || kind(n) != "object" { // it says more than its alternatives
		how = p.own(n)
	}
	how = p.combine(from, how, n.Get("anyOf"), true)
	how = p.combine(from, how, n.Get("oneOf"), true)
	how = p.combine(from, how, n.Get("allOf"), false)
	if len(p.out) == from {
		p.word(outer(n))
	}
	if n.Get("nullable").IsTrue() {
		p.out = append(p.out, "|null"...)
		how = choice
	}
	return how
}

// outer returns the kind of a schema whose inside is not written.
func outer(n *node) string {
	if k := kind(n); k != "" {
		return k
	}
	return "any"
}

// follow writes the target of a reference.
func (p *printer) follow(ref *node) binding {
	target := p.resolve(ref)
	if target == nil || slices.Contains(p.refs, target) {
		return p.word(outer(target))
	}
	p.refs = append(p.refs, target)
	how := p.schema(target)
	p.refs = p.refs[:len(p.refs)-1]
	return how
}

// own writes a schema without its alternatives.
func (p *printer) own(n *node) binding {
	if constant := n.Get("const"); constant != nil {
		return p.literal(constant)
	}
	if enum := n.Get("enum"); isArray(enum) {
		return p.choices(enum)
	}
	if types := n.Get("type"); isArray(types) {
		return p.several(n, types)
	}
	return p.kind(n, kind(n))
}

// kind writes a schema as one of the types that it may have.
func (p *printer) kind(n *node, kind string) binding {
	switch kind {
	case "":
		return atom
	case "object":
		return p.object(n)
	case "array":
		return p.array(n)
	}
	return p.word(kind)
}

// word writes the name of a type. Unknown ones are written as they are.
func (p *printer) word(kind string) binding {
	if p.code {
		switch kind {
		case "integer":
			kind = "number"
		case "array":
			kind = "any[]"
		}
	}
	p.out = append(p.out, oneLine(kind)...)
	return atom
}

// several writes a list of types.
func (p *printer) several(n, types *node) binding {
	from := len(p.out)
	for _, kid := range types.Kids {
		if kid.Kind != jsonschema.String {
			continue
		}
		if len(p.out) > from {
			p.out = append(p.out, '|')
		}
		start := len(p.out)
		p.group(start, p.kind(n, kid.Text), choice)
	}
	if len(p.out) == from {
		return p.word("any")
	}
	return choice
}

// choices writes the values of an enum.
func (p *printer) choices(list *node) binding {
	if len(list.Kids) == 0 {
		return p.word("never")
	}
	for i, kid := range list.Kids {
		if i > 0 {
			p.out = append(p.out, '|')
		}
		if p.brief && i == maxChoices {
			p.out = append(p.out, "…"...)
			break
		}
		p.literal(kid)
	}
	if len(list.Kids) > 1 {
		return choice
	}
	return atom
}

// literal writes a value.
func (p *printer) literal(n *node) binding {
	from := len(p.out)
	p.out = n.AppendRaw(p.out)
	p.out = append(p.out[:from], rawjson.OneLine(p.out[from:])...)
	return atom
}
