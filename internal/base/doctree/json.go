package doctree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// readJSON reads text into a tree. Comments and trailing commas are fine, as in VS Code.
func readJSON(src string) (*Node, Problems) {
	plain := plainJSON(src)
	if strings.TrimSpace(plain) == "" {
		return &Node{Kind: Nothing, Line: 1}, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(plain), &whole); err != nil {
		var syntax *json.SyntaxError
		line := 0
		if errors.As(err, &syntax) {
			line = LineAt(src, int(syntax.Offset)-1)
		}
		text := rawjson.InWords(err).Error()
		if strings.Contains(err.Error(), "string escape") {
			text += `; write \\ for a backslash`
		}
		return nil, Problems{{Line: line, Text: text}}
	}
	space := len(plain) - len(strings.TrimLeft(plain, " \t\n"))
	if at, err := rawjson.Skip([]byte(plain), space, MaxDepth); errors.Is(err, rawjson.ErrDepth) {
		return nil, Problems{{Line: LineAt(src, at), Text: fmt.Sprintf("is nested deeper than %d levels", MaxDepth)}}
	}
	r := &jsonReader{src: plain, dec: json.NewDecoder(strings.NewReader(plain)), line: 1}
	r.dec.UseNumber()
	return r.value(), nil
}

// plainJSON blanks out comments and trailing commas; every other byte keeps its place.
func plainJSON(src string) string {
	out := []byte(src)
	comma := -1 // the last comma, while only space follows it
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := commentEnd(src, i)
			blank(out[i:end])
			i = end - 1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
			comma = -1
		case c != ' ' && c != '\t' && c != '\n':
			comma = -1
		}
	}
	return string(out)
}

func commentEnd(src string, at int) int {
	if src[at+1] == '*' {
		inside, _, closed := strings.Cut(src[at+2:], "*/")
		if !closed {
			return len(src)
		}
		return at + len("/**/") + len(inside)
	}
	line, _, _ := strings.Cut(src[at:], "\n")
	return at + len(line)
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// jsonReader walks the tokens of text that is known to be JSON, so that no token is an error.
type jsonReader struct {
	src  string
	dec  *json.Decoder
	seen int // bytes whose lines are counted
	line int
}

// next reads one token and where it stands.
func (r *jsonReader) next() (tok json.Token, at int) {
	at = int(r.dec.InputOffset())
	for at < len(r.src) && strings.IndexByte(" \t\n,:", r.src[at]) >= 0 {
		at++
	}
	r.line += strings.Count(r.src[r.seen:at], "\n")
	r.seen = at
	tok, _ = r.dec.Token()
	return tok, at
}

func (r *jsonReader) value() *Node {
	tok, at := r.next()
	n := &Node{Line: r.line, Start: at, Text: fmt.Sprint(tok)}
	switch tok := tok.(type) {
	case nil:
		n.Text = ""
	case bool:
		n.Kind = Bool
	case json.Number:
		n.Kind = Number
	case string:
		n.Kind = Text
	case json.Delim:
		n.Text = ""
		n.Flow = true
		n.Kind = List
		if tok == '{' {
			n.Kind = Mapping
		}
		r.fill(n)
	}
	n.End = int(r.dec.InputOffset())
	return n
}

// fill reads what is inside a list or an object, with its closing bracket.
func (r *jsonReader) fill(n *Node) {
	for r.dec.More() {
		if n.Kind == List {
			n.Items = append(n.Items, r.value())
			continue
		}
		key, at := r.next()
		e := Entry{Key: fmt.Sprint(key), Line: r.line, Start: at}
		e.Value = r.value()
		n.Entries = append(n.Entries, e)
	}
	r.next()
}
