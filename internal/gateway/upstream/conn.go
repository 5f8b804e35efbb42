package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

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
	owner   string                       // who that is; "": it is shared
	asks    *questions                   // of all servers; nil: not counted
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

// How many questions of servers may be open, to all callers and to one.
const (
	maxAsks      = 1000
	maxAsksOfOne = 100
)

// questions counts the servers' own requests that are being answered.
type questions struct {
	mu   sync.Mutex
	open int
	of   map[string]int // by caller
}

// take counts a question to the caller, unless there are too many. A nil q does not count.
func (q *questions) take(caller string) bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open >= maxAsks || q.of[caller] >= maxAsksOfOne {
		return false
	}
	if q.of == nil {
		q.of = map[string]int{}
	}
	q.open++
	q.of[caller]++
	return true
}

// leave ends what take began.
func (q *questions) leave(caller string) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open--
	q.of[caller]--
	if q.of[caller] == 0 {
		delete(q.of, caller)
	}
}

// answer answers a server's own request in the background, since a person may be asked. Run starts the work, send sends.
func (h hooks) answer(to asked, session context.Context, m mcp.Message, run func(func()), send func([]byte)) {
	caller := cmp.Or(to.out.caller, h.owner, "server "+string(h.server)) // the server's own pings use up nobody's
	if !h.asks.take(caller) {
		run(func() { send(mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeInternal, "too many open questions"))) })
		return
	}
	run(func() {
		defer h.asks.leave(caller)
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
