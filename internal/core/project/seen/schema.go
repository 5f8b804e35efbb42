package seen

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// words are the kinds as a schema names them, in the order in which they are written.
var words = [...]struct {
	kind kind
	word string
}{{object, "object"}, {array, "array"}, {text, "string"}, {integer, "integer"}, {number, "number"}, {boolean, "boolean"}, {null, "null"}}

// Schema writes the type as a JSON Schema that every one of its values meets: the same bytes for the same type.
func (t *Type) Schema() json.RawMessage { return t.append(nil) }

func (t *Type) append(out []byte) []byte {
	kinds := t.kinds
	if kinds&number != 0 {
		kinds &^= integer
	}
	if kinds == 0 {
		return append(out, "{}"...)
	}
	var list []string
	for _, w := range words {
		if kinds&w.kind != 0 {
			list = append(list, w.word)
		}
	}
	out = append(out, `{"type":`...)
	if len(list) == 1 {
		out = rawjson.AppendString(out, list[0])
	} else {
		out = append(out, rawjson.Encode(list)...)
	}
	switch {
	case t.record != nil:
		out = t.record.append(append(out, `,"additionalProperties":`...))
	case len(t.members) > 0:
		out = t.appendMembers(out)
	}
	if t.items != nil {
		out = t.items.append(append(out, `,"items":`...))
	}
	return append(out, '}')
}

func (t *Type) appendMembers(out []byte) []byte {
	required := []string{}
	separator := `,"properties":{`
	for _, name := range slices.Sorted(maps.Keys(t.members)) {
		m := t.members[name]
		out = rawjson.AppendString(append(out, separator...), name)
		out = m.append(append(out, ':'))
		separator = ","
		if m.count >= t.objects {
			required = append(required, name)
		}
	}
	out = append(out, '}')
	if len(required) == 0 {
		return out
	}
	return append(append(out, `,"required":`...), rawjson.Encode(required)...)
}
