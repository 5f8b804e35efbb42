package call

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Notes in the answer of a tool that ran but whose record or result could not be stored.
const (
	notKept     = "The tool has run, its result could not be kept: it is given whole here and cannot be fetched later."
	notRecorded = "The tool has run, its result could not be kept: the call is not on record."
)

// metaNotKept is the member of _meta that says the same to programs.
const metaNotKept = "toolfit/notKept"

// ErrUnrecordable refuses a call that could not be recorded. The reason is in the log.
var ErrUnrecordable = fault.New(fault.StoreDown, "not called: the call could not be recorded, because the store cannot be written to").
	WithHint("tools that only read can still be called; try again when the store works").Unsent()

// Unrecorded is the result of a call that ran but could not be recorded.
func Unrecorded(raw json.RawMessage) json.RawMessage { return withNote(raw, notRecorded) }

// withNote is a result with one more text block at its end. Anything but an object is returned unchanged.
func withNote(raw json.RawMessage, note string) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return raw
	}
	content := []byte{'['}
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		content = append(append(content, w.Value...), ',')
	}
	content = append(rawjson.AppendString(append(content, `{"type":"text","text":`...), note), "}]"...)
	meta := json.RawMessage("{}")
	if given := rawjson.Get(raw, "_meta"); len(given) > 0 && given[0] == '{' {
		meta = given
	}
	meta = mcp.With(mcp.Without(meta, metaNotKept), metaNotKept, []byte("true"))
	return mcp.With(mcp.With(mcp.Without(raw, "content", "_meta"), "content", content), "_meta", meta)
}
