package conversation

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// MarshalJSON writes null, a string, or the list of parts.
func (c Content) MarshalJSON() ([]byte, error) {
	switch {
	case c == nil:
		return []byte("null"), nil
	case c.IsPlain():
		return rawjson.Encode(c[0].Text), nil
	}
	parts := make([]json.RawMessage, len(c))
	for i, p := range c {
		parts[i] = p.Raw
	}
	return rawjson.Encode(parts), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Anything else is empty content.
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = nil
	if text, ok := rawjson.String(data); ok {
		*c = Content{{Text: text}}
	}
	if data[0] != '[' {
		return nil
	}
	*c = Content{}
	for w := rawjson.Array(data); w.Next(); {
		text, _ := rawjson.String(rawjson.Get(w.Value, "text"))
		*c = append(*c, Part{Text: text, Raw: bytes.Clone(w.Value)})
	}
	return nil
}

// callJSON is the JSON form of a call.
type callJSON struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// MarshalJSON writes the call as a function call.
func (c Call) MarshalJSON() ([]byte, error) {
	form := callJSON{ID: c.ID, Type: "function"}
	form.Function.Name = c.Tool
	form.Function.Arguments = c.Arguments
	return rawjson.Encode(form), nil
}

// UnmarshalJSON reads a function call.
func (c *Call) UnmarshalJSON(data []byte) error {
	var form callJSON
	err := json.Unmarshal(data, &form)
	*c = Call{form.ID, form.Function.Name, form.Function.Arguments}
	return err
}

// AppendTools appends the tools as a list of functions.
func AppendTools(out []byte, tools []Tool) []byte {
	out = append(out, '[')
	for i, t := range tools {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(append(out, `{"type":"function","function":{"name":`...), t.Name)
		out = rawjson.AppendString(append(out, `,"description":`...), t.Description)
		out = append(append(out, `,"parameters":`...), t.Parameters...)
		if t.Strict {
			out = append(out, `,"strict":true`...)
		}
		out = append(out, "}}"...)
	}
	return append(out, ']')
}
