package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// askModern sends a modern request. If headers must repeat arguments, the first call is refused and they are learned from the list.
func (b *bridge) askModern(ctx context.Context, m Message, line []byte) ([]byte, error) {
	answer, _, err := b.ask(ctx, b.modernHeader(m), m, line)
	if err != nil || m.Method != "tools/call" {
		return answer, err
	}
	said, err := Parse(answer)
	if err != nil || said.Error == nil || ParseError(said.Error).Code != CodeHeaderMismatch || b.learn(ctx, m) != nil {
		return answer, err
	}
	answer, _, err = b.ask(ctx, b.modernHeader(m), m, line)
	return answer, err
}

// modernHeader is the headers that repeat parts of a modern message.
func (b *bridge) modernHeader(m Message) http.Header {
	h := b.header.Clone()
	h.Set(versionHeader, ModernVersion)
	if version := metaVersion(m.Params); version != "" {
		h.Set(versionHeader, version)
	}
	h.Set(MethodHeader, m.Method)
	key := NamedBy(m.Method)
	if key == "" {
		return h
	}
	name, _ := rawjson.String(rawjson.Get(m.Params, key))
	h.Set(NameHeader, EncodeHeader(name))
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mirrors[name].Header(rawjson.Get(m.Params, "arguments"), h)
}

// maxPages limits a list whose cursors never end.
const maxPages = 1000

// learn reads from the list which headers the tools require, on behalf of the client.
func (b *bridge) learn(ctx context.Context, call Message) error {
	at := FindMeta(call.Params)
	params := With(json.RawMessage("{}"), metaKey, Without(call.Params[at.Start:at.End], progressTokenID))
	for range maxPages {
		list := Message{ID: json.RawMessage("0"), Method: "tools/list", Params: params}
		answer, _, err := b.ask(ctx, b.modernHeader(list), list, AppendRequest(nil, 0, list.Method, params))
		if err != nil {
			return err
		}
		result := rawjson.Get(answer, "result")
		tools := rawjson.Array(rawjson.Get(result, "tools"))
		for tools.Next() {
			name, _ := rawjson.String(rawjson.Get(tools.Value, "name"))
			mirror, err := ParseMirror(bytes.Clone(rawjson.Get(tools.Value, "inputSchema")))
			if err == nil {
				b.mu.Lock()
				b.mirrors[name] = mirror
				b.mu.Unlock()
			}
		}
		cursor := rawjson.Get(result, "nextCursor")
		if cursor == nil {
			return nil
		}
		params = With(Without(params, "cursor"), "cursor", cursor)
	}
	return nil
}
