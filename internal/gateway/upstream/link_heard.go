package upstream

import (
	"encoding/json"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// acked tells the listener what the server will report.
func (l *link) acked(params json.RawMessage) {
	id, err := strconv.ParseInt(string(rawjson.Get(params, "_meta", mcp.MetaSubscriber)), 10, 64)
	if err != nil {
		return
	}
	if w := l.waiter(id, false); w != nil && w.out.acked != nil {
		w.out.acked(params)
	}
}

// ended handles a server that ends one of our streams. It may also have canceled a request of its own.
func (l *link) ended(params json.RawMessage) {
	id, err := strconv.ParseInt(string(rawjson.Get(params, "requestId")), 10, 64)
	if err != nil {
		return
	}
	if w := l.waiter(id, false); w != nil && w.out.method == listenMethod && l.waiter(id, true) != nil {
		w.answer <- answer{result: nothing}
	}
}

// asked answers a server's request. Only a caller that owns the session is asked.
func (l *link) asked(m mcp.Message) {
	to := asked{l.ctx, outgoing{peer: mcp.Deaf}}
	if l.hooks.home != nil {
		to.out.peer = l.hooks.home
		if w := l.current(); w != nil {
			to = asked{w.ctx, w.out}
		}
	}
	l.hooks.answer(to, l.ctx, m, func(work func()) { go work() }, l.say)
}
