package upstream

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

const elicitMethod = "elicitation/create"

// signed puts the server's name before a question to a person: "[server mail] Which folder?". No server can pose as another.
func signed(id tool.ServerID, method string, params json.RawMessage) json.RawMessage {
	if method != elicitMethod || id == "" {
		return params
	}
	name := "[server " + string(id) + "]"
	found := false
	out := edited(params, "message", func(value []byte) []byte {
		found = true
		if value[0] != '"' {
			return rawjson.AppendString(nil, name)
		}
		b := rawjson.AppendString(nil, name+" ")
		return append(b[:len(b)-1], value[1:]...)
	})
	if w := rawjson.Object(out); !found && w.Err() == nil {
		return mcp.With(bytes.TrimSpace(out), "message", rawjson.AppendString(nil, name))
	}
	return out
}

// signedResult does so with the questions in a modern server's result.
func signedResult(id tool.ServerID, raw json.RawMessage) json.RawMessage {
	return edited(raw, "inputRequests", func(requests []byte) []byte {
		return edited(requests, "", func(one []byte) []byte {
			method := ""
			for w := rawjson.Object(one); w.Next(); {
				if text, _ := rawjson.String(w.Value); bytes.EqualFold(w.Key, []byte("method")) && (method == "" || text == elicitMethod) {
					method = text // duplicate members: readers may take either
				}
			}
			return edited(one, "params", func(params []byte) []byte { return signed(id, method, params) })
		})
	})
}

// signedError does so with the pages that a legacy server sends a person to by an error.
func signedError(id tool.ServerID, err error) error {
	var rpc *mcp.Error
	if !errors.As(err, &rpc) || rpc.Code != mcp.CodeURLRequired || rpc.Raw == nil {
		return err
	}
	own := *rpc
	own.Raw = edited(rpc.Raw, "data", func(data []byte) []byte {
		return edited(data, "elicitations", func(list []byte) []byte {
			return edited(list, "", func(one []byte) []byte { return signed(id, elicitMethod, one) })
		})
	})
	return &own
}

// edited edits all members of the name, in any case; "" means all members of an object or elements of a list.
func edited(raw []byte, name string, edit func(value []byte) []byte) []byte {
	w := rawjson.Object(raw)
	if w.Err() != nil && name == "" {
		w = rawjson.Array(raw)
	}
	var edits []rawjson.Edit
	for w.Next() {
		if name == "" || bytes.EqualFold(w.Key, []byte(name)) {
			edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: edit(w.Value)})
		}
	}
	if len(edits) == 0 {
		return raw
	}
	return rawjson.AppendSplice(make([]byte, 0, len(raw)+64), raw, edits...)
}
