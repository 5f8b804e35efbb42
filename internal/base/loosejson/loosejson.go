// Package loosejson reads JSON as models write it: brackets and commas may be missing or too many,
// keys may lack quotes, strings may have single ones, words may be Python's, and there may be
// comments. It tells what it had to guess, and makes nothing up: a text that ends inside a string
// is no value.
//
//	value, doubt, err := loosejson.Read("{'a': True,}") // {"a":true}, Sure
package loosejson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// maxDepth limits the nesting of values.
const maxDepth = 200

// Read reads an object or a list. Valid JSON stays as it is. An unterminated string is an error.
func Read(text string) (value json.RawMessage, doubt Doubt, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, Sure, errors.New("the text is empty")
	}
	if rawjson.Check([]byte(text)) == nil && (text[0] == '{' || text[0] == '[') {
		return json.RawMessage(text), Sure, nil
	}
	r := reader{in: text}
	if c := text[0]; c != '{' && c != '[' {
		if !r.named() {
			return nil, Sure, fmt.Errorf("expected a JSON object, got %.40q", text)
		}
		r = reader{in: "{" + text, doubt: Guessed}
	}
	if err := r.whole(); err != nil {
		return nil, Sure, err
	}
	r.blanks("}];,`")
	if r.at < len(r.in) {
		return nil, Sure, fmt.Errorf("at byte %d: after the object comes %.40q", r.at, r.in[r.at:])
	}
	return r.out, r.doubt, nil
}

// First reads the value that a text begins with, of any kind, and returns what follows it. There
// is no doubt about it.
func First(text string) (value json.RawMessage, rest string, err error) {
	r := reader{in: text}
	if err := r.whole(); err != nil {
		return nil, text, err
	}
	if r.doubt != Sure {
		return nil, text, errors.New("the value can be read in several ways")
	}
	return r.out, r.in[r.at:], nil
}

// Doubt is how sure a reading is.
type Doubt int

const (
	Sure     Doubt = iota // there is no other way to read it
	Guessed               // commas, brackets or escapes within it are guessed
	Unclosed              // the text ended before brackets were closed
	InNumber              // the text ended behind a number, of which more may have been to come
)

type reader struct {
	in        string
	at        int
	out       []byte
	doubt     Doubt
	commented bool
}

// guess lowers how sure the reading is.
func (r *reader) guess(d Doubt) { r.doubt = max(r.doubt, d) }

// whole reads one value. A comment may have swallowed what seems to be missing.
func (r *reader) whole() error {
	err := r.value(0)
	if err == nil && r.commented && r.doubt != Sure {
		err = errors.New("brackets or commas are missing beside a comment")
	}
	if err == nil {
		err = rawjson.Check(r.out)
	}
	if err != nil {
		return fmt.Errorf("at byte %d: %w", r.at, err)
	}
	return nil
}

// blanks skips blanks, comments, and these bytes too.
func (r *reader) blanks(also string) {
	for r.at < len(r.in) {
		if strings.IndexByte(" \t\r\n", r.in[r.at]) >= 0 || strings.IndexByte(also, r.in[r.at]) >= 0 {
			r.at++
			continue
		}
		n := comment(r.in[r.at:])
		if n == 0 {
			return
		}
		r.at += n
		r.commented = true
	}
}

// comment returns the length of the comment that a text begins with, 0 when there is none.
func comment(text string) int {
	if strings.HasPrefix(text, "/*") {
		inside, _, ended := strings.Cut(text[2:], "*/")
		if !ended {
			return 0
		}
		return len("/*") + len(inside) + len("*/")
	}
	if text[0] != '#' && !strings.HasPrefix(text, "//") {
		return 0
	}
	line, _, _ := strings.Cut(text, "\n")
	return len(line)
}

// named tells whether a member begins here: the bracket before it is missing.
func (r *reader) named() bool {
	if c := r.in[r.at]; c != '"' && c != '\'' {
		return false
	}
	return r.key() == nil
}

func (r *reader) value(depth int) error {
	r.blanks("")
	if r.at == len(r.in) {
		return errors.New("the text ends where a value is due")
	}
	if depth > maxDepth {
		return fmt.Errorf("values stand more than %d deep", maxDepth)
	}
	switch r.in[r.at] {
	case '{':
		return r.container('}', depth)
	case '[':
		return r.container(']', depth)
	case '"', '\'':
		return r.text()
	}
	return r.word(depth)
}

// container reads an object or a list. The bracket of an outer one ends it too.
func (r *reader) container(end byte, depth int) error {
	r.out = append(r.out, r.in[r.at])
	r.at++
	for first := true; ; first = false {
		commas := r.commas()
		if r.at == len(r.in) {
			r.guess(Unclosed)
			break
		}
		if c := r.in[r.at]; c == end || depth > 0 && (c == '}' || c == ']') {
			if c == end {
				r.at++
			}
			if c != end || commas > 1 || first && commas > 0 {
				r.guess(Guessed)
			}
			break
		}
		if first != (commas == 0) || commas > 1 {
			r.guess(Guessed)
		}
		if !first {
			r.out = append(r.out, ',')
		}
		if end == '}' {
			if err := r.key(); err != nil {
				return err
			}
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
	r.out = append(r.out, end)
	return nil
}

// commas skips blanks and commas, and returns how many commas there were.
func (r *reader) commas() (n int) {
	for {
		r.blanks("")
		if r.at == len(r.in) || r.in[r.at] != ',' {
			return n
		}
		r.at++
		n++
	}
}

// key reads a name and the colon.
func (r *reader) key() error {
	if c := r.in[r.at]; c == '"' || c == '\'' {
		if err := r.text(); err != nil {
			return err
		}
	} else {
		name := r.run("")
		if name == "" {
			return fmt.Errorf("expected a name, got %.20q", r.in[r.at:])
		}
		if !isPlainName(name) {
			r.guess(Guessed)
		}
		r.out = rawjson.AppendString(r.out, name)
	}
	r.blanks("")
	if r.at == len(r.in) || r.in[r.at] != ':' {
		return errors.New(`expected ":" after a name`)
	}
	r.at++
	r.out = append(r.out, ':')
	return nil
}
