package upstream

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

var errNotUTF8 = errors.New("it is not UTF-8")

// parse splits a server's message. Bytes that are not UTF-8 are refused, or replaced and
// counted in _meta: readers disagree about them.
func (h hooks) parse(data []byte) (mcp.Message, error) {
	data, wrong := rawjson.ToValidUTF8(data)
	if wrong > 0 && h.refuse {
		return mcp.Message{}, errNotUTF8
	}
	m, err := mcp.Parse(data)
	if wrong > 0 {
		m.Result = replaced(m.Result, wrong)
		m.Params = replaced(m.Params, wrong)
		m.Longest = rawjson.Span{} // it may stand elsewhere now
	}
	return m, err
}

// valid does the same for a result of a built-in server. That of an HTTP API may have been repaired before.
func (h hooks) valid(server tool.ServerID, result json.RawMessage) (json.RawMessage, error) {
	result, wrong := rawjson.ToValidUTF8(result)
	if wrong > 0 {
		result = replaced(result, wrong)
	}
	if h.refuse && rawjson.Get(result, "_meta", mcp.MetaReplaced) != nil {
		return nil, unreadableAnswer(server, errNotUTF8)
	}
	return result, nil
}

// replaced is the object with the number of replaced bytes in its _meta.
func replaced(object json.RawMessage, n int) json.RawMessage {
	if !isObject(object) {
		return object
	}
	meta := rawjson.Get(object, "_meta")
	if !isObject(meta) {
		meta = nothing
	}
	meta = mcp.With(mcp.Without(meta, mcp.MetaReplaced), mcp.MetaReplaced, strconv.AppendInt(nil, int64(n), 10))
	return mcp.With(mcp.Without(object, "_meta"), "_meta", meta)
}
