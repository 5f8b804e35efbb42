package fit

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// kind is what a JSON value is.
type kind = jsonschema.Kind

const (
	isNull    = jsonschema.Null
	isBoolean = jsonschema.Bool
	isNumber  = jsonschema.Number
	isString  = jsonschema.String
	isArray   = jsonschema.Array
	isObject  = jsonschema.Object
)

// token is one value of a tape: its position and name.
type token struct {
	kind        kind
	dead        bool // a duplicate: a later member has the same name
	escaped     bool // its name contains an escape
	start, end  int32
	key, keyEnd int32 // its name with quotes; both 0 for elements
	parent      int32 // -1 at the root
	next        int32 // the token after everything inside this one
	size        int32 // number of live members or elements
}

// tape is parsed JSON, so that a value can be visited often. The root is token 0, followed by
// its contents.
type tape struct {
	data   []byte
	tokens []token
}

// read fills the tape from data, which it checks and keeps.
func (t *tape) read(data []byte) error {
	if err := rawjson.Check(data); err != nil {
		return err
	}
	t.data = data
	t.tokens = t.tokens[:0]
	t.value(t.blank(0), -1)
	return nil
}

// blank returns where the white space at i ends. Here and below the bytes are known to be
// valid JSON.
func (t *tape) blank(i int) int {
	for i < len(t.data) && (t.data[i] == ' ' || t.data[i] == '\n' || t.data[i] == '\r' || t.data[i] == '\t') {
		i++
	}
	return i
}

// value reads the value at i and returns where it ends.
func (t *tape) value(i int, parent int32) int {
	at := len(t.tokens)
	t.tokens = append(t.tokens, token{start: int32(i), parent: parent})
	end := i
	k := isNull
	switch t.data[i] {
	case '{':
		end = t.members(i, int32(at))
		k = isObject
	case '[':
		end = t.elements(i, int32(at))
		k = isArray
	case '"':
		end = t.literal(i)
		k = isString
	case 'n':
		end = i + len("null")
	case 't':
		end = i + len("true")
		k = isBoolean
	case 'f':
		end = i + len("false")
		k = isBoolean
	default:
		k = isNumber
		for end < len(t.data) && isNumeric(t.data[end]) {
			end++
		}
	}
	tok := &t.tokens[at]
	tok.kind = k
	tok.end = int32(end)
	tok.next = int32(len(t.tokens))
	return end
}

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// literal returns where the string at i ends.
func (t *tape) literal(i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(t.data[i:], '"')
		before := i
		for t.data[before-1] == '\\' {
			before--
		}
		if (i-before)%2 == 0 { // an even number of backslashes: the quote is not escaped
			return i + 1
		}
	}
}

func (t *tape) elements(i int, at int32) int {
	size := int32(0)
	for i = t.blank(i + 1); t.data[i] != ']'; size++ {
		i = t.blank(t.value(i, at))
		if t.data[i] == ',' {
			i = t.blank(i + 1)
		}
	}
	t.tokens[at].size = size
	return i + 1
}

func (t *tape) members(i int, at int32) int {
	size := int32(0)
	for i = t.blank(i + 1); t.data[i] != '}'; size++ {
		key := i
		i = t.literal(i)
		keyEnd := i
		child := len(t.tokens)
		i = t.blank(t.value(t.blank(t.blank(i)+1), at))
		tok := &t.tokens[child]
		tok.key = int32(key)
		tok.keyEnd = int32(keyEnd)
		tok.escaped = bytes.IndexByte(t.data[key:keyEnd], '\\') >= 0
		if t.data[i] == ',' {
			i = t.blank(i + 1)
		}
	}
	t.tokens[at].size = size
	t.bury(at)
	return i + 1
}

// bury marks duplicate members as dead, except the last.
func (t *tape) bury(at int32) {
	end := int32(len(t.tokens))
	if t.tokens[at].size > 16 {
		last := make(map[string]int32, t.tokens[at].size)
		for i := at + 1; i < end; i = t.tokens[i].next {
			name := t.name(i)
			if before, twice := last[name]; twice {
				t.kill(before)
			}
			last[name] = i
		}
		return
	}
	for i := at + 1; i < end; i = t.tokens[i].next {
		for j := t.tokens[i].next; j < end; j = t.tokens[j].next {
			if t.sameName(i, j) {
				t.kill(i)
				break
			}
		}
	}
}

func (t *tape) kill(i int32) {
	t.tokens[i].dead = true
	t.tokens[t.tokens[i].parent].size--
}

func (t *tape) sameName(i, j int32) bool {
	a := &t.tokens[i]
	b := &t.tokens[j]
	if a.escaped || b.escaped {
		return t.name(i) == t.name(j)
	}
	return a.keyEnd-a.key == b.keyEnd-b.key && string(t.data[a.key:a.keyEnd]) == string(t.data[b.key:b.keyEnd])
}

// first returns the first live value inside token i, after the next one; both return -1 at the
// end.
func (t *tape) first(i int32) int32 { return t.live(i+1, t.tokens[i].next) }

func (t *tape) after(i int32) int32 {
	return t.live(t.tokens[i].next, t.tokens[t.tokens[i].parent].next)
}

func (t *tape) live(i, end int32) int32 {
	for i < end && t.tokens[i].dead {
		i = t.tokens[i].next
	}
	if i >= end {
		return -1
	}
	return i
}

// get returns the member of object i by name, or -1.
func (t *tape) get(i int32, name string) int32 {
	if t.tokens[i].kind != isObject {
		return -1
	}
	for m := t.first(i); m >= 0; m = t.after(m) {
		if t.is(m, name) {
			return m
		}
	}
	return -1
}

// is reports whether token i has the name.
func (t *tape) is(i int32, name string) bool {
	tok := &t.tokens[i]
	if tok.escaped {
		return t.name(i) == name
	}
	return string(t.data[tok.key+1:tok.keyEnd-1]) == name
}

// name returns the member's name; "" for an element.
func (t *tape) name(i int32) string {
	tok := &t.tokens[i]
	if tok.keyEnd == 0 {
		return ""
	}
	s, _ := rawjson.String(t.data[tok.key:tok.keyEnd]) // it was checked
	return s
}

// raw returns the value's bytes.
func (t *tape) raw(i int32) []byte { return t.data[t.tokens[i].start:t.tokens[i].end] }

// text returns the text of a string; "" for any other value.
func (t *tape) text(i int32) string {
	s, _ := rawjson.String(t.raw(i))
	return s
}

// inner returns the text of a string, without a copy if it has no escape.
func (t *tape) inner(i int32) []byte { return plainText(t.raw(i)) }

// innerName is inner for the member's name.
func (t *tape) innerName(i int32) []byte {
	return plainText(t.data[t.tokens[i].key:t.tokens[i].keyEnd])
}

func plainText(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	s, _ := rawjson.String(quoted)
	return []byte(s)
}

// length counts the characters of a string.
func (t *tape) length(i int32) int {
	return utf8.RuneCount(t.inner(i))
}

// pointer returns the JSON pointer to token i.
func (t *tape) pointer(i int32) string {
	parent := t.tokens[i].parent
	if parent < 0 {
		return ""
	}
	if t.tokens[i].keyEnd > 0 {
		return t.pointer(parent) + "/" + jsonschema.EscapeToken(t.name(i))
	}
	n := 0
	for j := t.first(parent); j != i; j = t.after(j) {
		n++
	}
	return t.pointer(parent) + "/" + strconv.Itoa(n)
}
