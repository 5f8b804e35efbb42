package console

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"
)

// maxCode bounds how much of a text one place shows; the rest can be downloaded.
const maxCode = 200_000

// block is JSON or other text, shown as it is.
type block struct {
	Label string // names it for those who do not see
	HTML  template.HTML
	Cut   bool // only the beginning is shown
}

// code makes a block of JSON, indented in its own order and colored; what is no JSON is
// shown as it is.
func code(label string, raw []byte) block { return codeUpTo(label, raw, maxCode) }

// codeUpTo makes a block of at most so many bytes.
func codeUpTo(label string, raw []byte, most int) block {
	b := block{Label: label}
	var indented bytes.Buffer
	if json.Indent(&indented, raw, "", "  ") == nil {
		raw = indented.Bytes()
	}
	shown := string(raw[:min(most, len(raw))])
	if b.Cut = len(raw) > most; b.Cut {
		shown = strings.ToValidUTF8(shown, "")
	}
	b.HTML = color(shown)
	return b
}

// color marks up the strings, names and other values of JSON. Every piece of the text is
// escaped, whatever it is.
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

// stringEnd is where the string that begins at i ends.
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
