package upstream

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// acked tells whoever listens what it will hear of.
func (l *link) acked(params json.RawMessage) {
	id, err := strconv.ParseInt(string(rawjson.Get(params, "_meta", mcp.MetaSubscriber)), 10, 64)
	if err != nil {
		return
	}
	if w := l.waiter(id, false); w != nil && w.out.acked != nil {
		w.out.acked(params)
	}
}

// ended handles a server that ends one of our streams. It may also have given up on an answer of ours.
func (l *link) ended(params json.RawMessage) {
	id, err := strconv.ParseInt(string(rawjson.Get(params, "requestId")), 10, 64)
	if err != nil {
		return
	}
	if w := l.waiter(id, false); w != nil && w.out.method == listenMethod && l.waiter(id, true) != nil {
		w.answer <- answer{result: nothing}
	}
}

// asked answers a request of the server's. Only a caller who owns the session is asked anything.
func (l *link) asked(m mcp.Message) {
	ctx, caller := l.ctx, mcp.Deaf
	var watch *deadline
	if l.hooks.home != nil {
		caller = l.hooks.home
		if w := l.current(); w != nil {
			ctx, caller, watch = w.ctx, w.out.peer, w.out.clock
		}
	}
	select {
	case l.asks <- struct{}{}:
	default:
		l.say(mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeInternal, "too many open questions")))
		return
	}
	go func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
		watch.asked()
		l.say(l.hooks.answerServer(ctx, caller, m))
		watch.answered()
		<-l.asks
	}()
}
