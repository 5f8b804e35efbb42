package fit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Code classifies a problem. Codes are append-only.
type Code string

const (
	Missing      Code = "missing"       // a required property is not there
	Unknown      Code = "unknown"       // the tool has no such argument
	WrongType    Code = "type"          // a value of another type
	NotListed    Code = "enum"          // not one of the allowed values
	OutOfRange   Code = "range"         // a number too small or too large
	NotMultiple  Code = "multiple"      // not a multiple of the given number
	WrongLength  Code = "length"        // a string too short or too long
	NoMatch      Code = "pattern"       // a string that does not match the pattern
	WrongSize    Code = "size"          // too few or too many items or properties
	NotUnique    Code = "unique"        // the same item twice
	NotContained Code = "contains"      // too few or too many matching items
	WrongName    Code = "property_name" // a property whose name is not allowed
	NoBranch     Code = "union"         // none of the allowed forms, or more than one
	Excluded     Code = "not"           // a value that is excluded
	Never        Code = "never"         // no value is allowed here
	NotJSON      Code = "not_json"      // the arguments are not JSON
	TooComplex   Code = "too_complex"   // the check would take too long
	Unmapped     Code = "unmapped"      // cannot be mapped back from the provider's dialect
	Conflict     Code = "conflict"      // two arguments with the same meaning differ
)

// Problem is one thing wrong with the arguments, described so that a model can fix it.
type Problem struct {
	Code     Code   `json:"code"`
	Field    string `json:"field"` // JSON pointer into the arguments; "" for all of them
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

func (p Problem) String() string {
	field := p.Field
	if field == "" {
		field = "arguments"
	}
	text := ""
	switch {
	case p.Code == Unknown:
		text = "unknown argument"
	case p.Code == Missing:
		text = "missing, expected " + p.Expected
	case p.Got == "":
		text = "expected " + p.Expected
	default:
		text = "expected " + p.Expected + ", got " + p.Got
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return field + ": " + text
}

// Error lists everything wrong with one set of arguments.
type Error struct {
	Problems []Problem // at most maxProblems
	More     int       // how many more there are
	what     string    // what was checked
	code     fault.Code
	brief    bool // unions are reported without their branches, whose number grows with depth
}

const (
	maxProblems = 16
	maxText     = 160 // bytes of one part of a problem
)

func (r *Error) Error() string {
	lines := make([]string, 0, len(r.Problems)+1)
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	if r.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", r.More))
	}
	sep := "\n"
	if len(lines) == 1 {
		sep = " "
	}
	return r.what + ":" + sep + strings.Join(lines, "\n")
}

// Unwrap returns a fault.Error with the problems as details.
func (r *Error) Unwrap() error {
	details := struct {
		Problems []Problem `json:"problems"`
		More     int       `json:"more,omitempty"`
	}{r.Problems, r.More}
	return fault.New(r.code, "%s", r.Error()).WithDetails(details)
}

func refuse(problems ...Problem) *Error {
	return &Error{Problems: problems, what: "the arguments do not fit", code: fault.BadArguments}
}

// add reports value i.
func (r *Error) add(code Code, t *tape, i int32, expected string) {
	r.Problems = append(r.Problems, Problem{Code: code, Field: t.pointer(i), Expected: expected, Got: got(t, i)})
}

// orNil returns nil if there are no problems.
func (r *Error) orNil() *Error {
	if len(r.Problems) == 0 {
		return nil
	}
	return r
}

// of changes what was checked, and the code.
func (r *Error) of(what string, code fault.Code) *Error {
	r.what = what
	r.code = code
	return r
}

// include adds a problem, once for each place and code.
func (r *Error) include(p Problem) {
	if !slices.ContainsFunc(r.Problems, func(q Problem) bool { return q.Field == p.Field && q.Code == p.Code }) {
		r.Problems = append(r.Problems, p)
	}
}

// full reports whether further problems are only counted: describing each would take too long.
func (r *Error) full() bool {
	if len(r.Problems) < maxProblems {
		return false
	}
	r.More++
	return true
}

// cut truncates text for a message, without splitting a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// got describes the actual value.
func got(t *tape, i int32) string {
	const most = 60
	tok := &t.tokens[i]
	switch tok.kind {
	case isNull:
		return "null"
	case isBoolean:
		return "boolean " + string(t.raw(i))
	case isNumber:
		return "number " + cut(string(t.raw(i)), most)
	case isString:
		return "string " + cut(strconv.QuoteToGraphic(cut(t.text(i), most)), 2*most)
	case isArray:
		return "array of " + plural(int(tok.size), "item")
	default:
		return "object of " + plural(int(tok.size), "property")
	}
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "y"):
		return strconv.Itoa(n) + " " + word[:len(word)-1] + "ies"
	}
	return strconv.Itoa(n) + " " + word + "s"
}
