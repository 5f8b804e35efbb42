package rawjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Digest is equal for two values that mean the same, whatever their order of members, whitespace and escapes. Members of
// the same name stay in their order: readers differ in which of them counts.
func Digest(raw json.RawMessage) [sha256.Size]byte {
	raw = bytes.TrimSpace(raw)
	var parts [][]byte
	kind := byte('v')
	switch {
	case len(raw) == 0:
	case raw[0] == '{':
		kind = '{'
		for w := Object(raw); w.Next(); {
			name := sha256.Sum256(w.Key)
			value := Digest(w.Value)
			parts = append(parts, append(name[:], value[:]...))
		}
		slices.SortStableFunc(parts, func(a, b []byte) int { return bytes.Compare(a[:sha256.Size], b[:sha256.Size]) })
	case raw[0] == '[':
		kind = '['
		for w := Array(raw); w.Next(); {
			part := Digest(w.Value)
			parts = append(parts, part[:])
		}
	case raw[0] == '"':
		text, _ := String(raw)
		kind = '"'
		parts = [][]byte{[]byte(text)}
	default:
		parts = [][]byte{raw}
	}
	return sha256.Sum256(append([]byte{kind}, bytes.Join(parts, nil)...))
}
