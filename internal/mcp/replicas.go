package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Replicas are the other gateways that serve the same sessions. What is in one process only, such as an open
// request or a stream, is reached through them; all else is served where it arrives.
type Replicas interface {
	// Home is the replica that holds the session's own stream and subscriptions: this one, if no other does or
	// the other is the one that is gone. Held is what was stored of them; nil: nothing.
	Home(ctx context.Context, session, gone string) (replica string, held []byte)
	// Forward passes a request on and its answer back; false: the replica is not there, and nothing was sent.
	Forward(w http.ResponseWriter, r *http.Request, body []byte, replica string) bool
	// Tell sends a message to a replica, or with "" to all others, and drops what they answer.
	Tell(r *http.Request, body []byte, replica string)
}

// passTo passes a request with its body on to its replica; false: it is to be served here.
func (f *Front) passTo(w http.ResponseWriter, r *http.Request, replica string, body []byte) bool {
	if replica == "" || replica == f.sessions.opts.Replica || f.opts.Replicas == nil {
		return false
	}
	return f.opts.Replicas.Forward(w, r, body, replica)
}

// passHome passes a request on to the session's home; false: that is here.
func (f *Front) passHome(w http.ResponseWriter, r *http.Request, s *Session, body []byte) bool {
	if f.opts.Replicas == nil {
		return false
	}
	home, held := f.opts.Replicas.Home(r.Context(), s.ID, "")
	if f.passTo(w, r, home, body) {
		return true
	}
	if home != f.sessions.opts.Replica {
		home, held = f.opts.Replicas.Home(r.Context(), s.ID, home) // it did not answer: now it is here, or where another was quicker to say so
		if f.passTo(w, r, home, body) {
			return true
		}
	}
	if held != nil && f.opts.TakeUp != nil {
		f.opts.TakeUp(r.Context(), s, held)
	}
	return false
}

// passAnswer passes the answer to a question on to the replica that asked; false: that is here.
func (f *Front) passAnswer(w http.ResponseWriter, r *http.Request, m *Message) bool {
	if f.opts.Replicas == nil {
		return false
	}
	asker, _, _ := askedBy(m.ID)
	return f.passTo(w, r, asker, m.encode())
}

// tellAsker is passAnswer for an answer within a batch.
func (f *Front) tellAsker(r *http.Request, m *Message) {
	asker, _, _ := askedBy(m.ID)
	if asker != "" && asker != f.sessions.opts.Replica {
		f.tell(r, asker, m)
	}
}

// passRequest passes on a request that concerns what a session has besides its token; false: it is to be served here.
func (f *Front) passRequest(w http.ResponseWriter, r *http.Request, s *Session, m *Message) bool {
	switch m.Method {
	case "resources/subscribe", "resources/unsubscribe":
		return f.opts.Replicas != nil && f.passHome(w, r, s, m.encode())
	case "logging/setLevel":
		f.tell(r, "", m) // each replica tells its own servers, and leaves out what the client does not want
	}
	return false
}

// passOn lets another replica answer the request, if the answer has not begun.
func (r *reply) passOn(replica string, m Message) bool {
	r.mu.Lock()
	if r.finished || r.streaming {
		r.mu.Unlock()
		return false
	}
	r.finished = true // from here on nobody else may write
	r.mu.Unlock()
	passed := r.w.front.passTo(r.w.ResponseWriter, r.asked, replica, m.encode())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = passed
	return passed
}

// tell tells another replica of a message, or with "" all.
func (f *Front) tell(r *http.Request, replica string, m *Message) {
	if f.opts.Replicas != nil {
		f.opts.Replicas.Tell(r, m.encode(), replica)
	}
}

// askedBy reads the id of a question of ours: which replica has asked, and its number there.
func askedBy(id json.RawMessage) (replica string, n int64, ok bool) {
	text := string(id)
	if s, quoted := rawjson.String(id); quoted {
		replica, text, _ = strings.Cut(s, "-")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", 0, false
	}
	return replica, n, true
}

// askID is the id of a question; it names the replica where there are others.
func (s *Session) askID(n int64) json.RawMessage {
	if s.replica == "" {
		return strconv.AppendInt(nil, n, 10)
	}
	return json.RawMessage(`"` + s.replica + "-" + strconv.FormatInt(n, 10) + `"`)
}

// streamID is the id of a stream; it names the replica where there are others.
func streamID(replica, number string) string {
	if replica == "" {
		return number
	}
	return replica + "." + number
}

// streamOf is where a stream is, and whether it is a session's own.
func streamOf(id string) (replica string, own bool) {
	replica, number, found := strings.Cut(id, ".")
	if !found {
		return "", id == newsStream
	}
	return replica, number == newsStream
}
