// Package tool holds the nouns of the trade: servers, tools, and their names. It never
// does I/O, and it never changes a definition: what a server said about its tool is kept
// byte for byte.
//
//	def, err := tool.ParseDefinition(raw)
//	shown := tool.Shown(string(tool.Canonical("files", def.Name)), "files", def.Name)
//	out := def.Renamed(shown)
package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Definition is a tool as its server describes it.
type Definition struct {
	Name string          // the server's own name for it
	Raw  json.RawMessage // the whole definition, byte for byte; read-only

	nameStart, nameEnd int
}

// maxDefinition bounds a definition: no model could read more.
const maxDefinition = 1 << 20

// ParseDefinition checks what every tool must have, a name, and finds its place.
func ParseDefinition(raw json.RawMessage) (Definition, error) {
	d := Definition{Raw: raw}
	if len(raw) > maxDefinition {
		return Definition{}, fmt.Errorf("the definition has %d bytes, more than %d", len(raw), maxDefinition)
	}
	if !utf8.Valid(raw) {
		return Definition{}, fmt.Errorf("the definition is not UTF-8") // one such byte would spoil everybody's list
	}
	w := rawjson.Object(raw)
	for w.Next() {
		if string(w.Key) != "name" {
			if bytes.EqualFold(w.Key, []byte("name")) {
				return Definition{}, fmt.Errorf("the definition has a member %q, which some readers take for its name", w.Key)
			}
			continue
		}
		if d.nameEnd != 0 {
			return Definition{}, fmt.Errorf("the definition has two names")
		}
		name, ok := rawjson.String(w.Value)
		if !ok || name == "" {
			return Definition{}, fmt.Errorf("the tool's name is no text: %.40s", w.Value)
		}
		d.Name, d.nameStart, d.nameEnd = name, w.Start, w.End
	}
	if err := w.Err(); err != nil {
		return Definition{}, err
	}
	if d.nameEnd == 0 {
		return Definition{}, fmt.Errorf("the tool has no name")
	}
	return d, nil
}

// Same tells whether two definitions mean the same: any order of keys, any blanks and any way
// to escape. A key that stands there twice counts twice: readers differ in which of the two
// they take.
func Same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if rawjson.Check(a) != nil || rawjson.Check(b) != nil {
		return false
	}
	return bytes.Equal(appendSorted(nil, bytes.TrimSpace(a)), appendSorted(nil, bytes.TrimSpace(b)))
}

// appendSorted appends valid JSON in a form that is the same for all that means the same.
func appendSorted(dst, raw []byte) []byte {
	switch raw[0] {
	case '"':
		s, _ := rawjson.String(raw)
		return rawjson.AppendString(dst, s)
	case '[':
		dst = append(dst, '[')
		for w := rawjson.Array(raw); w.Next(); {
			dst = append(appendSorted(dst, w.Value), ',')
		}
		return append(dst, ']')
	case '{':
		type member struct {
			key   string
			value []byte
		}
		var members []member
		for w := rawjson.Object(raw); w.Next(); {
			members = append(members, member{string(w.Key), w.Value})
		}
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(rawjson.AppendString(dst, m.key), ':')
			dst = append(appendSorted(dst, m.value), ',')
		}
		return append(dst, '}')
	}
	return append(dst, raw...)
}

// Renamed is the definition under another name and otherwise unchanged.
func (d Definition) Renamed(name string) []byte {
	if name == d.Name {
		return d.Raw
	}
	edit := rawjson.Edit{Start: d.nameStart, End: d.nameEnd, New: rawjson.AppendString(nil, name)}
	return rawjson.AppendSplice(make([]byte, 0, len(d.Raw)+len(name)), d.Raw, edit)
}

// Shown is the definition under another name and with another schema for its arguments.
func (d Definition) Shown(name string, inputSchema json.RawMessage) []byte {
	edits := []rawjson.Edit{{Start: d.nameStart, End: d.nameEnd, New: rawjson.AppendString(nil, name)}}
	found := false
	for w := rawjson.Object(d.Raw); w.Next(); {
		if string(w.Key) == "inputSchema" {
			edits, found = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: inputSchema}), true
		}
	}
	if !found {
		member := append([]byte(`,"inputSchema":`), inputSchema...)
		edits = append(edits, rawjson.Edit{Start: d.nameEnd, End: d.nameEnd, New: member})
	}
	slices.SortStableFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	return rawjson.AppendSplice(make([]byte, 0, len(d.Raw)+len(inputSchema)), d.Raw, edits...)
}

// Description is what the server says the tool does; "" when it says nothing.
func (d Definition) Description() string {
	s, _ := rawjson.String(rawjson.Get(d.Raw, "description"))
	return s
}

// InputSchema is the raw schema of the arguments; nil when the server gives none.
func (d Definition) InputSchema() json.RawMessage { return rawjson.Get(d.Raw, "inputSchema") }

// OutputSchema is the raw schema of structured results; nil when the server gives none.
func (d Definition) OutputSchema() json.RawMessage { return rawjson.Get(d.Raw, "outputSchema") }

// NeedsTask tells whether the tool can only run as a task, which we do not carry.
func (d Definition) NeedsTask() bool {
	s, _ := rawjson.String(rawjson.Get(d.Raw, "execution", "taskSupport"))
	return s == "required"
}
