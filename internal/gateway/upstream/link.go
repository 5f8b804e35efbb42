package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// link carries many requests at once over a pair of pipes. Each has an id of ours, so stray answers are dropped.
type link struct {
	server  tool.ServerID
	hooks   hooks
	garbage func([]byte) // gets output that is not a message
	out     chan queued
	ctx     context.Context // ends with the link
	cancel  context.CancelFunc
	done    <-chan struct{} // of ctx

	mu      sync.Mutex
	last    int64
	pending map[int64]*waiter
	dead    error // why it ended; nil while it is open
}

type waiter struct {
	ctx    context.Context
	out    outgoing
	answer chan answer
	said   chan notification // notifications for the call
}

type notification struct {
	method string
	params json.RawMessage
}

// saidQueue limits how far a slow caller can fall behind.
const saidQueue = 32

// queued is a message to be sent. It is dropped if its sender has given up: what was reported as not sent must not be sent later.
type queued struct {
	ctx     context.Context
	message []byte
}

type answer struct {
	result json.RawMessage
	err    error
}

func newLink(server tool.ServerID, h hooks, garbage func([]byte)) *link {
	l := &link{
		server: server, hooks: h, garbage: garbage,
		out: make(chan queued, 64), pending: map[int64]*waiter{},
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.done = l.ctx.Done()
	return l
}

func (l *link) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	w := &waiter{ctx: ctx, out: out, answer: make(chan answer, 1), said: make(chan notification, saidQueue)}
	l.mu.Lock()
	if l.dead != nil {
		l.mu.Unlock()
		return nil, errSessionLost
	}
	l.last++
	id := l.last
	l.pending[id] = w
	l.mu.Unlock()
	defer l.forget(id)

	select {
	case l.out <- queued{ctx, rawjson.OneLine(out.message(id))}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, l.reason()
	}
	for {
		select {
		case n := <-w.said:
			out.passOn(ctx, n.method, n.params)
		case a := <-w.answer:
			for len(w.said) > 0 {
				n := <-w.said
				out.passOn(ctx, n.method, n.params)
			}
			return a.result, a.err
		case <-ctx.Done():
			if !out.endless() {
				l.notify(cancelMethod, cancelParams(id, "the caller no longer waits"))
			}
			return nil, ctx.Err()
		case <-l.done:
			return nil, l.reason()
		}
	}
}

func (l *link) notify(method string, params json.RawMessage) {
	l.say(mcp.AppendNotification(nil, method, params))
}

// say queues a message. If the server does not read, it is dropped.
func (l *link) say(message []byte) {
	select {
	case l.out <- queued{l.ctx, rawjson.OneLine(message)}:
	default:
	}
}

func (l *link) forget(id int64) {
	l.mu.Lock()
	delete(l.pending, id)
	l.mu.Unlock()
}

func (l *link) closed() <-chan struct{} { return l.done }

func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// end fails everything that waits. The first reason stays.
func (l *link) end(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead != nil {
		return
	}
	l.dead = reason
	l.cancel()
}

// write sends queued messages until the link ends.
func (l *link) write(w io.Writer) {
	for {
		select {
		case q := <-l.out:
			if q.ctx.Err() != nil {
				continue
			}
			if _, err := w.Write(append(q.message, '\n')); err != nil {
				return // the reader finds out why
			}
		case <-l.done:
			return
		}
	}
}

// read takes messages until the server's output ends.
func (l *link) read(r io.Reader, limit int) {
	lines := mcp.NewLines(r, limit)
	for {
		line, err := lines.Next()
		var long *mcp.LongLineError
		switch {
		case errors.As(err, &long):
			l.tooLong(long)
		case err != nil:
			return
		default:
			l.take(line)
		}
	}
}

func (l *link) take(line []byte) {
	m, err := l.hooks.parse(line)
	switch {
	case err != nil:
		l.unreadable(line, err)
	case m.IsResponse():
		l.answered(m)
	case m.IsRequest() && (m.Method == helloMethod || m.Method == discoverMethod):
		l.end(fault.New(fault.UpstreamProtocol, "server %s echoes what it is sent: it is not an MCP server", l.server).
			WithHint("check what is configured as %s", l.server))
	case m.IsRequest():
		l.asked(m)
	case m.Method == progressMethod:
		if id, ok := progressID(m.Params); ok {
			l.waiter(id, false).tell(m)
		}
	case saysChanged(m.Method):
		l.hooks.changed()
	case m.Method == updatedMethod:
		l.hooks.updated(m.Params)
	case m.Method == ackMethod:
		l.acked(m.Params)
	case m.Method == cancelMethod:
		l.ended(m.Params)
	default:
		l.current().tell(m)
	}
}

// tell hands a notification to the caller's goroutine. A slow caller loses some, without delaying others.
func (w *waiter) tell(m mcp.Message) {
	if w == nil {
		return
	}
	select {
	case w.said <- notification{m.Method, m.Params}:
	default:
	}
}

// current is the call that an unsolicited message belongs to: known only if the session has one caller, or one call is open.
func (l *link) current() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	var newest int64
	open := 0
	for id, w := range l.pending {
		if !w.out.isPoll() {
			newest = max(newest, id)
			open++
		}
	}
	if l.hooks.home == nil && open != 1 {
		return nil
	}
	return l.pending[newest]
}

func (l *link) answered(m mcp.Message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	w := l.waiter(id, true)
	if w == nil {
		return
	}
	if m.Error != nil {
		w.answer <- answer{err: mcp.ParseError(m.Error)}
		return
	}
	w.answer <- answer{result: m.Result}
}

// waiter finds the pending request with the id, and removes it if the message is its answer.
func (l *link) waiter(id int64, take bool) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.pending[id]
	if take {
		delete(l.pending, id)
	}
	return w
}
