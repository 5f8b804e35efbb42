package console

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"
)

// maxCode is how many bytes of a text are shown in one place; the rest can be downloaded.
const maxCode = 200_000

type block struct {
	Label string // for screen readers
	HTML  template.HTML
	Cut   bool // only the beginning is shown
}

// code is a block of JSON, indented and colored. Text that is not JSON is shown as it is.
func code(label string, raw []byte) block { return codeUpTo(label, raw, maxCode) }

// codeUpTo is code with another limit. Long JSON is indented only as far as it is shown.
func codeUpTo(label string, raw []byte, limit int) block {
	var whole bytes.Buffer
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) > limit/4 && (trimmed[0] == '{' || trimmed[0] == '['):
		raw = indented(trimmed, limit+1)
	case json.Indent(&whole, raw, "", "  ") == nil:
		raw = whole.Bytes()
	}
	return newBlock(label, raw, limit, color)
}

// prose is a block of text that is not JSON.
func prose(label, text string) block {
	return newBlock(label, []byte(text), maxCode, func(shown string) template.HTML {
		return template.HTML(template.HTMLEscapeString(plain(shown)))
	})
}

func newBlock(label string, raw []byte, limit int, mark func(string) template.HTML) block {
	shown := string(raw[:min(limit, len(raw))])
	cut := len(raw) > limit
	if cut {
		shown = strings.ToValidUTF8(shown, "")
	}
	return block{label, mark(shown), cut}
}

// color marks up the strings, names and other values of JSON. Everything is escaped.
func color(text string) template.HTML {
	var b strings.Builder
	piece := func(class, s string) {
		if class != "" {
			b.WriteString(`<span class="` + class + `">`)
		}
		template.HTMLEscape(&b, []byte(plain(s)))
		if class != "" {
			b.WriteString("</span>")
		}
	}
	for i := 0; i < len(text); {
		end := i + 1
		switch c := text[i]; {
		case c == '"':
			end = stringEnd(text, i)
			class := "s"
			if strings.HasPrefix(strings.TrimLeft(text[end:min(end+8, len(text))], " "), ":") {
				class = "k"
			}
			piece(class, text[i:end])
		case isWord(c):
			for end < len(text) && isWord(text[end]) {
				end++
			}
			piece("v", text[i:end])
		default:
			for end < len(text) && text[end] != '"' && !isWord(text[end]) {
				end++
			}
			piece("", text[i:end])
		}
		i = end
	}
	return template.HTML(b.String())
}

// stringEnd is the end of the string that begins at i.
func stringEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		case '\n':
			return j
		}
	}
	return len(text)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == '_'
}

// indented indents about limit bytes of a JSON text without checking it: in text that is not
// JSON, only white space changes.
func indented(raw []byte, limit int) []byte {
	out := make([]byte, 0, limit+64)
	depth := 0
	inString := false
	line := func() { out = append(append(out, '\n'), bytes.Repeat([]byte("  "), min(depth, 40))...) }
	for i := 0; i < len(raw) && len(out) < limit; i++ {
		c := raw[i]
		switch {
		case inString:
			out = append(out, c)
			if c == '\\' && i+1 < len(raw) {
				i++
				out = append(out, raw[i])
			}
			inString = c != '"'
		case c == '"':
			out = append(out, c)
			inString = true
		case c == '{' || c == '[':
			out = append(out, c)
			depth++
			if i+1 < len(raw) && raw[i+1] != '}' && raw[i+1] != ']' {
				line()
			}
		case c == '}' || c == ']':
			depth = max(0, depth-1)
			if i > 0 && raw[i-1] != '{' && raw[i-1] != '[' {
				line()
			}
			out = append(out, c)
		case c == ',':
			out = append(out, c)
			line()
		case c == ':':
			out = append(out, ": "...)
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		default:
			out = append(out, c)
		}
	}
	return out
}
