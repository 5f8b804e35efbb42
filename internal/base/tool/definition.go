// Package tool has servers, tools and their names. It never does I/O, and keeps the definition
// that a server gave of its tool byte for byte.
//
//	def, err := tool.ParseDefinition(raw)
//	shown := tool.Shown(string(tool.Canonical("files", def.Name)), "files", def.Name)
//	out := def.Renamed(shown)
package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// maxDefinition is far more than a model can read.
const maxDefinition = 1 << 20

// ParseDefinition finds the name, which every tool must have.
func ParseDefinition(raw json.RawMessage) (Definition, error) {
	d := Definition{Raw: raw}
	if len(raw) > maxDefinition {
		return Definition{}, fmt.Errorf("the definition has %d bytes, more than %d", len(raw), maxDefinition)
	}
	if !utf8.Valid(raw) {
		return Definition{}, fmt.Errorf("the definition is not UTF-8") // one such byte would break every list
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
			return Definition{}, fmt.Errorf("the tool's name is not text: %.40s", w.Value)
		}
		d.Name = name
		d.nameStart = w.Start
		d.nameEnd = w.End
	}
	if err := w.Err(); err != nil {
		return Definition{}, err
	}
	if d.nameEnd == 0 {
		return Definition{}, fmt.Errorf("the tool has no name")
	}
	return d, nil
}

// Same reports whether two definitions are equal up to the order of keys, white space and
// escapes. A repeated key counts twice: parsers differ in which of the two they use.
func Same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if rawjson.Check(a) != nil || rawjson.Check(b) != nil {
		return false
	}
	return bytes.Equal(appendSorted(nil, bytes.TrimSpace(a)), appendSorted(nil, bytes.TrimSpace(b)))
}

// Hash is the same for definitions that are the same.
func Hash(definition json.RawMessage) string {
	canonical := []byte(definition)
	if rawjson.Check(definition) == nil {
		canonical = appendSorted(nil, bytes.TrimSpace(definition))
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// appendSorted appends valid JSON in a canonical form.
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

// Renamed returns the definition under another name.
func (d Definition) Renamed(name string) []byte {
	if name == d.Name {
		return d.Raw
	}
	edit := rawjson.Edit{Start: d.nameStart, End: d.nameEnd, New: rawjson.AppendString(nil, name)}
	return rawjson.AppendSplice(make([]byte, 0, len(d.Raw)+len(name)), d.Raw, edit)
}

// Shown returns the definition under another name and with another input schema.
func (d Definition) Shown(name string, inputSchema json.RawMessage) []byte {
	edits := []rawjson.Edit{{Start: d.nameStart, End: d.nameEnd, New: rawjson.AppendString(nil, name)}}
	found := false
	for w := rawjson.Object(d.Raw); w.Next(); {
		if string(w.Key) == "inputSchema" {
			edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: inputSchema})
			found = true
		}
	}
	if !found {
		member := append([]byte(`,"inputSchema":`), inputSchema...)
		edits = append(edits, rawjson.Edit{Start: d.nameEnd, End: d.nameEnd, New: member})
	}
	slices.SortStableFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	return rawjson.AppendSplice(make([]byte, 0, len(d.Raw)+len(inputSchema)), d.Raw, edits...)
}

// Description returns the server's description of the tool, or "".
func (d Definition) Description() string {
	s, _ := rawjson.String(rawjson.Get(d.Raw, "description"))
	return s
}

// InputSchema returns the raw schema of the arguments, or nil.
func (d Definition) InputSchema() json.RawMessage { return rawjson.Get(d.Raw, "inputSchema") }

// OutputSchema returns the raw schema of structured results, or nil.
func (d Definition) OutputSchema() json.RawMessage { return rawjson.Get(d.Raw, "outputSchema") }

// TaskSupport says whether calls of the tool may run as tasks: optional or required; "" if they may not.
func (d Definition) TaskSupport() string {
	switch s, _ := rawjson.String(rawjson.Get(d.Raw, "execution", "taskSupport")); s {
	case "optional", "required":
		return s
	}
	return ""
}

// NeedsTask reports whether the tool runs only as a task.
func (d Definition) NeedsTask() bool { return d.TaskSupport() == "required" }
