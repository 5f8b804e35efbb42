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

// laterValues are the values in arguments after call k that did not occur in arguments before.
func laterValues(c Conversation, k int) map[string]bool {
	before := map[string]bool{}
	later := map[string]bool{}
	for i, call := range c {
		into := later
		if i <= k {
			into = before
		}
		addValues(into, call.Args)
	}
	for v := range before {
		delete(later, v)
	}
	return later
}

// addValues adds the scalars in a value, and the words in its texts: an id may be part of a path.
func addValues(into map[string]bool, raw []byte) {
	if rawjson.Check(raw) != nil {
		return
	}
	leaves(raw, nil, func(_ [][]byte, leaf []byte) {
		v := valueOf(leaf)
		if v == "" {
			return
		}
		into[v] = true
		for _, word := range strings.FieldsFunc(v, isBreak) {
			if len(word) >= leastText && !common[strings.ToLower(word)] {
				into[word] = true
			}
		}
	})
}

func isBreak(r rune) bool { return strings.ContainsRune(" \t\r\n/,;:=&?\"'()<>[]{}|", r) }

// maxDepth limits how deep results are searched.
const maxDepth = 16

// leaves visits the scalars and empty containers of a value with their paths. Too deep a value is one
// leaf.
func leaves(raw []byte, path [][]byte, visit func(path [][]byte, leaf []byte)) {
	raw = bytes.TrimSpace(raw)
	some := false
	if len(path) < maxDepth {
		switch raw[0] {
		case '{':
			for w := rawjson.Object(raw); w.Next(); some = true {
				leaves(w.Value, append(path, rawjson.AppendString(nil, string(w.Key))), visit)
			}
		case '[':
			for w := rawjson.Array(raw); w.Next(); some = true {
				if w.Value[0] == '[' { // rows of rows: no deeper way, so it must not be endless
					visit(path, w.Value)
					continue
				}
				leaves(w.Value, path, visit)
			}
		}
	}
	if !some {
		visit(path, raw)
	}
}
