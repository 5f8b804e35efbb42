package mcp

import (
	"net/http"
	"time"
)

// keepAlive is how often an open, silent stream sends a comment, so that nothing on the way takes it for dead.
const keepAlive = 30 * time.Second

// get serves the session's own stream, or the rest of a stream that broke, until the
// client leaves or nothing more will come.
func (f *Front) get(w http.ResponseWriter, r *http.Request, e Entry) {
	if !accepts(r, streamType) {
		refuse(w, http.StatusNotAcceptable, Errorf(CodeInvalidRequest, "Accept must allow %s", streamType))
		return
	}
	s := f.session(w, r, e)
	if s == nil {
		return
	}
	from, next := &s.news, s.news.unsent()
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		id, n, ok := parseEventID(last)
		if from = s.find(id); !ok || from == nil {
			refuse(w, http.StatusNotFound, Errorf(CodeInvalidRequest, "event %q is not known: its stream has ended", last))
			return
		}
		next = n + 1
	}
	streamHeader(w.Header())
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	f.follow(w, r, s, from, next)
}

// follow writes the events of a stream from number next on.
func (f *Front) follow(w http.ResponseWriter, r *http.Request, s *Session, from *outbox, next int) {
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
				if writeEvent(w, from.eventID(after-len(events)+i), message) != nil {
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
			if _, err := w.Write([]byte(":\n\n")); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}
