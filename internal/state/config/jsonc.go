package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// readJSON reads text into a tree. Comments and trailing commas are fine, as in VS Code.
func readJSON(src string) (*node, problems) {
	plain := plainJSON(src)
	if strings.TrimSpace(plain) == "" {
		return &node{kind: nothing, line: 1}, nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(plain), &whole); err != nil {
		var syntax *json.SyntaxError
		line := 0
		if errors.As(err, &syntax) {
			line = lineAt(src, int(syntax.Offset)-1)
		}
		text := rawjson.InWords(err).Error()
		if strings.Contains(err.Error(), "string escape") {
			text += `; write \\ for a backslash`
		}
		return nil, problems{{line: line, text: text}}
	}
	r := &jsonReader{src: plain, dec: json.NewDecoder(strings.NewReader(plain)), line: 1}
	r.dec.UseNumber()
	root, err := r.value(0)
	if err != nil {
		return nil, problems{{line: r.line, text: err.Error()}}
	}
	return root, nil
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
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n':
			comma = -1
		}
	}
	return string(out)
}

func commentEnd(src string, at int) int {
	stop, length := "\n", 0
	if src[at+1] == '*' {
		stop, length = "*/", 2
	}
	if i := strings.Index(src[at+2:], stop); i >= 0 {
		return at + 2 + i + length
	}
	return len(src)
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// jsonReader walks the tokens of text that is known to be JSON.
type jsonReader struct {
	src  string
	dec  *json.Decoder
	seen int // bytes whose lines are counted
	line int
}

// next reads one token and where it stands.
func (r *jsonReader) next() (tok json.Token, at int, err error) {
	at = int(r.dec.InputOffset())
	for at < len(r.src) && strings.IndexByte(" \t\n,:", r.src[at]) >= 0 {
		at++
	}
	r.line += strings.Count(r.src[r.seen:at], "\n")
	r.seen = at
	tok, err = r.dec.Token()
	return tok, at, err
}

func (r *jsonReader) value(depth int) (*node, error) {
	tok, at, err := r.next()
	if err != nil {
		return nil, rawjson.InWords(err)
	}
	n := &node{line: r.line, at: at}
	switch tok := tok.(type) {
	case nil:
		n.kind = nothing
	case bool:
		n.kind, n.text = boolean, fmt.Sprint(tok)
	case json.Number:
		n.kind, n.text = number, tok.String()
	case string:
		n.kind, n.text = text, tok
	case json.Delim:
		if depth >= maxDepth {
			return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
		}
		if err := r.fill(n, tok, depth+1); err != nil {
			return nil, err
		}
	}
	n.end = int(r.dec.InputOffset())
	return n, nil
}

// fill reads what is inside a list or an object, with its closing bracket.
func (r *jsonReader) fill(n *node, open json.Delim, depth int) error {
	n.kind, n.flow = list, true
	if open == '{' {
		n.kind = object
	}
	for r.dec.More() {
		if n.kind == list {
			item, err := r.value(depth)
			if err != nil {
				return err
			}
			n.items = append(n.items, item)
			continue
		}
		tok, at, err := r.next()
		if err != nil {
			return rawjson.InWords(err)
		}
		key, _ := tok.(string)
		e := entry{key: key, line: r.line, at: at}
		if e.value, err = r.value(depth); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
	}
	if _, _, err := r.next(); err != nil && err != io.EOF {
		return rawjson.InWords(err)
	}
	return nil
}
