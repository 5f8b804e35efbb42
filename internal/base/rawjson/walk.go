package rawjson

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Walk iterates over the members of an object or the elements of an array. After Next its fields
// describe the current one.
type Walk struct {
	Key        []byte // the member's name, unescaped; nil in an array
	Value      []byte // its raw value
	Start, End int    // range of Value in the walked bytes
	Longest    *Span  // of the strings in the values that Next and Skip move over; one known before is not read again; nil: not wanted

	data  []byte
	pos   int
	count int
	depth int
	close byte
	inner bool // it is inside another value, so that more may follow
	done  bool
	err   error
}

// Object starts a walk over the members of the object in data.
func Object(data []byte) Walk { return start(data, '{', '}') }

// Array starts a walk over the elements of the array in data.
func Array(data []byte) Walk { return start(data, '[', ']') }

func start(data []byte, open, close byte) Walk {
	w := Walk{data: data, close: close, depth: 1}
	w.pos = skipSpace(data, 0)
	if w.pos >= len(data) || data[w.pos] != open {
		w.err = syntax(w.pos, string(open))
		return w
	}
	w.pos++
	return w
}

// Next steps to the next member or element. After the last it checks that nothing follows.
func (w *Walk) Next() bool { return w.Step() && w.Skip() }

// Step is the first half of Next: it stops before the value and sets only Start. Skip, SkipTo or
// Into must follow.
func (w *Walk) Step() bool {
	if w.err != nil || w.done {
		return false
	}
	i := skipSpace(w.data, w.pos)
	if i < len(w.data) && w.data[i] == w.close {
		return w.finish(i + 1)
	}
	if w.count > 0 {
		if i >= len(w.data) || w.data[i] != ',' {
			return w.fail(i, "a comma or "+string(w.close))
		}
		i = skipSpace(w.data, i+1)
	}
	w.count++
	if w.close == '}' {
		i = w.key(i)
		if w.err != nil {
			return false
		}
	}
	if i >= len(w.data) {
		return w.fail(i, "a value")
	}
	w.Start = i
	w.pos = i
	return true
}

// Skip moves over the value that Step stopped at.
func (w *Walk) Skip() bool {
	end, err := skipValue(w.data, w.Start, w.depth, w.Longest)
	if err != nil {
		w.err = err
		return false
	}
	w.SkipTo(end)
	return true
}

// SkipChecked is Skip for data that was validated before: strings are not validated again.
func (w *Walk) SkipChecked() bool {
	if w.data[w.Start] != '"' {
		return w.Skip()
	}
	end := stringEnd(w.data, w.Start)
	if end == 0 {
		return w.fail(w.Start, "the end of a string")
	}
	w.SkipTo(end)
	return true
}

// SkipTo continues after the value that Step stopped at, for callers that know its end.
func (w *Walk) SkipTo(end int) {
	w.Value = w.data[w.Start:end]
	w.End = end
	w.pos = end
}

// Into starts a walk over the object or array that Step stopped at, so that its bytes are scanned
// only once. Out must follow.
func (w *Walk) Into() Walk {
	in := Walk{data: w.data, pos: w.Start + 1, depth: w.depth + 1, close: '}', inner: true}
	switch {
	case in.depth > MaxDepth:
		in.err = ErrDepth
	case w.data[w.Start] == '[':
		in.close = ']'
	case w.data[w.Start] != '{':
		in.err = syntax(w.Start, "{")
	}
	return in
}

// Out continues after the value that was walked inside.
func (w *Walk) Out(in *Walk) {
	for in.Next() {
	}
	w.err = in.err
	if w.err == nil {
		w.SkipTo(in.pos)
	}
}

// key reads a member's name at i and returns where its value starts.
func (w *Walk) key(i int) int {
	end, value, err := skipKey(w.data, i)
	if err != nil {
		w.err = err
		return i
	}
	w.Key = w.data[i+1 : end-1]
	if bytes.IndexByte(w.Key, '\\') >= 0 {
		s, _ := String(w.data[i:end]) // just scanned: it is a valid literal
		w.Key = []byte(s)
	}
	return value
}

func (w *Walk) finish(end int) bool {
	w.done = true
	w.pos = end
	end = skipSpace(w.data, end)
	if end != len(w.data) && !w.inner {
		w.err = syntax(end, "end of input")
	}
	w.Key = nil
	w.Value = nil
	return false
}

func (w *Walk) fail(offset int, want string) bool {
	w.err = syntax(offset, want)
	return false
}

// Err returns what stopped the walk before the end, or nil.
func (w *Walk) Err() error { return w.err }

// Get returns the raw value under the keys, outermost first; nil when there is none.
func Get(data []byte, keys ...string) []byte {
	for _, key := range keys {
		w := Object(data)
		for w.Next() && string(w.Key) != key {
		}
		if w.Value == nil || w.err != nil {
			return nil
		}
		data = w.Value
	}
	return data
}

// String decodes a JSON string literal; false when raw is something else.
func String(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if end, err := skipString(raw, 0); err != nil || end != len(raw) {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// IsNull reports whether raw is absent or null.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
