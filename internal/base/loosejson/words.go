package loosejson

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// isPlainName tells whether a bare word can only be meant as a name.
func isPlainName(word string) bool {
	for _, c := range word {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-$.", c) {
			return false
		}
	}
	return pythons[word] == ""
}

// text reads a string, with line breaks and tabs.
func (r *reader) text() error {
	quote := r.in[r.at]
	r.at++
	r.out = append(r.out, '"')
	for r.at < len(r.in) {
		c := r.in[r.at]
		switch {
		case c == quote:
			r.at++
			r.out = append(r.out, '"')
			return nil
		case c == '\\':
			if err := r.escape(); err != nil {
				return err
			}
			continue
		case c == '"':
			r.out = append(r.out, `\"`...)
		case c < ' ':
			r.out = fmt.Appendf(r.out, `\u%04x`, c)
		case c < utf8.RuneSelf:
			n := plain(r.in[r.at:], quote)
			r.out = append(r.out, r.in[r.at:r.at+n]...)
			r.at += n
			continue
		default:
			char, size := utf8.DecodeRuneInString(r.in[r.at:])
			r.out = utf8.AppendRune(r.out, char)
			r.at += size
			continue
		}
		r.at++
	}
	return errors.New("the text ends inside a string")
}

// plain returns how many bytes of a text stand for themselves in a string.
func plain(text string, quote byte) int {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == quote {
			return i
		}
	}
	return len(text)
}

// escape reads a JSON escape; before any other character the backslash is literal, as in a Windows
// path. That is a guess where Python has an escape.
func (r *reader) escape() error {
	if r.at+1 == len(r.in) {
		return errors.New("the text ends inside a string")
	}
	c := r.in[r.at+1]
	switch {
	case c == '\'':
		r.out = append(r.out, '\'')
	case c == 'u' && r.at+6 <= len(r.in) && isHex(r.in[r.at+2:r.at+6]):
		r.out = append(r.out, r.in[r.at:r.at+6]...)
		r.at += 6
		return nil
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		r.out = append(r.out, '\\', c)
	default:
		if strings.IndexByte("aNUuvx01234567\r\n", c) >= 0 {
			r.guess(Guessed)
		}
		r.out = append(r.out, `\\`...)
		r.at++
		return nil
	}
	r.at += 2
	return nil
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// run returns the bare word at this place, which these bytes end too.
func (r *reader) run(also string) string {
	from := r.at
	for r.at < len(r.in) && strings.IndexByte(" \t\r\n,:{}[]\"'", r.in[r.at]) < 0 && strings.IndexByte(also, r.in[r.at]) < 0 {
		r.at++
	}
	return r.in[from:r.at]
}

var pythons = map[string]string{"True": "true", "False": "false", "None": "null"}

// word reads a number, true, false or null.
func (r *reader) word(depth int) error {
	from := r.at
	word := r.run("/#)")
	if p, ok := pythons[word]; ok {
		word = p
	}
	if word == "" || rawjson.Check([]byte(word)) != nil {
		r.at = from
		return fmt.Errorf("expected a value, got %.20q", r.in[from:])
	}
	if depth > 0 && r.at == len(r.in) && strings.Trim(word, "0123456789.eE+-") == "" {
		r.guess(InNumber)
	}
	r.out = append(r.out, word...)
	return nil
}
