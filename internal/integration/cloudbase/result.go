package cloudbase

import (
	"bytes"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// result is the result of a call that answers with the object v: as text, and as structured
// content for programs.
func result(v json.RawMessage, isError bool) json.RawMessage {
	b := make([]byte, 0, 2*len(v)+len(v)/4+128)
	b = append(b, `{"content":[{"type":"text","text":`...)
	b = rawjson.AppendString(b, string(v))
	b = append(b, `}],"structuredContent":`...)
	b = append(b, v...)
	if isError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}')
}

// encode writes what is made of texts, numbers and maps of them, without the escapes that
// only HTML needs.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // such values always have a form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
