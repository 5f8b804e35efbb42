package prompt

import (
	"bytes"
	"slices"
)

// combine writes alternatives or allOf after what is there. A list that says nothing about types is
// left out.
func (p *printer) combine(from int, how binding, list *node, either bool) binding {
	if !slices.ContainsFunc(list.Elements(), says) {
		return how
	}
	after := len(p.out) > from
	if after {
		p.group(from, how, both)
		p.out = append(p.out, " & "...)
	}
	sep := " & "
	inner := both
	if either {
		sep = "|"
		inner = choice
	}
	start := len(p.out)
	var parts [][]byte
	result := atom
	for _, n := range list.Kids {
		if !says(n) {
			continue
		}
		at := len(p.out)
		if len(parts) > 0 {
			p.out = append(p.out, sep...)
		}
		mine := len(p.out)
		result = p.group(mine, p.schema(n), inner)
		p.aside(n)
		part := p.out[mine:]
		if slices.ContainsFunc(parts, func(o []byte) bool { return bytes.Equal(o, part) }) {
			p.out = p.out[:at]
			continue
		}
		parts = append(parts, bytes.Clone(part))
	}
	if len(parts) > 1 {
		result = inner
	}
	if after {
		p.group(start, result, both)
		return both
	}
	return result
}

// group puts parentheses around what was written from there on if needed, and returns its binding.
func (p *printer) group(from int, how, in binding) binding {
	if how == atom || how == in {
		return how
	}
	p.out = append(slices.Insert(p.out, from, '('), ')')
	return atom
}
