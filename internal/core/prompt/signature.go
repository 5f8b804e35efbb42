package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// SignatureOf returns a tool on one line: its parameters and the first sentence of its
// description.
func SignatureOf(t *Tool) string {
	var p printer
	return strings.TrimSuffix(string(p.signature(t)), "\n")
}

// TypeScriptOf returns a tool with all its details.
func TypeScriptOf(t *Tool) string {
	var p printer
	return string(p.typeScript(t))
}

func (p *printer) signature(t *Tool) []byte {
	p.start(t.Schema)
	p.brief = true
	p.out = append(append(p.out, oneLine(t.Name)...), '(')
	switch n := p.arguments(); {
	case !takes(n):
	case isObject(n.Get("properties")) && kind(n) == "object" && !combines(n): // a plain object
		p.depth++
		p.members(n)
	default:
		p.out = append(p.out, "_: "...)
		p.schema(n)
	}
	p.out = append(p.out, ')')
	if s := sentence(t.Description); s != "" {
		p.out = append(p.out, " — "+s...)
	}
	p.out = append(p.out, '\n')
	return slices.Clip(p.out)
}

func (p *printer) typeScript(t *Tool) []byte {
	result := p.result(t.Result, printer{brief: true})
	p.start(t.Schema)
	p.lines = true
	p.out = appendComment(p.out, t.Description)
	if example := oneLine(string(t.Example)); example != "" {
		p.out = append(p.out, "// Example: "+example+"\n"...)
	}
	p.out = append(append(append(p.out, "type "...), oneLine(t.Name)...), " = ("...)
	if n := p.arguments(); takes(n) {
		p.out = append(p.out, "_: "...)
		p.schema(n)
	}
	p.out = append(append(append(p.out, ") => "...), result...), ';')
	if t.Seen > 0 {
		p.out = fmt.Appendf(p.out, " // seen in %d+ results", about(t.Seen))
	}
	p.out = append(p.out, '\n')
	return slices.Clip(p.out)
}

// arguments returns the schema of a tool's arguments, with references resolved.
func (p *printer) arguments() *node {
	n := p.root
	ref := reference(n)
	for ref != nil && n.Get("properties") == nil {
		target := p.resolve(ref)
		if target == nil || slices.Contains(p.refs, target) {
			break
		}
		p.refs = append(p.refs, target)
		n = target
		ref = reference(n)
	}
	if ref != nil {
		return without(n, ref.Key)
	}
	return n
}

// takes reports whether a tool has any arguments.
func takes(n *node) bool {
	return len(n.Get("properties").Members()) > 0 || more(n) != nil || combines(n)
}
