package console

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"
	"unicode/utf8"
)

// maxCode is how many bytes of JSON are shown in one place, maxProse how many of a text: with their marks, about 70 and 100 kB
// of a page, which has 150.
const (
	maxCode  = 30_000
	maxProse = 100_000
	// maxWhole is how many bytes of JSON are shown where a person asked for them, edits or approves them.
	maxWhole = 200_000
)

type block struct {
	Label string // for screen readers
	HTML  template.HTML
	Cut   bool // only the beginning is shown
	Wrap  bool // long lines are broken
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

// brief is a block of JSON for a page that has more to show. In JSON that is too long, texts that take more than half of the place are
// shortened, so that what stands behind them is seen.
func brief(label string, raw []byte, limit int) block {
	if len(raw) <= limit {
		return codeUpTo(label, raw, limit)
	}
	b := codeUpTo(label, shortTexts(raw, limit/2, limit), limit)
	b.Cut = true
	return b
}

// shortTexts shortens texts in JSON that have more than most bytes, as far as about limit bytes of it are shown.
func shortTexts(raw []byte, most, limit int) []byte {
	var short []byte
	text := string(raw)
	for i := 0; i < len(text) && len(short) <= limit; {
		next := strings.IndexByte(text[i:], '"')
		if next < 0 {
			return append(short, text[i:]...)
		}
		short = append(short, text[i:i+next]...)
		i += next
		end := stringEnd(text, i)
		if end-i <= most {
			short = append(short, text[i:end]...)
		} else {
			short = append(append(short, text[i:i+wholeUpTo(text[i:end], most)]...), "…\""...)
		}
		i = end
	}
	return short
}

// wholeUpTo is how many bytes a beginning of a JSON string has that ends in no escape and in no letter.
func wholeUpTo(text string, most int) int {
	for at := 1; ; {
		size := 2
		switch {
		case text[at] != '\\':
			_, size = utf8.DecodeRuneInString(text[at:])
		case strings.HasPrefix(text[at:], `\u`):
			size = 6
		}
		if at+size > most {
			return at
		}
		at += size
	}
}

// prose is a block of text that is not JSON.
func prose(label, text string) block {
	return newBlock(label, []byte(text), maxProse, func(shown string) template.HTML {
		return template.HTML(template.HTMLEscapeString(plain(shown)))
	})
}

func newBlock(label string, raw []byte, limit int, mark func(string) template.HTML) block {
	shown := string(raw[:min(limit, len(raw))])
	cut := len(raw) > limit
	if cut {
		shown = strings.ToValidUTF8(shown, "")
	}
	return block{Label: label, HTML: mark(shown), Cut: cut}
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
