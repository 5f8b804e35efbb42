package prompt

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// markdown writes a tool in the layout that agents' prompts have always had. The line of a
// parameter never changes; what it could not say stands on lines below it.
func (p *printer) markdown(t *Tool) []byte {
	p.start(t.Schema)
	p.out = append(append(append(p.out, "**"...), oneLine(t.Name)...), "**\n"...)
	if text := flat([]byte(t.Description)); len(text) > 0 {
		p.out = append(append(append(p.out, "  "...), text...), '\n')
	}
	if n := p.arguments(); n.takes() {
		p.out = append(p.out, "  Parameters:\n"...)
		p.parameters(&n, 4)
		if n.combines() {
			n.properties = nil
			p.typeLine("as: ", &n, 4)
		}
	}
	if example := oneLine(string(t.Example)); example != "" {
		p.out = append(append(append(p.out, "  Example: "...), example...), '\n')
	}
	p.out = append(p.out, '\n')
	return slices.Clip(p.out)
}

// parameters writes a line for each property, and below it what the line does not say.
func (p *printer) parameters(n *node, indent int) {
	if !isObject(n.properties) {
		return
	}
	base := len(p.required)
	needed := p.need(n)
	for w := rawjson.Object(n.properties); w.Next(); {
		p.parameter(w.Key, w.Value, contains(needed, w.Key), indent)
	}
	p.required = p.required[:base]
}

func (p *printer) parameter(key, value []byte, needed bool, indent int) {
	n := read(value)
	p.indent(indent)
	p.out = append(append(append(p.out, "- "...), flat(key)...), " ("...)
	if kind := plain(n.typ); kind != nil {
		p.out = appendLine(p.out, kind)
	} else {
		p.out = append(p.out, "any"...)
	}
	p.out = append(p.out, "):"...)
	if text := flat(plain(n.description)); len(text) > 0 {
		p.out = append(append(p.out, ' '), text...)
	}
	if needed {
		p.out = append(p.out, " [required]\n"...)
	} else {
		p.out = append(p.out, " [optional]\n"...)
	}
	p.details(&n, indent+2)
}

// details writes what the line of a parameter does not say.
func (p *printer) details(n *node, indent int) {
	if p.left--; p.left < 0 || indent > maxIndent {
		return
	}
	if n.ref != nil {
		p.followBelow(n, indent)
		return
	}
	switch {
	case n.constant != nil:
		p.valueLine("value: ", n.constant, indent)
	case isArray(n.enum):
		p.enumLine(n.enum, indent)
	case n.combines() || isArray(n.typ) || n.nullable:
		own := *n
		own.properties = nil
		p.typeLine("type: ", &own, indent)
	case isObject(n.more) && n.properties == nil:
		p.typeLine("type: ", n, indent)
	}
	if value := n.standard(); value != "" {
		p.line("default: "+value, indent)
	}
	if list := n.bounds(); len(list) > 0 {
		p.line("limits: "+strings.Join(list, "; "), indent)
	}
	p.parameters(n, indent)
	p.itemsBelow(n, indent)
}

// maxIndent bounds how deep parameters stand below parameters.
const maxIndent = 4 + 2*maxDepth

// followBelow writes what a parameter is that is only referred to.
func (p *printer) followBelow(n *node, indent int) {
	target := resolve(p.root, n.ref)
	inner := read(target)
	p.line("type: "+outer(&inner), indent)
	for _, r := range p.refs {
		if bytes.Equal(r, n.ref) {
			return
		}
	}
	if text := flat(plain(inner.description)); len(text) > 0 && n.description == nil {
		p.line("about: "+string(text), indent)
	}
	p.refs = append(p.refs, n.ref)
	p.details(&inner, indent)
	p.refs = p.refs[:len(p.refs)-1]
}

// itemsBelow writes what the elements of a list are.
func (p *printer) itemsBelow(n *node, indent int) {
	if !isObject(n.items) {
		if isArray(n.items) || isArray(n.prefix) {
			p.typeLine("type: ", n, indent)
		}
		return
	}
	item := read(n.items)
	if item.ref == nil && item.properties == nil && item.items == nil {
		p.typeLine("items: ", &item, indent)
	} else {
		p.line("items: "+outer(&item), indent)
	}
	if text := flat(plain(item.description)); len(text) > 0 {
		p.line("about: "+string(text), indent+2)
	}
	if item.ref != nil || item.properties != nil || item.items != nil {
		p.details(&item, indent+2)
	}
}

func (p *printer) indent(n int) {
	for range n {
		p.out = append(p.out, ' ')
	}
}

func (p *printer) line(text string, indent int) {
	p.indent(indent)
	p.out = append(append(p.out, text...), '\n')
}

func (p *printer) typeLine(label string, n *node, indent int) {
	p.indent(indent)
	p.out = append(p.out, label...)
	p.node(n)
	p.out = append(p.out, '\n')
}

func (p *printer) valueLine(label string, value []byte, indent int) {
	p.indent(indent)
	p.out = append(p.out, label...)
	p.literal(value)
	p.out = append(p.out, '\n')
}

func (p *printer) enumLine(list []byte, indent int) {
	p.indent(indent)
	p.out = append(p.out, "enum: "...)
	first := true
	for w := rawjson.Array(list); w.Next(); first = false {
		if !first {
			p.out = append(p.out, ", "...)
		}
		p.literal(w.Value)
	}
	p.out = append(p.out, '\n')
}

var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// flat is a text with a space for each of its line breaks.
func flat(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if !bytes.ContainsAny(text, "\r\n") {
		return text
	}
	return []byte(breaks.Replace(string(text)))
}
