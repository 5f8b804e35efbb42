package prompt

import (
	"cmp"
	"slices"
	"strings"
)

// markdown writes a tool in the layout that agents' prompts expect: a fixed line per parameter,
// details below.
func (p *printer) markdown(t *Tool) []byte {
	p.start(t.Schema)
	p.out = append(append(append(p.out, "**"...), oneLine(t.Name)...), "**\n"...)
	if text := flat(t.Description); text != "" {
		p.out = append(append(append(p.out, "  "...), text...), '\n')
	}
	if n := p.arguments(); takes(n) {
		p.out = append(p.out, "  Parameters:\n"...)
		p.parameters(n, 4)
		if combines(n) {
			p.typeLine("as: ", without(n, "properties"), 4)
		}
	}
	if example := oneLine(string(t.Example)); example != "" {
		p.out = append(append(append(p.out, "  Example: "...), example...), '\n')
	}
	p.out = append(p.out, '\n')
	return slices.Clip(p.out)
}

// parameters writes a line for each property, with details below it.
func (p *printer) parameters(n *node, indent int) {
	for _, kid := range n.Get("properties").Members() {
		p.parameter(kid, requires(n, kid.Key), indent)
	}
}

func (p *printer) parameter(n *node, needed bool, indent int) {
	p.indent(indent)
	p.out = append(append(append(p.out, "- "...), flat(n.Key)...), " ("...)
	p.out = appendLine(p.out, cmp.Or(n.Str("type"), "any"))
	p.out = append(p.out, "):"...)
	if text := flat(n.Str("description")); text != "" {
		p.out = append(append(p.out, ' '), text...)
	}
	if needed {
		p.out = append(p.out, " [required]\n"...)
	} else {
		p.out = append(p.out, " [optional]\n"...)
	}
	p.details(n, indent+2)
}

// details writes what the line of a parameter does not say.
func (p *printer) details(n *node, indent int) {
	p.left--
	if p.left < 0 || indent > maxIndent {
		return
	}
	if ref := reference(n); ref != nil {
		p.followBelow(n, ref, indent)
		return
	}
	constant := n.Get("const")
	enum := n.Get("enum")
	switch {
	case constant != nil:
		p.valuesLine("value: ", []*node{constant}, indent)
	case isArray(enum):
		p.valuesLine("enum: ", enum.Kids, indent)
	case combines(n) || isArray(n.Get("type")) || n.Get("nullable").IsTrue():
		p.typeLine("type: ", without(n, "properties"), indent)
	case more(n) != nil && n.Get("properties") == nil:
		p.typeLine("type: ", n, indent)
	}
	if value := standard(n); value != "" {
		p.line("default: "+value, indent)
	}
	if list := bounds(n); len(list) > 0 {
		p.line("limits: "+strings.Join(list, "; "), indent)
	}
	p.parameters(n, indent)
	p.itemsBelow(n, indent)
}

// maxIndent limits the nesting of parameters.
const maxIndent = 4 + 2*maxDepth

// followBelow writes the target of a parameter's reference.
func (p *printer) followBelow(n, ref *node, indent int) {
	target := p.resolve(ref)
	p.line("type: "+outer(target), indent)
	if target == nil || slices.Contains(p.refs, target) {
		return
	}
	if text := flat(target.Str("description")); text != "" && n.Get("description") == nil {
		p.line("about: "+text, indent)
	}
	p.refs = append(p.refs, target)
	p.details(target, indent)
	p.refs = p.refs[:len(p.refs)-1]
}

// itemsBelow writes the elements of a list.
func (p *printer) itemsBelow(n *node, indent int) {
	item := n.Get("items")
	if !isObject(item) {
		if tuple(n) != nil {
			p.typeLine("type: ", n, indent)
		}
		return
	}
	below := reference(item) != nil || item.Get("properties") != nil || item.Get("items") != nil
	if below {
		p.line("items: "+outer(item), indent)
	} else {
		p.typeLine("items: ", item, indent)
	}
	if text := flat(item.Str("description")); text != "" {
		p.line("about: "+text, indent+2)
	}
	if below {
		p.details(item, indent+2)
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

// typeLine writes a label, and a schema as a type.
func (p *printer) typeLine(label string, n *node, indent int) {
	p.indent(indent)
	p.out = append(p.out, label...)
	p.schema(n)
	p.out = append(p.out, '\n')
}

// valuesLine writes a label and values.
func (p *printer) valuesLine(label string, values []*node, indent int) {
	p.indent(indent)
	p.out = append(p.out, label...)
	for i, value := range values {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		p.literal(value)
	}
	p.out = append(p.out, '\n')
}

var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// flat replaces each line break by a space.
func flat(text string) string {
	text = strings.TrimSpace(text)
	if !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return breaks.Replace(text)
}
