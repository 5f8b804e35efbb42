package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// args reads the arguments of one call. The first refusal is kept and every later read
// gives a zero value, so that a tool reads all its fields and asks once, with done.
type args struct {
	path   string // where the object stands, for messages: "" or "filter."
	fields map[string]json.RawMessage
	known  []string
	err    error
}

// readArgs opens the arguments; none at all are the empty object.
func readArgs(raw json.RawMessage) *args {
	if len(raw) == 0 {
		return &args{}
	}
	return readObject(raw, "arguments", "")
}

// readObject opens an object that is called name in messages.
func readObject(raw json.RawMessage, name, path string) *args {
	a := &args{path: path}
	if kindOf(raw) != '{' {
		a.err = refusef("%s: expected an object, got %s", name, describe(raw))
		return a
	}
	if err := json.Unmarshal(raw, &a.fields); err != nil {
		a.err = refusef("%s: expected an object, got broken JSON", name)
	}
	return a
}

// done gives the first refusal. Fields that no read asked for are refused too, because
// the schemas allow no others.
func (a *args) done() error {
	if a.err != nil {
		return a.err
	}
	for _, name := range slices.Sorted(maps.Keys(a.fields)) {
		if slices.Contains(a.known, name) {
			continue
		}
		if len(a.known) == 0 {
			return refusef("%s: expected no such field, got %s; there are no arguments", a.path+cut(name), describe(a.fields[name]))
		}
		return refusef("%s: expected no such field, got %s; the fields are %s",
			a.path+cut(name), describe(a.fields[name]), strings.Join(a.known, ", "))
	}
	return nil
}

// take gives the field's bytes, nil when it is absent.
func (a *args) take(name string) json.RawMessage {
	a.known = append(a.known, name)
	return a.fields[name]
}

// refuse keeps the first refusal, in one form for all: field, expected, came.
func (a *args) refuse(name, expected string, raw json.RawMessage) {
	if a.err == nil {
		a.err = refusef("%s: expected %s, got %s", a.path+name, expected, describe(raw))
	}
}

// text reads a required string of 1 to most characters.
func (a *args) text(name string, most int) string {
	raw := a.take(name)
	var s string
	if kindOf(raw) != '"' || json.Unmarshal(raw, &s) != nil || s == "" || utf8.RuneCountInString(s) > most {
		a.refuse(name, fmt.Sprintf("a string of 1 to %d characters", most), raw)
		return ""
	}
	return s
}

// textIf reads an optional string, "" when absent.
func (a *args) textIf(name string, most int) string {
	if a.fields[name] == nil {
		a.known = append(a.known, name)
		return ""
	}
	return a.text(name, most)
}

// choice reads a required string that is one of the options.
func (a *args) choice(name string, options ...string) string {
	raw := a.take(name)
	var s string
	if kindOf(raw) != '"' || json.Unmarshal(raw, &s) != nil || !slices.Contains(options, s) {
		a.refuse(name, "one of "+strings.Join(options, ", "), raw)
		return ""
	}
	return s
}

// choiceIf reads an optional choice, "" when absent.
func (a *args) choiceIf(name string, options ...string) string {
	if a.fields[name] == nil {
		a.known = append(a.known, name)
		return ""
	}
	return a.choice(name, options...)
}

// whole reads a required integer between least and most.
func (a *args) whole(name string, least, most int64) int64 {
	raw := a.take(name)
	n, ok := parseWhole(string(raw))
	if ok && n >= least && n <= most {
		return n
	}
	expected := "a positive integer"
	if most < math.MaxInt64 {
		expected = fmt.Sprintf("an integer from %d to %d", least, most)
	}
	a.refuse(name, expected, raw)
	return 0
}

// wholeOr reads an optional integer.
func (a *args) wholeOr(name string, least, most, otherwise int64) int64 {
	if a.fields[name] == nil {
		a.known = append(a.known, name)
		return otherwise
	}
	return a.whole(name, least, most)
}

// parseWhole takes 3, and also 3.0 and 3e2, which JSON Schema calls integers. A float
// from 2^53 on is not taken, because its digits are already lost.
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

// kindOf gives the first byte of a value, 0 when it is absent.
func kindOf(raw json.RawMessage) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// describe names a value that came, short enough for a sentence.
func describe(raw json.RawMessage) string {
	switch kindOf(raw) {
	case 0:
		return "nothing"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the string " + cut(string(raw))
	case 'n':
		return "null"
	case 't', 'f':
		return "the boolean " + string(raw)
	}
	return "the number " + cut(string(raw))
}

// cut shortens s to what a sentence can carry.
func cut(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
