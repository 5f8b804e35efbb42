package mcpserver

import (
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// toolError is an error as a result that the model can act on: the sentence as text, the typed form in _meta.
func toolError(f *fault.Error) json.RawMessage {
	typed, _ := json.Marshal(f) // strings and valid JSON only
	b := append([]byte(`{"content":[{"type":"text","text":`), rawjson.AppendString(nil, f.Error())...)
	b = append(b, `}],"isError":true,"_meta":{"toolfit/error":`...)
	return append(append(b, typed...), "}}"...)
}

// rpcError is a fault where there is no tool result to carry it.
func rpcError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	code := mcp.CodeInternal
	switch f.Code {
	case fault.BadRequest, fault.UnknownTool, fault.NotFound, fault.Forbidden, fault.Denied:
		code = mcp.CodeInvalidParams
	}
	typed, _ := json.Marshal(f) // strings and valid JSON only
	return &mcp.Error{Code: code, Message: f.Error(), Data: typed}
}
