package upstream

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// conn is one open session with an upstream server, over any transport.
type conn interface {
	// request sends one request and waits for its raw result. The server's own errors are *mcp.Error, others a *fault.Error.
	request(ctx context.Context, out outgoing) (json.RawMessage, error)
	// notify sends a notification; it does not wait for anything.
	notify(method string, params json.RawMessage)
	// closed is closed when the session has ended, from either side.
	closed() <-chan struct{}
	// close ends the session and everything that belongs to it.
	close()
}

const (
	callMethod     = "tools/call"
	progressMethod = "notifications/progress"
	updatedMethod  = "notifications/resources/updated"
	cancelMethod   = "notifications/cancelled"
	helloMethod    = "initialize"
	initMethod     = "notifications/initialized"
	listenMethod   = "subscriptions/listen"
	ackMethod      = "notifications/subscriptions/acknowledged"
	discoverMethod = "server/discover"
)

// saysChanged tells whether a notification reports a change of one of the server's lists.
func saysChanged(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed":
		return true
	}
	return false
}

// hooks handle what a server sends outside of calls.
type hooks struct {
	server  tool.ServerID
	changed func()                       // one of its lists has changed
	updated func(params json.RawMessage) // a resource that somebody subscribed to has changed
	refuse  bool                         // refuse messages that are not UTF-8
	home    mcp.Peer                     // the one caller that the session belongs to; nil: it is shared
}

// passOn gives a notification that belongs to a call, or to nobody in particular, to the call's caller.
func (o outgoing) passOn(ctx context.Context, method string, params json.RawMessage) {
	switch {
	case method == progressMethod:
		o.progress(ctx, params)
	case strings.HasPrefix(method, "notifications/tasks"): // the server's tasks are not the caller's
	default:
		o.peer.Notify(ctx, method, params)
	}
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

// maxAsks limits the open questions of one server.
const maxAsks = 16

// questions are the server's own requests that are being answered, at most maxAsks.
type questions chan struct{}

// answer answers one in the background, since a person may be asked. Run starts the work, send sends.
func (q questions) answer(h hooks, to asked, session context.Context, m mcp.Message, run func(func()), send func([]byte)) {
	select {
	case q <- struct{}{}:
	default:
		run(func() { send(mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeInternal, "too many open questions"))) })
		return
	}
	run(func() {
		defer func() { <-q }()
		ctx, cancel := context.WithCancel(to.ctx)
		defer cancel()
		defer context.AfterFunc(session, cancel)()
		to.out.clock.asked()
		answer := h.answerServer(ctx, to.out.peer, m)
		to.out.clock.answered()
		send(answer)
	})
}

// answerServer answers a server's own request; questions that the caller can answer go to the caller.
func (h hooks) answerServer(ctx context.Context, caller mcp.Peer, m mcp.Message) []byte {
	switch m.Method {
	case "ping":
		return mcp.AppendResult(nil, m.ID, json.RawMessage("{}"))
	case "sampling/createMessage", elicitMethod, "roots/list":
		result, err := caller.Ask(ctx, m.Method, signed(h.server, m.Method, unrelated(m.Params)))
		if err != nil {
			return mcp.AppendError(nil, m.ID, err)
		}
		return mcp.AppendResult(nil, m.ID, result)
	}
	return mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not supported by this client", m.Method))
}
