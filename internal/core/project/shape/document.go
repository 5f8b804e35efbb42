package shape

import (
	"bytes"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// maxNested is how deep objects are taken apart into dotted names. Deeper ones stay JSON.
const maxNested = 4

// document writes compact JSON with its arrays as tables; false when none gets shorter.
func document(compact []byte) ([]byte, bool) {
	var out []byte
	ok := false
	switch compact[0] {
	case '[':
		out, ok = section(nil, nil, compact)
	case '{':
		out, ok = lines(nil, nil, compact, 0)
	}
	return bytes.TrimSuffix(out, []byte("\n")), ok
}

// lines writes an object, one member per line; false, with nothing written, when none is a table.
func lines(dst, prefix, object []byte, depth int) ([]byte, bool) {
	start := len(dst)
	tables := false
	seen := map[string]bool{}
	for w := rawjson.Object(object); w.Next(); {
		if seen[string(w.Key)] || depth > 0 && !isBareKey(w.Key) {
			return dst[:start], false
		}
		seen[string(w.Key)] = true
		name := append(prefix[:len(prefix):len(prefix)], keyText(w.Key)...)
		before := len(dst)
		ok := false
		switch {
		case w.Value[0] == '[':
			dst, ok = section(dst, name, w.Value)
		case w.Value[0] == '{' && depth < maxNested && isBareKey(w.Key):
			dst, ok = lines(dst, append(name, '.'), w.Value, depth+1)
		}
		tables = tables || ok
		if !ok {
			dst = append(append(dst[:before], name...), ": "...)
			dst = append(appendCell(dst, w.Value, false), '\n')
		}
	}
	if !tables {
		return dst[:start], false
	}
	return dst, true
}

// section writes an array as a table; false, with nothing written, when it is none or does not get
// shorter.
func section(dst, name, array []byte) ([]byte, bool) {
	t, ok := readTable(array)
	if !ok {
		return dst, false
	}
	start := len(dst)
	dst = append(append(dst, name...), '[')
	dst = strconv.AppendInt(dst, int64(len(t.rows)), 10)
	dst = append(dst, "]:\n"...)
	dst = t.write(dst)
	if len(dst)-start >= len(name)+2+len(array) {
		return dst[:start], false
	}
	return dst, true
}

// keyText is a name as a line or a header writes it.
func keyText(key []byte) []byte {
	if isBareKey(key) {
		return key
	}
	return rawjson.AppendString(nil, string(key))
}

// isBareKey reports whether a name needs no quotes, and may be part of a dotted name.
func isBareKey(key []byte) bool {
	for _, c := range key {
		if c <= ' ' || c == 0x7f || bytes.IndexByte([]byte(`.,:=[]"\`), c) >= 0 {
			return false
		}
	}
	return len(key) > 0
}

// appendCell writes a value. In a table a comma ends a cell, so that a string with one is quoted.
func appendCell(dst, value []byte, table bool) []byte {
	if value[0] != '"' || !isBareText(value[1:len(value)-1], table) {
		return append(dst, value...)
	}
	return append(dst, value[1:len(value)-1]...)
}

// isBareText reports whether a string needs no quotes: it cannot be mistaken for another value, and has
// no escapes.
func isBareText(s []byte, table bool) bool {
	if len(s) == 0 || s[0] == ' ' || s[len(s)-1] == ' ' || s[0] == '{' || s[0] == '[' {
		return false
	}
	for _, c := range s {
		if c < ' ' || c == '\\' || c == 0x7f || table && c == ',' {
			return false
		}
	}
	switch c := s[0]; {
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n':
		return rawjson.Check(s) != nil // not a number, true, false or null
	}
	return true
}
