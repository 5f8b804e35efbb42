package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Some models were taught to write calls as Python does, alone, on lines of their own or in a list:
//
//	[read(path="a.txt", lines=[1, 2]), ping()]

// readPython reads a text of nothing but such calls; nil if it is none.
func readPython(text string) (calls []Call) {
	list := strings.HasPrefix(text, "[")
	rest := strings.TrimPrefix(text, "[")
	for {
		rest = strings.TrimLeft(rest, blanks+",;")
		if list && strings.HasPrefix(rest, "]") || rest == "" {
			break
		}
		r := pythonReader{rest: rest}
		c, ok := r.call()
		if !ok {
			return nil
		}
		c.Raw = rest[:len(rest)-len(r.rest)]
		calls = append(calls, c)
		rest = r.rest
	}
	if list && strings.TrimSpace(rest) != "]" {
		return nil
	}
	return calls
}

// functionName returns the name that a call begins with, and what follows its bracket.
func functionName(text string) (name, rest string, ok bool) {
	at := strings.IndexByte(text[:min(len(text), maxHead)], '(')
	if at <= 0 || !isName(text[:at]) {
		return "", text, false
	}
	return text[:at], text[at+1:], true
}

// isName tells whether nothing in a text has a meaning of its own.
func isName(text string) bool {
	return text != "" && !strings.ContainsAny(text, blanks+"()[]{}<>,;:=+*!?#`'\"\\")
}

type pythonReader struct {
	rest string
	args []byte
	seen map[string]bool
	free []json.RawMessage // the values without a name
}

func (r *pythonReader) call() (c Call, ok bool) {
	c.Tool, r.rest, ok = functionName(r.rest)
	r.args = []byte{'{'}
	r.seen = map[string]bool{}
	for first := true; ok; first = false {
		r.rest = strings.TrimLeft(r.rest, blanks)
		after, ended := strings.CutPrefix(r.rest, ")")
		if ended {
			r.rest = after
			c.Args = append(r.args, '}')
			c.Positional = r.free
			return c, true
		}
		if !first {
			r.rest, ok = strings.CutPrefix(r.rest, ",")
			r.rest = strings.TrimLeft(r.rest, blanks)
			if strings.HasPrefix(r.rest, ")") {
				continue
			}
		}
		ok = ok && r.argument()
	}
	return c, false
}

// argument reads one value, with its name or without.
func (r *pythonReader) argument() bool {
	name := ""
	if at := strings.IndexByte(r.rest[:min(len(r.rest), maxHead)], '='); at > 0 && isName(strings.TrimSpace(r.rest[:at])) {
		name = strings.TrimSpace(r.rest[:at])
		r.rest = r.rest[at+1:]
	}
	value, rest, err := loosejson.First(r.rest)
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
