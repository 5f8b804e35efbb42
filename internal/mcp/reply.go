package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// reply is the answer to one POST. It stays a plain JSON answer until something has to be
// said before the result; then it becomes an event stream.
type reply struct {
	w          http.ResponseWriter
	id         json.RawMessage
	session    *Session
	canStream  bool
	mustStream bool

	mu        sync.Mutex
	streaming bool
	finished  bool
}

var errFinished = errors.New("the request has been answered")

// Notify sends a notification on the request's own stream. A client that takes no streams misses it.
func (r *reply) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !r.canStream {
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
	r.startStream()
	return writeEvent(r.w, message)
}

func (r *reply) startStream() {
	if r.streaming {
		return
	}
	r.streaming = true
	streamHeader(r.w.Header())
	r.w.WriteHeader(http.StatusOK)
}

// finish writes the result or the error. A cancelled request gets no answer, as the
// protocol wants it; its HTTP exchange still ends in an orderly way.
func (r *reply) finish(result json.RawMessage, err error, cancelled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = true
	if cancelled {
		if !r.streaming {
			r.w.WriteHeader(http.StatusAccepted)
		}
		return
	}
	if r.streaming || r.mustStream {
		r.startStream()
		message := AppendError(nil, r.id, err)
		if err == nil {
			message = AppendResult(nil, r.id, result)
		}
		writeEvent(r.w, message)
		return
	}
	h := r.w.Header()
	h["Content-Type"] = jsonTypeHeader
	if err != nil {
		r.w.Write(AppendError(nil, r.id, err))
		return
	}
	r.writeResult(h, result)
}

var jsonTypeHeader = []string{jsonType}

// writeResult writes a plain answer. A large result is not copied first: lists are
// rendered once and go out from where they are.
func (r *reply) writeResult(h http.Header, result json.RawMessage) {
	const copyBelow = 8 << 10
	var buf [256]byte
	start := appendHead(buf[:0], r.id)
	h.Set("Content-Length", strconv.Itoa(len(start)+len(result)+1))
	if len(result) < copyBelow {
		out := make([]byte, 0, len(start)+len(result)+1)
		out = append(append(append(out, start...), result...), '}')
		r.w.Write(out)
		return
	}
	r.w.Write(start)
	r.w.Write(result)
	r.w.Write([]byte{'}'})
}

func streamHeader(h http.Header) {
	h.Set("Content-Type", streamType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// writeEvent writes one message as a server-sent event and sends it off.
func writeEvent(w http.ResponseWriter, message []byte) error {
	message = rawjson.OneLine(message)
	buf := make([]byte, 0, len(message)+32)
	buf = append(buf, "event: message\ndata: "...)
	buf = append(append(buf, message...), "\n\n"...)
	if _, err := w.Write(buf); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
