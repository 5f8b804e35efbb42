package mcp

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// keepAlive is how often an open, silent stream sends a comment, so that nothing on the way takes it for dead.
const keepAlive = 30 * time.Second

// get serves the session's own stream, or the rest of a broken one, until the client leaves or nothing more will come.
func (f *Front) get(w http.ResponseWriter, r *http.Request, e Entry) {
	if !accepts(r, streamType) {
		refuse(w, http.StatusNotAcceptable, Errorf(CodeInvalidRequest, "Accept must allow %s", streamType))
		return
	}
	s := f.session(w, r, e, nil)
	if s == nil {
		return
	}
	last := r.Header.Get("Last-Event-ID")
	id, valid := parseEventID(last)
	replica, own := streamOf(id.stream)
	var passed bool
	if last == "" || own {
		passed = f.passHome(w, r, s, nil)
	} else {
		passed = f.passTo(w, r, replica, nil)
	}
	if passed {
		return
	}
	from := s.find(id)
	n := id.n
	switch {
	case last == "" || own && valid && from == nil: // one of a replica that has gone is begun anew
		from = &s.news
		n = s.news.unsent()
	case from == nil && valid && id.request() != nil:
		f.lost(w, id)
		return
	case from == nil || !valid:
		refuse(w, http.StatusNotFound, Errorf(CodeInvalidRequest, "event %q is not known: its stream has ended", last))
		return
	default:
		n = from.after(n)
	}
	streamHeader(w.Header())
	w.WriteHeader(http.StatusOK)
	out := f.events(w)
	if out.send(nil) != nil {
		return
	}
	if !f.followTaken(out, r, s, from, n) {
		f.follow(out, r.Context().Done(), s, from, n)
	}
}

// followTaken follows a stream in the background, on its connection alone: what the HTTP server has for a request, two
// goroutines with large stacks and their buffers, is too much for one that mostly waits. False: it does not give it away.
func (f *Front) followTaken(w eventWriter, r *http.Request, s *Session, from *outbox, next int) bool {
	if !f.sessions.beginStream() {
		return false
	}
	conn := take(w.ResponseWriter, r, true, true)
	if conn == nil {
		f.sessions.streams.Done()
		return false
	}
	conn.out = nil
	w.ResponseWriter = conn
	go func() {
		defer f.sessions.streams.Done()
		gone, stop := conn.watch()
		f.follow(w, gone, s, from, next)
		stop()
		conn.end(w.until(0))
	}()
	return true
}

// lost answers a request whose stream is gone, with the process that had it: clients wait for an answer, and some give
// up the whole session without one. The answer is given once: its own id does not have the request's.
func (f *Front) lost(w http.ResponseWriter, id eventID) {
	streamHeader(w.Header())
	w.WriteHeader(http.StatusOK)
	err := Errorf(CodeInternal, "the gateway that worked on this request has gone: it may or may not have happened")
	err.Data = json.RawMessage(`{"code":"unknown_outcome"}`)
	f.events(w).event(eventID{stream: id.stream, n: id.n + 1}.String(), AppendError(nil, id.request(), err))
}

// follow writes the events of a stream from number next on, until the client has gone.
func (f *Front) follow(w eventWriter, gone <-chan struct{}, s *Session, from *outbox, next int) {
	wake := from.read()
	defer from.leave(wake)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case _, mine := <-wake:
			if !mine {
				return
			}
			events, after, ended := from.from(next)
			for i, message := range events {
				if w.event(from.eventID(after-len(events)+i), message) != nil {
					return
				}
			}
			next = after
			from.wrote(next)
			if ended {
				s.forget(from)
				return
			}
		case <-tick.C:
			if w.send([]byte(":\n\n")) != nil {
				return
			}
		case <-s.done:
			return
		case <-gone:
			return
		}
	}
}

func streamHeader(h http.Header) {
	h.Set("Content-Type", streamType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// eventWriter writes server-sent events. A client that stops reading counts as gone: it would hold up the call that writes.
type eventWriter struct {
	http.ResponseWriter
	front *Front
}

func (f *Front) events(w http.ResponseWriter) eventWriter { return eventWriter{w, f} }

// event writes one message as an event. A nil message is an event with only an id; without an id the stream cannot be resumed.
func (w eventWriter) event(id string, message []byte) error {
	message = rawjson.OneLine(message)
	buf := make([]byte, 0, len(message)+len(id)+40)
	if id != "" {
		buf = append(append(append(buf, "id: "...), id...), '\n')
	}
	if message != nil {
		buf = append(buf, "event: message\n"...)
	}
	buf = append(append(buf, "data: "...), message...)
	return w.send(append(buf, "\n\n"...))
}

// until is when a client that has not read a text of so many bytes counts as gone: 64 KB a second is enough.
func (w eventWriter) until(size int) time.Time {
	return time.Now().Add(w.front.opts.Stalled + time.Duration(size>>16)*time.Second)
}

// send writes text and sends it off.
func (w eventWriter) send(text []byte) error {
	control := http.NewResponseController(w.ResponseWriter)
	control.SetWriteDeadline(w.until(len(text))) // where there is none, there is no limit
	defer control.SetWriteDeadline(time.Time{})
	if _, err := w.Write(text); err != nil {
		return err
	}
	return control.Flush()
}
