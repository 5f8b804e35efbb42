// Package rawjson reads and splices JSON without decoding it, so that what passes
// through the gateway keeps its bytes: property order, big integers, 1.0, unknown fields.
// It checks what it walks over and never allocates for it; UTF-8 it checks only where asked.
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

// MaxDepth is how deep values may be nested. What lies deeper is refused.
const MaxDepth = 512

// ErrDepth says that a value is nested too deep.
var ErrDepth = errors.New("JSON is nested too deep")

// SyntaxError says where the bytes stop being JSON.
type SyntaxError struct {
	Offset int
	Want   string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: expected %s", e.Offset, e.Want)
}

func syntax(offset int, want string) error { return &SyntaxError{offset, want} }

// Check tells whether data is exactly one valid JSON value of bounded depth.
func Check(data []byte) error {
	i, err := skipValue(data, skipSpace(data, 0), 0)
	if err != nil {
		return err
	}
	if i = skipSpace(data, i); i != len(data) {
		return syntax(i, "end of input")
	}
	return nil
}

// Skip returns the end of the value that starts at i. It may be nested so many levels deep.
func Skip(data []byte, i, levels int) (int, error) { return skipValue(data, i, MaxDepth-levels) }

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the end of the value that starts at i.
func skipValue(data []byte, i, depth int) (int, error) {
	if i >= len(data) {
		return i, syntax(i, "a value")
	}
	switch c := data[i]; {
	case c == '"':
		return skipString(data, i)
	case c == '{':
		return skipObject(data, i, depth+1)
	case c == '[':
		return skipArray(data, i, depth+1)
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

func skipObject(data []byte, i, depth int) (int, error) {
	if depth > MaxDepth {
		return i, ErrDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return i, syntax(i, "a key")
		}
		var err error
		if i, err = skipString(data, i); err != nil {
			return i, err
		}
		i = skipSpace(data, i)
		if i >= len(data) || data[i] != ':' {
			return i, syntax(i, "a colon")
		}
		if i, err = skipValue(data, skipSpace(data, i+1), depth); err != nil {
			return i, err
		}
		i = skipSpace(data, i)
		if i >= len(data) {
			return i, syntax(i, "a comma or }")
		}
		switch data[i] {
		case '}':
			return i + 1, nil
		case ',':
			i = skipSpace(data, i+1)
		default:
			return i, syntax(i, "a comma or }")
		}
	}
}

func skipArray(data []byte, i, depth int) (int, error) {
	if depth > MaxDepth {
		return i, ErrDepth
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = skipValue(data, i, depth); err != nil {
			return i, err
		}
		i = skipSpace(data, i)
		if i >= len(data) {
			return i, syntax(i, "a comma or ]")
		}
		switch data[i] {
		case ']':
			return i + 1, nil
		case ',':
			i = skipSpace(data, i+1)
		default:
			return i, syntax(i, "a comma or ]")
		}
	}
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
