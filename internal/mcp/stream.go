package mcp

import (
	"net/http"
	"time"
)

// keepAlive is how often an open, silent stream sends a comment, so that nothing on the way takes it for dead.
const keepAlive = 30 * time.Second

// stream serves the session's GET stream until the client leaves or the session ends.
func (f *Front) stream(w http.ResponseWriter, r *http.Request, e Entry) {
	if !accepts(r, streamType) {
		refuse(w, http.StatusNotAcceptable, Errorf(CodeInvalidRequest, "Accept must allow %s", streamType))
		return
	}
	s := f.session(w, r, e)
	if s == nil {
		return
	}
	wake := s.listen()
	defer s.unlisten(wake)
	streamHeader(w.Header())
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case _, open := <-wake:
			if !open {
				return
			}
			for _, message := range s.take() {
				if writeEvent(w, message) != nil {
					return
				}
			}
		case <-tick.C:
			if _, err := w.Write([]byte(":\n\n")); err != nil || control.Flush() != nil {
				return
			}
		case <-s.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}
