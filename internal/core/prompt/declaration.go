package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// maxType is how long a type on one line may be, in bytes, before its inside is cut.
const maxType = 4 << 10

// TypeOf writes a schema as a type on one line.
func TypeOf(schema []byte) string {
	var p printer
	text := p.result(schema, printer{})
	if len(text) > maxType {
		text = p.result(schema, printer{brief: true})
	}
	return string(text)
}

// DeclarationOf declares a tool as the method of an object, as a script calls it: shop.list_orders({status: "paid"}).
func DeclarationOf(t *Tool, object, method string) string {
	var p printer
	result := p.result(t.Result, printer{code: true, lines: t.Seen == 0})
	p.start(t.Schema)
	p.lines = true
	p.code = true
	p.out = append(p.out, "declare const "+object+": {\n"...)
	if text := strings.TrimSuffix(string(appendComment(nil, t.Description)), "\n"); text != "" {
		text = strings.ReplaceAll(strings.TrimPrefix(text, "// "), "\n// ", "\n")
		p.out = append(p.out, "/** "+strings.ReplaceAll(text, "*/", "* /")+" */\n"...)
	}
	if example := oneLine(string(t.Example)); example != "" {
		p.out = append(p.out, "// Example: "+example+"\n"...)
	}
	p.out = append(appendKey(p.out, method), '(')
	if n := p.arguments(); takes(n) {
		p.out = append(p.out, "args"...)
		if len(n.Get("required").Elements()) == 0 {
			p.out = append(p.out, '?')
		}
		p.out = append(p.out, ": "...)
		p.schema(n)
	}
	p.out = append(append(append(p.out, "): Promise<"...), result...), ">;"...)
	if t.Seen > 0 {
		p.out = fmt.Appendf(p.out, " // seen in %d results", t.Seen)
	}
	return string(append(p.out, "\n};\n"...))
}

// result writes the type of a result in the given way; any when it is not known.
func (p *printer) result(schema []byte, how printer) []byte {
	p.start(schema)
	p.lines, p.brief, p.code = how.lines, how.brief, how.code
	if p.root == nil {
		p.word("any")
	} else {
		p.schema(p.root)
	}
	return slices.Clip(p.out)
}

// about rounds a count down, so that a text does not change with every result.
func about(count int) int {
	for _, step := range [...]int{50, 10} {
		if count >= step {
			return step
		}
	}
	return 3
}
