package cloudbase

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// result is a result with the object v as text and as structured content.
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
