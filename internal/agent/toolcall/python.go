package toolcall

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/loosejson"
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
		c, after, ok := loosejson.FirstCall(rest)
		if !ok {
			return nil
		}
		raw := rest[:len(rest)-len(after)]
		calls = append(calls, Call{Tool: c.Name, Args: c.Args, Positional: c.Positional, Raw: raw})
		rest = after
	}
	if list && strings.TrimSpace(rest) != "]" {
		return nil
	}
	return calls
}
