package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// conn is one open session with an upstream server, whatever carries it.
type conn interface {
	// request sends one request and waits for its raw result. An error of the server's
	// own is an *mcp.Error; everything else that may be seen is a *fault.Error.
	request(ctx context.Context, out outgoing) (json.RawMessage, error)
	// notify sends a notification; it does not wait for anything.
	notify(method string, params json.RawMessage)
	// closed is closed when the session has ended, from either side.
	closed() <-chan struct{}
	// close ends the session and everything that belongs to it.
	close()
}

// outgoing is a request on its way to a server.
type outgoing struct {
	method string
	params json.RawMessage
	token  span          // where the caller's progress token stands in params; zero: none
	peer   mcp.Peer      // who hears of progress
	asks   *atomic.Bool  // set when the server asks the caller something; nil: not noted
	buf    *bytes.Buffer // room for the answer, which may then be part of it; nil: the answer gets its own
}

type span struct{ start, end int }

func (o outgoing) message(id int64) []byte {
	params := []byte(o.params)
	if o.token.end > 0 {
		// Tokens of different callers may be equal, so the server gets one of ours: the request's id.
		edit := rawjson.Edit{Start: o.token.start, End: o.token.end, New: strconv.AppendInt(nil, id, 10)}
		params = rawjson.AppendSplice(make([]byte, 0, len(params)+16), params, edit)
	}
	buf := make([]byte, 0, len(params)+len(o.method)+64)
	return mcp.AppendRequest(buf, id, o.method, params)
}

// progress passes a progress notification on under the caller's own token.
func (o outgoing) progress(ctx context.Context, params json.RawMessage) {
	if o.token.end == 0 {
		return
	}
	w := rawjson.Object(params)
	for w.Next() {
		if string(w.Key) == "progressToken" {
			edit := rawjson.Edit{Start: w.Start, End: w.End, New: o.params[o.token.start:o.token.end]}
			o.peer.Notify(ctx, progressMethod, rawjson.AppendSplice(nil, params, edit))
			return
		}
	}
}

const (
	progressMethod = "notifications/progress"
	updatedMethod  = "notifications/resources/updated"
	cancelMethod   = "notifications/cancelled"
	initMethod     = "notifications/initialized"
)

// saysChanged tells whether a notification says that one of the server's lists is another one now.
func saysChanged(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		return true
	}
	return false
}

// hooks are told what a server says outside the calls.
type hooks struct {
	changed func()                       // one of its lists has changed
	updated func(params json.RawMessage) // a resource that somebody subscribed to has changed
	home    mcp.Peer                     // the one caller that the session belongs to; nil when it is shared
}

// asked notes that the call waits for the caller, not for the server.
func (o outgoing) asked() {
	if o.asks != nil {
		o.asks.Store(true)
	}
}

// passOn gives a notification that belongs to a call, or to nobody in particular, to the call's caller.
func (o outgoing) passOn(ctx context.Context, method string, params json.RawMessage) {
	if method == progressMethod {
		o.progress(ctx, params)
		return
	}
	o.peer.Notify(ctx, method, params)
}

// progressID is the request that a progress notification belongs to.
func progressID(params json.RawMessage) (int64, bool) {
	id, err := strconv.ParseInt(string(rawjson.Get(params, "progressToken")), 10, 64)
	return id, err == nil
}

func cancelParams(id int64, reason string) json.RawMessage {
	b := strconv.AppendInt([]byte(`{"requestId":`), id, 10)
	b = append(b, `,"reason":`...)
	return append(rawjson.AppendString(b, reason), '}')
}

// maxAsks bounds the questions of one server that are open at once.
const maxAsks = 16

// answerServer is the answer to a request of the server's own: what the caller says, for
// the questions that a caller can be asked.
func answerServer(ctx context.Context, caller mcp.Peer, m mcp.Message) []byte {
	switch m.Method {
	case "ping":
		return mcp.AppendResult(nil, m.ID, json.RawMessage("{}"))
	case "sampling/createMessage", "elicitation/create", "roots/list":
		result, err := caller.Ask(ctx, m.Method, m.Params)
		if err != nil {
			return mcp.AppendError(nil, m.ID, err)
		}
		return mcp.AppendResult(nil, m.ID, result)
	}
	return mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not supported by this client", m.Method))
}

// askable is the part of a client's capabilities that lets a server ask it something, in a
// form of ours: clients of equal abilities share a session, and no client can make us open
// one session after the other by writing its abilities in ever new ways.
func askable(capabilities json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for _, ability := range []struct {
		name  string
		parts []string
	}{
		{"elicitation", []string{"form", "url"}},
		{"roots", []string{"listChanged"}},
		{"sampling", []string{"context", "tools"}},
	} {
		value := rawjson.Get(capabilities, ability.name)
		if len(value) == 0 || value[0] != '{' {
			continue
		}
		out = append(append(out, separator(out)...), `"`+ability.name+`":{`...)
		for _, part := range ability.parts {
			switch set := rawjson.Get(value, part); {
			case string(set) == "true":
				out = append(append(out, separator(out)...), `"`+part+`":true`...)
			case len(set) > 0 && set[0] == '{':
				out = append(append(out, separator(out)...), `"`+part+`":{}`...)
			}
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// separator is what stands before the next member.
func separator(out []byte) string {
	if out[len(out)-1] == '{' {
		return ""
	}
	return ","
}

// everything is what we declare where a server is only asked what it has: some show a tool
// only to clients that can be asked what the tool needs.
var everything = json.RawMessage(`{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}}}`)
