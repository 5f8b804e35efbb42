package mcp

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// removals are the edits that remove the members of these names from an object. Its longest string is not read where it is known.
func removals(object json.RawMessage, longest rawjson.Span, names []string) (edits []rawjson.Edit) {
	end := 1
	first := true // where the last kept member ended, and whether there was none
	cut := -1     // where the current cut begins
	w := rawjson.Object(object)
	w.Longest = &longest
	for w.Next() {
		if slices.Contains(names, string(w.Key)) {
			if cut < 0 {
				cut = end
			}
			end = w.End
			continue
		}
		if cut >= 0 {
			edits = append(edits, rawjson.Edit{Start: cut, End: end})
			if first { // the comma after the cut is removed too
				edits[len(edits)-1].End = end + bytes.IndexByte(object[end:], ',') + 1
			}
			cut = -1
		}
		end = w.End
		first = false
	}
	if cut >= 0 {
		edits = append(edits, rawjson.Edit{Start: cut, End: end})
	}
	return edits
}

// Without is the object without the members of these names; all else keeps its bytes.
func Without(object json.RawMessage, names ...string) json.RawMessage {
	edits := removals(object, rawjson.Span{}, names)
	if edits == nil {
		return object
	}
	return rawjson.AppendSplice(make([]byte, 0, len(object)), object, edits...)
}

// Cut is Without for an object whose bytes may be changed: as few as possible are moved. Its longest string is not read where it
// is known. A brace behind the object stays behind it (see writeResult).
func Cut(object json.RawMessage, longest rawjson.Span, names ...string) json.RawMessage {
	edits := removals(object, longest, names)
	behind := 0
	if n := len(object); n < cap(object) && object[:n+1][n] == '}' {
		behind = 1
	}
	object = object[:len(object)+behind]
	for _, e := range slices.Backward(edits) {
		gap := e.End - e.Start
		if e.Start < len(object)-e.End {
			copy(object[gap:], object[:e.Start])
			object = object[gap:]
		} else {
			copy(object[e.Start:], object[e.End:])
			object = object[:len(object)-gap]
		}
	}
	return object[:len(object)-behind]
}

// Edit is the object with the values of the members of this name replaced; all else keeps its bytes.
func Edit(object json.RawMessage, name string, edit func(value []byte) []byte) json.RawMessage {
	var edits []rawjson.Edit
	for w := rawjson.Object(object); w.Next(); {
		if string(w.Key) == name {
			edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: edit(w.Value)})
		}
	}
	if edits == nil {
		return object
	}
	return rawjson.AppendSplice(make([]byte, 0, len(object)), object, edits...)
}

// Comma appends the comma before the next member or element, unless it is the first.
func Comma(b []byte) []byte {
	if last := b[len(b)-1]; last == '{' || last == '[' {
		return b
	}
	return append(b, ',')
}

// With is the object with one more member, which stands first.
func With(object json.RawMessage, name string, value []byte) json.RawMessage {
	b := make([]byte, 0, len(object)+len(name)+len(value)+4)
	b = append(rawjson.AppendString(append(b, '{'), name), ':')
	b = append(b, value...)
	rest := bytes.TrimLeft(object[1:], " \t\r\n")
	if rest[0] != '}' {
		b = append(b, ',')
	}
	return append(b, rest...)
}

// ResultType is the type of a modern result; "" if it has none. The usual places are checked first: large results are not walked.
func ResultType(result json.RawMessage) string {
	const complete = `"resultType":"complete"`
	if bytes.HasPrefix(result, []byte("{"+complete)) || bytes.HasSuffix(result, []byte(","+complete+"}")) {
		return "complete"
	}
	if !bytes.Contains(result, []byte(`"resultType"`)) {
		return ""
	}
	kind, _ := rawjson.String(rawjson.Get(result, "resultType"))
	return kind
}
