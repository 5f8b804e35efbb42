// Package rawjson reads and splices JSON without decoding it, so that what passes through the
// gateway keeps its bytes: property order, big integers, 1.0, unknown fields. It validates what
// it walks over without allocating, but UTF-8 only where asked.
//
//	w := rawjson.Object(params)
//	for w.Next() {
//		if string(w.Key) == "name" { … w.Value … }
//	}
//	if err := w.Err(); err != nil { … }
package rawjson

import (
	"errors"
	"fmt"
)

// MaxDepth is how deep values may be nested.
const MaxDepth = 512

// ErrDepth says that a value is nested too deep.
var ErrDepth = errors.New("JSON is nested too deep")

// SyntaxError says where the JSON is invalid.
type SyntaxError struct {
	Offset int
	Want   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: expected %s", e.Offset, e.Want)
}

func syntax(offset int, want string) error { return &SyntaxError{offset, want} }

// Check returns an error unless data is exactly one valid JSON value of bounded depth.
func Check(data []byte) error {
	i, err := skipValue(data, skipSpace(data, 0), 0, nil)
	if err != nil {
		return err
	}
	i = skipSpace(data, i)
	if i != len(data) {
		return syntax(i, "end of input")
	}
	return nil
}

// Skip returns the end of the value that starts at i. It may be nested so many levels deep.
func Skip(data []byte, i, levels int) (int, error) { return skipValue(data, i, MaxDepth-levels, nil) }

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the end of the value that starts at i. Longest, unless it is nil, is replaced by the range of a longer
// string in the value. The string that it is the range of already is not read again.
func skipValue(data []byte, i, depth int, longest *Span) (int, error) {
	if i >= len(data) {
		return i, syntax(i, "a value")
	}
	switch c := data[i]; {
	case c == '"' && longest != nil && i == longest.Start:
		return longest.End, nil
	case c == '"':
		end, err := skipString(data, i)
		if longest != nil && end-i > longest.End-longest.Start {
			*longest = Span{i, end}
		}
		return end, err
	case c == '{':
		return skipContainer(data, i, depth+1, '}', longest)
	case c == '[':
		return skipContainer(data, i, depth+1, ']', longest)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(data, i)
	case c == 't':
		return skipWord(data, i, "true")
	case c == 'f':
		return skipWord(data, i, "false")
	case c == 'n':
		return skipWord(data, i, "null")
	}
	return i, syntax(i, "a value")
}

// skipContainer returns the end of the object or array that starts at i.
func skipContainer(data []byte, i, depth int, closing byte, longest *Span) (int, error) {
	if depth > MaxDepth {
		return i, ErrDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == closing {
		return i + 1, nil
	}
	for {
		var err error
		if closing == '}' {
			if _, i, err = skipKey(data, i); err != nil {
				return i, err
			}
		}
		if i, err = skipValue(data, i, depth, longest); err != nil {
			return i, err
		}
		i = skipSpace(data, i)
		switch {
		case i < len(data) && data[i] == closing:
			return i + 1, nil
		case i < len(data) && data[i] == ',':
			i = skipSpace(data, i+1)
		default:
			return i, syntax(i, "a comma or "+string(closing))
		}
	}
}

// skipKey returns the end of the key that starts at i, and where its value starts.
func skipKey(data []byte, i int) (end, value int, err error) {
	if i >= len(data) || data[i] != '"' {
		return i, i, syntax(i, "a key")
	}
	if end, err = skipString(data, i); err != nil {
		return end, end, err
	}
	i = skipSpace(data, end)
	if i >= len(data) || data[i] != ':' {
		return end, i, syntax(i, "a colon")
	}
	return end, skipSpace(data, i+1), nil
}

func skipNumber(data []byte, i int) (int, error) {
	if data[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(data, i); i == start {
		return i, syntax(i, "a digit")
	}
	if data[start] == '0' && i > start+1 {
		return start, syntax(start, "a number without a leading zero")
	}
	if i < len(data) && data[i] == '.' {
		start = i + 1
		if i = skipDigits(data, start); i == start {
			return i, syntax(i, "a digit")
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(data, i); i == start {
			return i, syntax(i, "a digit")
		}
	}
	return i, nil
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

func skipWord(data []byte, i int, word string) (int, error) {
	if len(data)-i < len(word) || string(data[i:i+len(word)]) != word {
		return i, syntax(i, word)
	}
	return i + len(word), nil
}
