// Package arguments reads the arguments of a call to a built-in server, and reports errors that a
// model can act on. Which members an object may have, and what null means, is up to each server.
//
//	r := arguments.Reader{Values: values}
//	limit := r.WholeOr("limit", 1, 100, 20)
//	err := r.Err // limit: expected an integer from 1 to 100, got the number 0
package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Reader reads the members of one object. It keeps the first error, so that a tool reads all its
// arguments and checks once.
type Reader struct {
	Path   string // of the object, for messages: "" or "filter."
	Values map[string]json.RawMessage
	Known  []string // the names that were read
	Err    error    // the first error, an Error
}

// Error tells a model why the call was not made, and what would work.
type Error string

func (r Error) Error() string { return string(r) }

// Failf keeps an error, if it is the first.
func (r *Reader) Failf(format string, args ...any) {
	if r.Err == nil {
		r.Err = Error(fmt.Sprintf(format, args...))
	}
}

// Refuse keeps an error about a member: name, expected, got.
func (r *Reader) Refuse(name, expected string) {
	r.Failf("%s: expected %s, got %s", r.Path+name, expected, Describe(r.Values[name]))
}

// Has reports whether there is such a member.
func (r *Reader) Has(name string) bool { return r.Values[name] != nil }

// Take returns the member's bytes, nil when it is absent.
func (r *Reader) Take(name string) json.RawMessage {
	if !slices.Contains(r.Known, name) {
		r.Known = append(r.Known, name)
	}
	return r.Values[name]
}

// Text reads a required string of 1 to most characters.
func (r *Reader) Text(name string, most int) string {
	s, ok := rawjson.String(r.Take(name))
	if !ok || s == "" || utf8.RuneCountInString(s) > most {
		r.Refuse(name, fmt.Sprintf("a string of 1 to %d characters", most))
		return ""
	}
	return s
}

// TextIf reads an optional string, "" when absent.
func (r *Reader) TextIf(name string, most int) string {
	if r.Take(name) == nil {
		return ""
	}
	return r.Text(name, most)
}

// Choice reads a required string that is one of the options.
func (r *Reader) Choice(name string, options ...string) string {
	s, ok := rawjson.String(r.Take(name))
	if !ok || !slices.Contains(options, s) {
		r.Refuse(name, "one of "+strings.Join(options, ", "))
		return ""
	}
	return s
}

// ChoiceIf reads an optional choice, "" when absent.
func (r *Reader) ChoiceIf(name string, options ...string) string {
	if r.Take(name) == nil {
		return ""
	}
	return r.Choice(name, options...)
}

// Whole reads a required integer between least and most.
func (r *Reader) Whole(name string, least, most int64) int64 {
	n, ok := parseWhole(string(r.Take(name)))
	if ok && n >= least && n <= most {
		return n
	}
	expected := "a positive integer"
	if most < math.MaxInt64 {
		expected = fmt.Sprintf("an integer from %d to %d", least, most)
	}
	r.Refuse(name, expected)
	return 0
}

// WholeOr reads an optional integer.
func (r *Reader) WholeOr(name string, least, most, otherwise int64) int64 {
	if r.Take(name) == nil {
		return otherwise
	}
	return r.Whole(name, least, most)
}

// parseWhole accepts 3, and also 3.0 and 3e2, which JSON Schema calls integers. From 2^53 on a
// float has lost digits and is refused.
func parseWhole(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 || !strings.ContainsAny(s, ".eE") {
		return 0, false
	}
	return int64(f), true
}

// Kind returns the first byte of a value, 0 when it is absent.
func Kind(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// MaxShown is how many characters of a value or a name an error shows.
const MaxShown = 60

// Describe describes a value, short enough for an error.
func Describe(raw json.RawMessage) string {
	switch Kind(raw) {
	case 0:
		return "nothing"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the string " + Cut(strings.ToValidUTF8(string(raw), "\uFFFD"), MaxShown)
	case 'n':
		return "null"
	case 't', 'f':
		return "the boolean " + string(raw)
	}
	return "the number " + Cut(string(raw), MaxShown)
}

// Cut truncates s to so many characters.
func Cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
