package loosejson

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Call is a call as Python writes it: read(path="a.txt", lines=[1, 2]).
type Call struct {
	Name       string
	Args       json.RawMessage   // the object of those that have a name
	Positional []json.RawMessage // those that have none
}

// maxName limits the names in a call.
const maxName = 128

// FirstCall reads the call that a text begins with, and returns what follows it.
func FirstCall(text string) (c Call, rest string, ok bool) {
	r := callReader{args: []byte{'{'}, seen: map[string]bool{}}
	c.Name, r.rest, ok = FunctionName(text)
	for first := true; ok; first = false {
		r.blanks()
		after, ended := strings.CutPrefix(r.rest, ")")
		if ended {
			c.Args = append(r.args, '}')
			c.Positional = r.free
			return c, after, true
		}
		if !first {
			r.rest, ok = strings.CutPrefix(r.rest, ",")
			r.blanks()
			if strings.HasPrefix(r.rest, ")") {
				continue
			}
		}
		ok = ok && r.argument()
	}
	return c, text, false
}

// FunctionName returns the name that a call begins with, and what follows its bracket.
func FunctionName(text string) (name, rest string, ok bool) {
	at := strings.IndexByte(text[:min(len(text), maxName)], '(')
	if at <= 0 || !isName(text[:at]) {
		return "", text, false
	}
	return text[:at], text[at+1:], true
}

// isName tells whether nothing in a text has a meaning of its own.
func isName(text string) bool {
	return text != "" && !strings.ContainsAny(text, " \t\r\n()[]{}<>,;:=+*!?#`'\"\\")
}

type callReader struct {
	rest string
	args []byte
	seen map[string]bool
	free []json.RawMessage // the values without a name
}

func (r *callReader) blanks() { r.rest = strings.TrimLeft(r.rest, " \t\r\n") }

// argument reads one value, with its name or without.
func (r *callReader) argument() bool {
	name := ""
	if at := strings.IndexByte(r.rest[:min(len(r.rest), maxName)], '='); at > 0 && isName(strings.TrimSpace(r.rest[:at])) {
		name = strings.TrimSpace(r.rest[:at])
		r.rest = r.rest[at+1:]
	}
	value, rest, err := First(r.rest)
	if err != nil || r.seen[name] || name == "" && len(r.seen) > 0 {
		return false
	}
	r.rest = rest
	if name == "" {
		r.free = append(r.free, value)
		return true
	}
	r.seen[name] = true
	if len(r.args) > 1 {
		r.args = append(r.args, ',')
	}
	r.args = append(rawjson.AppendString(r.args, name), ':')
	r.args = append(r.args, value...)
	return true
}
