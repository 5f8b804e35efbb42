package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// reply is the answer to one POST. It stays a plain JSON answer until something has to be
// said before the result; then it becomes an event stream.
type reply struct {
	w          eventWriter
	id         json.RawMessage
	session    *Session
	canStream  bool
	mustStream bool

	mu       sync.Mutex
	out      *outbox // the stream that the answer has become; nil while it is none
	broken   bool    // the client has gone; what it misses it can come back for
	finished bool
}

var errFinished = errors.New("the request has been answered")

// Notify sends a notification on the request's own stream. A client that takes no streams misses it.
func (r *reply) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !r.canStream || !r.session.wants(method, params) {
		return nil
	}
	return r.event(AppendNotification(nil, method, params))
}

// Ask sends a request to the client on the request's own stream.
func (r *reply) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !r.canStream {
		return Deaf.Ask(ctx, method, params)
	}
	return r.session.ask(ctx, method, params, r.event)
}

func (r *reply) event(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished {
		return errFinished
	}
	r.send(message)
	return nil
}

// send writes one event, beginning the stream if need be. A client that is gone is no
// error: the event is kept for when it comes back.
func (r *reply) send(message []byte) {
	if r.out == nil {
		r.begin()
	}
	n := r.out.add(message)
	r.write(r.out.eventID(n), message)
}

func (r *reply) write(id string, message []byte) {
	if !r.broken {
		r.broken = r.w.event(id, message) != nil
	}
}

// begin makes the answer a stream. Clients of the newest revision learn at once where they
// could come back to; older ones may take an event without data for a broken message.
func (r *reply) begin() {
	r.out = r.session.stream()
	streamHeader(r.w.Header())
	r.w.WriteHeader(http.StatusOK)
	if r.session.Version >= Latest {
		r.write(r.out.eventID(r.out.add(nil)), nil)
	}
}

// finish writes the result or the error. The HTTP exchange of a request that was withdrawn
// still ends in an orderly way.
func (r *reply) finish(result json.RawMessage, err error, withdrawn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	switch {
	case withdrawn && r.out == nil:
		r.w.WriteHeader(http.StatusAccepted)
		return
	case withdrawn:
		r.session.forget(r.out)
		return
	case r.out != nil || r.mustStream:
		r.finishStream(result, err)
		return
	}
	if err != nil {
		r.w.Header()["Content-Type"] = jsonTypeHeader
		r.w.Write(AppendError(nil, r.id, err))
		return
	}
	writeResult(r.w, r.id, result)
}

// finishStream writes the answer as the last event. When the client has it, the stream can be forgotten.
func (r *reply) finishStream(result json.RawMessage, err error) {
	message := AppendError(nil, r.id, err)
	if err == nil {
		message = AppendResult(nil, r.id, result)
	}
	r.send(message)
	r.out.end()
	if !r.broken {
		r.session.forget(r.out)
	}
}

var jsonTypeHeader = []string{jsonType}

// writeResult writes a plain answer, in one piece: each piece more would be a system call
// more. What is long is not copied: that would cost more.
func writeResult(w http.ResponseWriter, id, result json.RawMessage) {
	const copyBelow = 16 << 10
	var head [256]byte
	start := appendHead(head[:0], id)
	h := w.Header()
	h["Content-Type"] = jsonTypeHeader
	h.Set("Content-Length", strconv.Itoa(len(start)+len(result)+1))
	if len(result) < copyBelow {
		out := answers.Get().(*[]byte)
		*out = append(append(append((*out)[:0], start...), result...), '}')
		w.Write(*out)
		answers.Put(out)
		return
	}
	w.Write(start)
	w.Write(result)
	w.Write([]byte{'}'})
}

// answers is room for answers on their way out.
var answers = sync.Pool{New: func() any { return new([]byte) }}
