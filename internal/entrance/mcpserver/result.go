package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// inLegacy writes an answer as a client with a session reads it.
func (v *visitor) inLegacy(req *mcp.Request, out *upstream.Outcome, err error) (json.RawMessage, error) {
	if err != nil {
		return v.legacyError(req, err)
	}
	req.Sent = out.Release
	if out.Era != mcp.Modern {
		return out.Raw, nil
	}
	out.Set(legacyResult(out))
	return out.Raw, nil
}

// legacyResult removes what only the modern era has. A structured result that is not an object becomes text if there is none.
func legacyResult(out *upstream.Outcome) json.RawMessage {
	raw := out.Raw
	var drop []string
	var structured, content, meta json.RawMessage
	w := rawjson.Object(raw)
	longest := out.Longest
	w.Longest = &longest
	for w.Next() {
		switch string(w.Key) {
		case "resultType", "ttlMs", "cacheScope":
			drop = append(drop, string(w.Key))
		case "structuredContent":
			structured = w.Value
		case "content":
			content = w.Value
		case "_meta":
			meta = w.Value
		}
	}
	kept := withoutReserved(meta)
	edited := len(kept) != len(meta)
	if edited {
		drop = append(drop, "_meta")
	}
	edited = edited && len(kept) > len("{}")
	text := structured != nil && structured[0] != '{'
	if text {
		drop = append(drop, "structuredContent")
	}
	text = text && len(content) <= len("[]")
	if text {
		drop = append(drop, "content")
	}
	if len(drop) > 0 && !edited && !text && out.Scratch() {
		return mcp.Cut(raw, out.Longest, drop...)
	}
	raw = mcp.Without(raw, drop...)
	if edited {
		raw = mcp.With(raw, "_meta", kept)
	}
	if text {
		raw = mcp.With(raw, "content", append(rawjson.AppendString([]byte(`[{"type":"text","text":`), string(structured)), "}]"...))
	}
	return raw
}

// withoutReserved takes what the modern era puts into a _meta out of it.
func withoutReserved(meta json.RawMessage) json.RawMessage {
	var names []string
	w := rawjson.Object(meta)
	for w.Next() {
		if mcp.IsReserved(w.Key) {
			names = append(names, string(w.Key))
		}
	}
	return mcp.Without(meta, names...)
}

// legacyError is an error as legacy clients know it. A capability that the client lacks is told to the model.
func (v *visitor) legacyError(req *mcp.Request, err error) (json.RawMessage, error) {
	var rpc *mcp.Error
	if !errors.As(err, &rpc) {
		return nil, err
	}
	switch {
	case rpc.Code == mcp.CodeMissingCapability && req.Method == "tools/call":
		return toolError(fault.New(fault.UpstreamError, "%s", rpc.Message).WithHint("use a client that can be asked")), nil
	case rpc.Code == mcp.CodeHeaderMismatch, rpc.Code == mcp.CodeMissingCapability, rpc.Code == mcp.CodeUnsupportedVersion:
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", rpc.Message)
	}
	return nil, rpc
}

// inModern writes an answer for a client without a session. Round is how often the call has been answered with a question.
func (v *visitor) inModern(req *mcp.Request, out *upstream.Outcome, round int, err error) (json.RawMessage, error) {
	if err != nil {
		return v.modernError(req, err)
	}
	if out.Kind == upstream.InputRequired {
		defer out.Release()
		return v.question(req, out.Raw, round)
	}
	req.Sent = out.Release
	raw := out.Raw
	switch req.Method {
	case "resources/read", "resources/directory/read", "skills/get":
		raw = withCache(raw)
	}
	out.Set(raw)
	switch plain := out.Era != mcp.Modern && !mayHave(raw, out.Longest, "resultType"); {
	case plain && !mayHave(raw, out.Longest, "_meta") && out.Scratch():
		out.Set(v.finishedInPlace(raw))
	case plain || mcp.ResultType(raw) == "":
		out.Set(v.finished(raw))
	}
	return out.Raw, nil
}

// mayHave tells whether an object may have the member. Its longest string, where that is known, is not searched.
func mayHave(raw json.RawMessage, longest rawjson.Span, name string) bool {
	key := []byte(`"` + name + `"`)
	return bytes.Contains(raw[:longest.Start], key) || bytes.Contains(raw[longest.End:], key)
}

// has tells whether an object has the member. Most do not, so the bytes are searched before they are walked.
func has(raw json.RawMessage, name string) bool {
	return mayHave(raw, rawjson.Span{}, name) && rawjson.Get(raw, name) != nil
}

// finishedInPlace is finished for an object without the members that it adds: they come last, if there is room behind it.
func (v *visitor) finishedInPlace(raw json.RawMessage) json.RawMessage {
	head := `"resultType":"complete","_meta":{"` + mcp.MetaServer + `":`
	room := cap(raw) - len(raw) - len(head) - len(v.server.self)
	open := bytes.TrimRight(raw[:len(raw)-1], " \t\r\n")
	if len(open) == 1 || room < len(",}}}") {
		return v.finished(raw)
	}
	raw = append(append(append(open, ','), head...), v.server.self...)
	return append(raw, "}}}"...)[:len(raw)+2] // a brace behind it ends the answer without another copy
}

// finished says of a legacy server's result what a modern one says of itself.
func (v *visitor) finished(raw json.RawMessage) json.RawMessage {
	if has(raw, "resultType") {
		raw = mcp.Without(raw, "resultType") // one that is no text says nothing
	}
	head := `{"resultType":"complete","_meta":{"` + mcp.MetaServer + `":` + string(v.server.self)
	if !has(raw, "_meta") {
		rest := bytes.TrimLeft(raw[1:], " \t\r\n")
		b := make([]byte, 0, len(head)+len(rest)+2)
		b = append(append(b, head...), '}')
		if rest[0] != '}' {
			b = append(b, ',')
		}
		return append(b, rest...)
	}
	meta := rawjson.Get(raw, "_meta")
	if meta[0] == '{' && rawjson.Get(meta, mcp.MetaServer) == nil {
		raw = mcp.With(mcp.Without(raw, "_meta"), "_meta", mcp.With(meta, mcp.MetaServer, v.server.self))
	}
	return mcp.With(raw, "resultType", []byte(`"complete"`))
}

// withCache says how long a resource may be cached: by default not at all, and never for others, who may not be allowed to read it.
func withCache(raw json.RawMessage) json.RawMessage {
	ttl := rawjson.Get(raw, "ttlMs")
	if ttl == nil {
		ttl = []byte("0")
	}
	raw = mcp.With(mcp.Without(raw, "ttlMs", "cacheScope"), "ttlMs", ttl)
	return mcp.With(raw, "cacheScope", []byte(`"private"`))
}

// modernError is an error in words that a modern client knows.
func (v *visitor) modernError(req *mcp.Request, err error) (json.RawMessage, error) {
	var rpc *mcp.Error
	if !errors.As(err, &rpc) {
		return nil, err
	}
	switch rpc.Code {
	case mcp.CodeNoResource:
		return nil, &mcp.Error{Code: mcp.CodeInvalidParams, Message: rpc.Message, Data: dataOf(rpc)}
	case mcp.CodeURLRequired:
		if raw := v.pages(req, dataOf(rpc)); raw != nil {
			return raw, nil
		}
	case mcp.CodeHeaderMismatch, mcp.CodeUnsupportedVersion:
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", rpc.Message) // between us and the server, not the client
	}
	return nil, rpc
}

func dataOf(e *mcp.Error) json.RawMessage {
	if e.Raw != nil {
		return rawjson.Get(e.Raw, "data")
	}
	return e.Data
}

// pages turns the error by which a legacy server sends a person to pages into a question; nil if the client cannot be asked.
func (v *visitor) pages(req *mcp.Request, data json.RawMessage) json.RawMessage {
	requests := []byte{'{'}
	w := rawjson.Array(rawjson.Get(data, "elicitations"))
	for i := 1; w.Next(); i++ {
		if !mcp.Can(req.Meta.Capabilities, "elicitation/create", w.Value) {
			return nil
		}
		requests = appendQuestion(requests, key(i), "elicitation/create", w.Value)
	}
	if len(requests) == 1 {
		return nil
	}
	sealed := v.server.seal.close(state{Kind: stateRepeat}, v.binding(req), stateFor)
	return inputRequired(append(requests, '}'), sealed)
}

// question passes on what a modern server asks, with the server's state sealed for this client.
func (v *visitor) question(req *mcp.Request, raw json.RawMessage, round int) (json.RawMessage, error) {
	w := rawjson.Object(rawjson.Get(raw, "inputRequests"))
	for rawjson.Get(raw, "inputRequests") != nil && w.Next() {
		method, _ := rawjson.String(rawjson.Get(w.Value, "method"))
		switch {
		case mcp.Ability(method) == "":
			return nil, rpcError(fault.New(fault.UpstreamProtocol, "the server asks %.40q, which no client can be asked", method))
		case !mcp.Can(req.Meta.Capabilities, method, rawjson.Get(w.Value, "params")):
			return nil, mcp.MissingCapability(method)
		}
	}
	inner := rawjson.Get(raw, "requestState")
	if inner == nil {
		return bytes.Clone(raw), nil
	}
	if round >= maxRounds {
		return nil, rpcError(fault.New(fault.UpstreamProtocol, "the server asked for more %d times and did not answer", maxRounds))
	}
	own := state{Kind: stateServer, State: bytes.Clone(inner), Round: round + 1}
	sealed := v.server.seal.close(own, v.binding(req), stateFor)
	return mcp.With(mcp.Without(raw, "requestState"), "requestState", rawjson.AppendString(nil, sealed)), nil
}

// maxRounds is how often a server may answer one call with a question.
const maxRounds = 32

// inputRequired is the answer that asks a modern client.
func inputRequired(requests []byte, sealed string) json.RawMessage {
	b := append([]byte(`{"resultType":"input_required","inputRequests":`), requests...)
	b = rawjson.AppendString(append(b, `,"requestState":`...), sealed)
	return append(b, '}')
}

// appendQuestion appends one question of a legacy server, without the id that the modern era does not have.
func appendQuestion(b []byte, name, method string, params json.RawMessage) []byte {
	b = append(rawjson.AppendString(mcp.Comma(b), name), `:{"method":`...)
	b = rawjson.AppendString(b, method)
	if len(params) > 0 && params[0] == '{' {
		b = append(append(b, `,"params":`...), mcp.Without(params, "elicitationId")...)
	}
	return append(b, '}')
}
