package prompt

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// SignatureOf is a tool on one line: what it takes and the first sentence of what it does.
func SignatureOf(t *Tool) string {
	var p printer
	return strings.TrimSuffix(string(p.signature(t)), "\n")
}

// TypeScriptOf is a tool with all its details.
func TypeScriptOf(t *Tool) string {
	var p printer
	return string(p.typeScript(t))
}

func (p *printer) signature(t *Tool) []byte {
	p.start(t.Schema)
	p.brief = true
	p.out = append(append(p.out, oneLine(t.Name)...), '(')
	switch n := p.arguments(); {
	case !n.takes():
	case n.onlyProperties():
		p.depth++
		p.members(&n)
	default:
		p.out = append(p.out, "_: "...)
		p.node(&n)
	}
	p.out = append(p.out, ')')
	if s := sentence(t.Description); s != "" {
		p.out = append(p.out, " — "+s...)
	}
	p.out = append(p.out, '\n')
	return slices.Clip(p.out)
}

func (p *printer) typeScript(t *Tool) []byte {
	p.start(t.Schema)
	p.lines = true
	p.out = appendComment(p.out, t.Description)
	if example := oneLine(string(t.Example)); example != "" {
		p.out = append(p.out, "// Example: "+example+"\n"...)
	}
	p.out = append(append(append(p.out, "type "...), oneLine(t.Name)...), " = ("...)
	if n := p.arguments(); n.takes() {
		p.out = append(p.out, "_: "...)
		p.node(&n)
	}
	p.out = append(p.out, ") => any;\n"...)
	return slices.Clip(p.out)
}

// arguments is the schema of a tool's arguments, itself no reference.
func (p *printer) arguments() node {
	n := read(p.root)
	if n.ref != nil && n.properties == nil {
		p.refs = append(p.refs, n.ref)
		n = read(resolve(p.root, n.ref))
	}
	n.ref = nil
	return n
}

// takes tells whether a tool with these arguments takes any.
func (n *node) takes() bool {
	if isObject(n.properties) {
		for w := rawjson.Object(n.properties); w.Next(); {
			return true
		}
	}
	return isObject(n.more) || n.combines()
}

// onlyProperties tells whether a schema is a plain object.
func (n *node) onlyProperties() bool {
	return isObject(n.properties) && n.kind() == "object" && !n.combines()
}
