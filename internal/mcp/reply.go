package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// reply is the answer to one POST: plain JSON, or an event stream once something has to be sent
// before the result. A session's stream can be resumed; a modern one is kept alive by comments.
type reply struct {
	opened     // its session is nil if the request is a modern one
	asked      *http.Request
	w          eventWriter
	meta       *Meta // of a modern request
	canStream  bool
	mustStream bool

	mu        sync.Mutex
	streaming bool
	stored    *outbox // the events of a stream that can be resumed
	broken    bool    // the client has gone; it can resume the stream later
	finished  bool
	beat      *time.Timer // sends keep-alive comments on a modern stream
}

// reply makes the answer to a request of r.
func (f *Front) reply(w http.ResponseWriter, r *http.Request, o opened) *reply {
	return &reply{opened: o, asked: r, w: f.events(w), canStream: accepts(r, streamType), mustStream: !accepts(r, jsonType)}
}

var errFinished = errors.New("the request has been answered")

// Notify sends a notification on the request's own stream. A client that does not accept streams misses it.
func (r *reply) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !r.canStream || r.session != nil && !r.session.wants(method, params) || r.meta != nil && !r.meta.wants(method, params) {
		return nil
	}
	return r.event(AppendNotification(nil, method, params))
}

// Ask sends a request to the client on the request's own stream. A modern client is asked by the answer instead.
func (r *reply) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !r.canStream || r.session == nil {
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
	return r.send(message)
}

// send writes one event. If a client with a session has gone, the event is stored until it comes back.
func (r *reply) send(message []byte) error {
	if !r.streaming {
		r.begin()
	}
	if r.stored == nil {
		return r.w.event("", message)
	}
	id := r.stored.eventID(r.stored.add(message))
	if !r.broken {
		r.broken = r.w.event(id, message) != nil
	}
	return nil
}

// begin makes the answer a stream. Only the newest legacy revision accepts an event without data, which says where to resume.
func (r *reply) begin() {
	r.streaming = true
	streamHeader(r.w.Header())
	r.w.WriteHeader(http.StatusOK)
	switch {
	case r.session == nil:
		r.beat = time.AfterFunc(keepAlive, r.keepAlive)
	case r.session.Version >= Latest:
		r.stored = r.session.stream(r.id)
		r.send(nil)
	default:
		r.stored = r.session.stream(r.id)
	}
}

func (r *reply) keepAlive() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.finished && r.w.send([]byte(":\n\n")) == nil {
		r.beat.Reset(keepAlive)
	}
}

// finish writes the result or the error, unless the request has been answered.
func (r *reply) finish(result json.RawMessage, err error, withdrawn bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.finished {
		r.answer(result, err, withdrawn)
	}
}

// answer writes the result or the error. A withdrawn request gets neither, but its HTTP exchange still ends properly.
func (r *reply) answer(result json.RawMessage, err error, withdrawn bool) {
	r.finished = true
	conn, _ := r.w.ResponseWriter.(*takenConn)
	if conn != nil {
		conn.SetWriteDeadline(r.w.until(len(result)))
	}
	switch {
	case withdrawn && r.streaming:
		r.session.forget(r.stored)
	case withdrawn:
		r.w.WriteHeader(http.StatusAccepted)
	case r.streaming || r.mustStream:
		gone := r.asked.Context().Err() != nil // though the connection may still take what is written
		r.send(AppendAnswer(nil, r.id, result, err))
		if r.stored != nil {
			r.stored.end()
		}
		if r.stored != nil && !r.broken && !gone {
			r.session.forget(r.stored) // the client has it all
		}
	case err != nil && r.session == nil:
		refuseID(r.w, modernStatus(err), r.id, err)
	case err != nil:
		r.w.Header()["Content-Type"] = jsonTypeHeader
		r.w.Write(AppendError(nil, r.id, err))
	default:
		r.whole(result)
	}
	if r.beat != nil {
		r.beat.Stop()
	}
	if conn != nil {
		conn.end(r.w.until(0))
	}
}

// whole writes a plain answer, a long one with one system call where that is possible.
func (r *reply) whole(result json.RawMessage) {
	if len(result) > 4<<10 { // the size of the HTTP server's buffer
		defer inbound.Hold(r.asked).Release()
	}
	writeResult(r.w, r.id, result)
}

var jsonTypeHeader = []string{jsonType}

// writeResult writes a plain answer in few pieces, because each is a system call. The brace that ends it stands behind most
// results already: they are slices of their servers' answers. Where it does not, copying costs less than one more piece.
func writeResult(w http.ResponseWriter, id, result json.RawMessage) {
	const copyBelow = 64 << 10
	var head [256]byte
	start := appendHead(head[:0], id)
	h := w.Header()
	h["Content-Type"] = jsonTypeHeader
	h.Set("Content-Length", strconv.Itoa(len(start)+len(result)+1))
	n := len(result)
	switch {
	case n < cap(result) && result[:n+1][n] == '}':
		w.Write(start)
		w.Write(result[:n+1])
	case n < copyBelow:
		out := answers.Get().(*[]byte)
		*out = append(append(append((*out)[:0], start...), result...), '}')
		w.Write(*out)
		answers.Put(out)
	default:
		w.Write(start)
		w.Write(result)
		w.Write([]byte{'}'})
	}
}

// answers are buffers for answers on their way out.
var answers = sync.Pool{New: func() any { return new([]byte) }}
