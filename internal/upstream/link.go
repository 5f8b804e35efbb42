package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tool"
)

// link carries many requests at once over a pair of pipes. Each has an id of ours, so a
// late, doubled or invented answer can only be dropped, never reach another call.
type link struct {
	server  tool.ServerID
	changed func()       // told when the server's list has changed
	garbage func([]byte) // told of output that is no message
	out     chan []byte
	done    chan struct{}

	mu      sync.Mutex
	last    int64
	pending map[int64]*waiter
	dead    error // why it ended; nil while it lives
}

type waiter struct {
	answer   chan answer
	progress chan json.RawMessage // nil when the caller wants none
}

// progressQueue bounds what a caller that reads slowly can fall behind.
const progressQueue = 64

type answer struct {
	result json.RawMessage
	err    error
}

func newLink(server tool.ServerID, changed func(), garbage func([]byte)) *link {
	return &link{
		server: server, changed: changed, garbage: garbage,
		out: make(chan []byte, 64), done: make(chan struct{}), pending: map[int64]*waiter{},
	}
}

func (l *link) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	w := &waiter{answer: make(chan answer, 1)}
	if out.token.end > 0 {
		w.progress = make(chan json.RawMessage, progressQueue)
	}
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
	case l.out <- rawjson.OneLine(out.message(id)):
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, l.reason()
	}
	for {
		select {
		case params := <-w.progress:
			out.progress(ctx, params)
		case a := <-w.answer:
			for len(w.progress) > 0 {
				out.progress(ctx, <-w.progress)
			}
			return a.result, a.err
		case <-ctx.Done():
			l.notify(cancelMethod, cancelParams(id, "the caller no longer waits"))
			return nil, ctx.Err()
		case <-l.done:
			return nil, l.reason()
		}
	}
}

// notify queues a notification. When the server does not read, it is dropped rather than waited for.
func (l *link) notify(method string, params json.RawMessage) {
	select {
	case l.out <- rawjson.OneLine(mcp.AppendNotification(nil, method, params)):
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
	close(l.done)
}

// write sends queued messages until the link ends.
func (l *link) write(w io.Writer) {
	for {
		select {
		case message := <-l.out:
			if _, err := w.Write(append(message, '\n')); err != nil {
				return // the reader will see why
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
	m, err := mcp.Parse(line)
	switch {
	case err != nil:
		l.garbage(line)
	case m.IsResponse():
		l.answered(m)
	case m.IsRequest():
		select {
		case l.out <- rawjson.OneLine(answerServer(m)):
		default:
		}
	case m.Method == progressMethod:
		l.progressed(m.Params)
	case m.Method == changedMethod:
		l.changed()
	}
}

// progressed hands progress to the caller's own goroutine: a caller that reads slowly
// loses some of it, and holds up nobody else.
func (l *link) progressed(params json.RawMessage) {
	id, ok := progressID(params)
	if !ok {
		return
	}
	if w := l.waiter(id, false); w != nil && w.progress != nil {
		select {
		case w.progress <- params:
		default:
		}
	}
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

// waiter finds who waits for the id, and takes it out when the answer is there.
func (l *link) waiter(id int64, take bool) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.pending[id]
	if take {
		delete(l.pending, id)
	}
	return w
}

// tooLong fails the call whose answer was over the limit. When it cannot be told which
// one that was, all that wait fail: better a clear error than a silent wait.
func (l *link) tooLong(long *mcp.LongLineError) {
	err := tooLarge(l.server, long.Size, int64(long.Limit))
	id, known := answerOf(long)
	switch {
	case known && id == 0:
		return // nobody waits for it
	case known:
		if w := l.waiter(id, true); w != nil {
			w.answer <- answer{err: err}
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.pending {
		delete(l.pending, id)
		w.answer <- answer{err: err}
	}
}

func tooLarge(server tool.ServerID, size, limit int64) error {
	return fault.New(fault.TooLarge, "server %s sent a message of %d bytes, over the limit of %d", server, size, limit).
		WithHint("ask for less, or raise limits.message")
}

// answerOf finds the request that a message answers of which only the two ends are known;
// 0 says that it is no answer. The id is where writers put it: before the result, or last.
func answerOf(long *mcp.LongLineError) (id int64, known bool) {
	w := rawjson.Object(long.Head)
	for w.Next() {
		if string(w.Key) == "method" {
			return 0, true // a request or a notification of the server's own
		}
		if string(w.Key) == "id" {
			n, err := strconv.ParseInt(string(w.Value), 10, 64)
			id, known = n, err == nil
		}
	}
	if known {
		return id, true
	}
	last := bytes.LastIndexByte(long.Tail, ',')
	if last < 0 {
		return 0, false
	}
	w = rawjson.Object(append([]byte{'{'}, long.Tail[last+1:]...)) // whole only when the member is one of the message itself
	for w.Next() {
		if string(w.Key) == "id" {
			n, err := strconv.ParseInt(string(w.Value), 10, 64)
			id, known = n, err == nil
		}
	}
	return id, known && w.Err() == nil
}
