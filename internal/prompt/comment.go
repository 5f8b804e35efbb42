package prompt

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// comment writes what is to say of a property on a line before it.
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

// aside writes what is to say of one of several alternatives, beside it.
func (p *printer) aside(n *node) {
	if text := plain(n.description); !p.brief && len(text) > 0 {
		p.out = append(p.out, " /* "...)
		p.out = appendLine(p.out, bytes.ReplaceAll(text, []byte("*/"), []byte("* /")))
		p.out = append(p.out, " */"...)
	}
}

// describe is the description of a schema, or that of what it refers to.
func (p *printer) describe(n *node) []byte {
	if text := plain(n.description); len(text) > 0 || n.ref == nil {
		return text
	}
	return plain(rawjson.Get(resolve(p.root, n.ref), "description"))
}

// appendNotes writes, in brackets, what a type cannot say: the default, the bounds and the
// form of a value. A default that the text names already is not repeated.
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
	if value := n.standard(); value != "" && !names(said, value) {
		note("default ", value)
	}
	for _, b := range n.bounds() {
		note(b)
	}
	if item := read(n.items); item.properties == nil && len(item.description) > 0 {
		if text := plain(item.description); len(text) > 0 {
			note("each: ", oneLine(string(text)))
		}
	}
	if len(out) > from {
		out = append(out, ')')
	}
	return out
}

// names tells whether a text speaks of a default, and of this one.
func names(text []byte, value string) bool {
	return bytes.Contains(text, []byte(strings.Trim(value, `"`))) && bytes.Contains(bytes.ToLower(text), []byte("default"))
}

// standard is the default as JSON; "" where there is none that tells anything.
func (n *node) standard() string {
	switch string(n.fallback) {
	case "", "null", `""`, "[]", "{}":
		return ""
	}
	return oneLine(string(n.fallback))
}

// bounds are the limits of a value, each as a few characters.
func (n *node) bounds() (list []string) {
	pair := func(low, high []byte, unit string) {
		switch {
		case low != nil && high != nil:
			list = append(list, string(low)+".."+string(high)+unit)
		case low != nil:
			list = append(list, "≥ "+string(low)+unit)
		case high != nil:
			list = append(list, "≤ "+string(high)+unit)
		}
	}
	pair(widest(n.min), widest(n.max), "")
	if scalar(n.above) {
		list = append(list, "> "+string(n.above))
	}
	if scalar(n.below) {
		list = append(list, "< "+string(n.below))
	}
	if scalar(n.step) {
		list = append(list, "multiple of "+string(n.step))
	}
	pair(widest(n.minLength), widest(n.maxLength), " characters")
	pair(widest(n.minItems), widest(n.maxItems), " items")
	if s := plain(n.format); len(s) > 0 {
		list = append(list, oneLine(string(s)))
	}
	if s := plain(n.pattern); len(s) > 0 && len(s) <= 80 {
		list = append(list, "/"+oneLine(string(s))+"/")
	}
	return list
}

func scalar(raw []byte) bool {
	return len(raw) > 0 && len(raw) <= 24 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// widest is a bound that says something: the limits of the integers of a language do not.
func widest(raw []byte) []byte {
	if !scalar(raw) || len(bytes.TrimLeft(raw, "-")) >= 16 {
		return nil
	}
	return raw
}

// oneLine is a text whose line breaks are spaces.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) && utf8.ValidString(text) {
		return text
	}
	return string(appendLine(nil, []byte(text)))
}

// appendLine writes a text on one line: what is a break or a run of blanks becomes one blank.
func appendLine(out, text []byte) []byte {
	text = bytes.TrimSpace(text)
	if tidy(text) {
		return append(out, text...)
	}
	blank := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == ' ' || r == '\u2028' || r == '\u2029' || unicode.IsControl(r):
			blank = true
		default:
			if blank {
				out = append(out, ' ')
			}
			out, blank = utf8.AppendRune(out, r), false
		}
		i += size
	}
	return out
}

// tidy tells whether a text can stand on a line as it is: most can.
func tidy(text []byte) bool {
	for i, c := range text {
		if c < ' ' || c >= 0x7f || c == ' ' && text[i-1] == ' ' {
			return false
		}
	}
	return true
}

// maxSentence bounds what a signature says, in characters.
const maxSentence = 160

// sentence is the first sentence of a text, or as much of it as fits on a line.
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
		if count++; count > maxSentence {
			if blank := strings.LastIndexByte(text[:i], ' '); blank > i/2 {
				i = blank
			}
			return text[:i] + "…"
		}
	}
	return text
}

// stops tells whether the full stop at i ends a sentence, and not an "e.g.".
func stops(text string, i int) bool {
	rest := text[i+1:]
	return (rest == "" || rest[0] == ' ' || rest[0] == '\n' || rest[0] == '\r') && (i < 2 || text[i-2] != '.')
}

// appendComment writes a text as lines of comment, without the empty ones.
func appendComment(out []byte, text string) []byte {
	for line := range strings.Lines(text) {
		from := len(out)
		out = append(out, "// "...)
		start := len(out)
		if out = appendLine(out, []byte(line)); len(out) == start {
			out = out[:from]
			continue
		}
		out = append(out, '\n')
	}
	return out
}
