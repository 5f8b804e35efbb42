package doctree

import (
	"bytes"
	"encoding/json"
)

// MarshalJSON writes a value as JSON, in the order of the document.
func (n *Node) MarshalJSON() ([]byte, error) {
	switch n.Kind {
	case Nothing, Broken:
		return []byte("null"), nil
	case List:
		return json.Marshal(append([]*Node{}, n.Items...))
	case Mapping:
		var b bytes.Buffer
		b.WriteByte('{')
		for i, e := range n.Entries {
			if i > 0 {
				b.WriteByte(',')
			}
			key, _ := json.Marshal(e.Key) // a string always can
			value, err := json.Marshal(e.Value)
			if err != nil {
				return nil, err
			}
			b.Write(key)
			b.WriteByte(':')
			b.Write(value)
		}
		b.WriteByte('}')
		return b.Bytes(), nil
	}
	if n.Kind != Text && json.Valid([]byte(n.Text)) {
		return []byte(n.Text), nil
	}
	return json.Marshal(n.Text)
}
