package prompt

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// comment writes the description and limits of a property on a line before it.
func (p *printer) comment(n *node) {
	from := len(p.out)
	p.out = append(p.out, "// "...)
	text := len(p.out)
	p.out = appendLine(p.out, p.describe(n))
	p.out = appendNotes(p.out, n, p.out[text:])
	if len(p.out) == text {
		p.out = p.out[:from]
		return
	}
	p.out = append(p.out, '\n')
}

// aside writes the description of an alternative beside it.
func (p *printer) aside(n *node) {
	if text := n.Str("description"); !p.brief && text != "" {
		p.out = append(p.out, " /* "...)
		p.out = appendLine(p.out, strings.ReplaceAll(text, "*/", "* /"))
		p.out = append(p.out, " */"...)
	}
}

// describe returns the description of a schema, or that of the schema it refers to.
func (p *printer) describe(n *node) string {
	if text := n.Str("description"); text != "" {
		return text
	}
	if ref := reference(n); ref != nil {
		return p.resolve(ref).Str("description")
	}
	return ""
}

// appendNotes writes the default and the limits in brackets, unless the text already mentions
// the default.
func appendNotes(out []byte, n *node, said []byte) []byte {
	from := len(out)
	note := func(parts ...string) {
		if len(out) > from {
			out = append(out, "; "...)
		} else if len(said) > 0 {
			out = append(out, " ("...)
		} else {
			out = append(out, '(')
		}
		for _, part := range parts {
			out = append(out, part...)
		}
	}
	if value := standard(n); value != "" && !names(said, value) {
		note("default ", value)
	}
	for _, b := range bounds(n) {
		note(b)
	}
	if item := n.Get("items"); item.Get("properties") == nil {
		if text := item.Str("description"); text != "" {
			note("each: ", oneLine(text))
		}
	}
	if len(out) > from {
		out = append(out, ')')
	}
	return out
}

// names reports whether a text mentions a default with this value.
func names(text []byte, value string) bool {
	return bytes.Contains(text, []byte(strings.Trim(value, `"`))) && bytes.Contains(bytes.ToLower(text), []byte("default"))
}

// standard returns the default as JSON; "" if there is none worth mentioning.
func standard(n *node) string {
	value := n.Get("default")
	switch {
	case value == nil || value.Kind == jsonschema.Null:
		return ""
	case value.Kind == jsonschema.Bool || value.Kind == jsonschema.Number:
		return value.Text
	case value.Kind == jsonschema.String && value.Text == "" || value.Kind != jsonschema.String && len(value.Kids) == 0:
		return ""
	}
	return oneLine(string(value.Raw()))
}

// bounds returns the limits of a value, each in a few characters.
func bounds(n *node) (list []string) {
	pair := func(lowest, highest, unit string) {
		low := limit(n, lowest)
		high := limit(n, highest)
		switch {
		case low != "" && high != "":
			list = append(list, low+".."+high+unit)
		case low != "":
			list = append(list, "≥ "+low+unit)
		case high != "":
			list = append(list, "≤ "+high+unit)
		}
	}
	pair("minimum", "maximum", "")
	for _, b := range [...][2]string{{"exclusiveMinimum", "> "}, {"exclusiveMaximum", "< "}, {"multipleOf", "multiple of "}} {
		if text := number(n, b[0]); text != "" {
			list = append(list, b[1]+text)
		}
	}
	pair("minLength", "maxLength", " characters")
	pair("minItems", "maxItems", " items")
	if s := n.Str("format"); s != "" {
		list = append(list, oneLine(s))
	}
	if s := n.Str("pattern"); s != "" && len(s) <= 80 {
		list = append(list, "/"+oneLine(s)+"/")
	}
	return list
}

// number returns the number of a keyword as written, or "".
func number(n *node, key string) string {
	if m := n.Get(key); m != nil && m.Kind == jsonschema.Number && len(m.Text) <= 24 {
		return m.Text
	}
	return ""
}

// limit is number, except for the limits of integer types, which say nothing.
func limit(n *node, key string) string {
	text := number(n, key)
	if len(strings.TrimLeft(text, "-")) >= 16 {
		return ""
	}
	return text
}

// oneLine replaces line breaks by spaces.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(text) {
		return text
	}
	return string(appendLine(nil, text))
}

// appendLine writes a text on one line: runs of white space become one space.
func appendLine(out []byte, text string) []byte {
	text = strings.TrimSpace(text)
	if tidy(text) {
		return append(out, text...)
	}
	blank := false
	for _, r := range text {
		switch {
		case r == ' ' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
			blank = true
		default:
			if blank {
				out = append(out, ' ')
			}
			out = utf8.AppendRune(out, r)
			blank = false
		}
	}
	return out
}

// tidy reports whether a text needs no change to be on one line, as most do.
func tidy(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= 0x7f || c == ' ' && text[i-1] == ' ' {
			return false
		}
	}
	return true
}

// maxSentence limits the description in a signature, in characters.
const maxSentence = 160

// sentence returns the first sentence of a text, or as much as fits on a line.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	for i, r := range text {
		if r == '\n' || r == '。' || r == '.' && stops(text, i) {
			text = text[:i]
			break
		}
	}
	text = oneLine(text)
	count := 0
	for i := range text {
		count++
		if count > maxSentence {
			if blank := strings.LastIndexByte(text[:i], ' '); blank > i/2 {
				i = blank
			}
			return text[:i] + "…"
		}
	}
	return text
}

// stops reports whether the period at i ends a sentence, unlike in "e.g.".
func stops(text string, i int) bool {
	rest := text[i+1:]
	return (rest == "" || rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\r') && (i < 2 || text[i-2] != '.')
}

// appendComment writes a text as comment lines, without empty ones.
func appendComment(out []byte, text string) []byte {
	for line := range strings.Lines(text) {
		from := len(out)
		out = append(out, "// "...)
		start := len(out)
		out = appendLine(out, line)
		if len(out) == start {
			out = out[:from]
			continue
		}
		out = append(out, '\n')
	}
	return out
}
