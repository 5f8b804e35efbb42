package suggest

import (
	"bytes"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Shorter values may match by chance.
const (
	leastText   = 4
	leastDigits = 4
)

// common are words that occur in results and arguments independently.
var common = map[string]bool{
	"true": true, "false": true, "null": true, "none": true, "open": true, "closed": true, "name": true, "type": true, "list": true,
	"info": true, "text": true, "json": true, "user": true, "main": true, "master": true, "default": true, "normal": true, "active": true,
	"string": true, "error": true,
}

// valueOf returns a scalar as it could be used again; "" if it is meaningless.
func valueOf(raw []byte) string {
	switch raw[0] {
	case '"':
		s, _ := rawjson.String(raw)
		if len(s) < leastText || len(s) > 1<<10 || common[strings.ToLower(s)] {
			return ""
		}
		return s
	case 't', 'f', 'n', '{', '[':
		return ""
	}
	if len(bytes.TrimLeft(raw, "-")) < leastDigits {
		return ""
	}
	return string(raw)
}

// given is what the arguments of one conversation have.
type given struct {
	first map[string]int // value → the first call that gives it
	last  map[string]int // name of an argument, in lower case → the last call that gives it
	marks [][]string     // by call, the values it is the first to give that are no mere words
}

func givenIn(c Conversation) *given {
	g := &given{map[string]int{}, map[string]int{}, make([][]string, len(c))}
	for i, call := range c {
		if rawjson.Check(call.Args) != nil {
			continue
		}
		leaves(call.Args, nil, func(path [][]byte, leaf []byte) {
			for _, key := range path {
				name, _ := rawjson.String(key)
				g.last[strings.ToLower(name)] = i
			}
			g.add(i, leaf)
		})
	}
	return g
}

// maxPieces limits the pieces of one text that are combined.
const maxPieces = 12

// add adds a scalar, and what its text is made of: an id or a shorter path may be part of a path.
func (g *given) add(call int, leaf []byte) {
	v := valueOf(leaf)
	g.see(call, v)
	var starts, ends []int
	inside := false
	for i, r := range v {
		switch b := isBreak(r); {
		case !b && !inside:
			starts = append(starts, i)
			inside = true
		case b && inside:
			ends = append(ends, i)
			inside = false
		}
	}
	if inside {
		ends = append(ends, len(v))
	}
	for i := range starts {
		most := i + 1
		if len(starts) <= maxPieces {
			most = len(starts)
		}
		for k := i; k < most; k++ {
			g.see(call, v[starts[i]:ends[k]])
		}
	}
}

func (g *given) see(call int, v string) {
	if _, known := g.first[v]; known || len(v) < leastText || common[strings.ToLower(v)] {
		return
	}
	g.first[v] = call
	if len(v) >= leastMark && !strings.ContainsAny(v, " \t\r\n") && strings.ContainsAny(v, "0123456789._-/@:#") {
		g.marks[call] = append(g.marks[call], v)
	}
}

const (
	leastMark = 6  // bytes of a value that is looked for inside of texts
	soon      = 10 // how many calls later a value counts that is only part of a text
)

func isBreak(r rune) bool { return strings.ContainsRune(" \t\r\n/,;:=&?\"'()<>[]{}|", r) }

// maxDepth limits how deep results are searched.
const maxDepth = 16

// leaves visits the scalars and empty containers of a value with their paths. Too deep a value is one
// leaf.
func leaves(raw []byte, path [][]byte, visit func(path [][]byte, leaf []byte)) {
	members(raw, path, func(path [][]byte, leaf []byte, _ bool) { visit(path, leaf) })
}

// members is leaves that tells which are the second and later values of a member, in an array.
func members(raw []byte, path [][]byte, visit func(path [][]byte, leaf []byte, more bool)) {
	raw = bytes.TrimSpace(raw)
	some := false
	if len(path) < maxDepth {
		switch raw[0] {
		case '{':
			for w := rawjson.Object(raw); w.Next(); some = true {
				members(w.Value, append(path, rawjson.AppendString(nil, string(w.Key))), visit)
			}
		case '[':
			for w := rawjson.Array(raw); w.Next(); some = true {
				if w.Value[0] == '{' {
					members(w.Value, path, visit)
				} else { // rows of rows too: no deeper way, so it must not be endless
					visit(path, w.Value, some)
				}
			}
		}
	}
	if !some {
		visit(path, raw, false)
	}
}
