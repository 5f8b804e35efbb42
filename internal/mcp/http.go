package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Front serves Streamable HTTP in both eras: POST, and for sessions GET and DELETE.
type Front struct {
	sessions *Sessions
	opts     FrontOptions
}

// FrontOptions configure a Front.
type FrontOptions struct {
	MaxBody int64         // limit of one POST in bytes; 0: 4 MiB
	Stalled time.Duration // a client that reads nothing from its stream for this long counts as disconnected; 0: 10 s
	Logger  *slog.Logger  // nil: discard
	// Replicas are the other gateways that serve the same sessions, whose options name this one. nil: there are none.
	Replicas Replicas
	// TakeUp is called with what was stored of a session whose home is here, perhaps since now. nil: nothing is.
	TakeUp func(ctx context.Context, s *Session, held []byte)
}

// NewFront makes a front whose sessions live in the given set.
func NewFront(sessions *Sessions, opts *FrontOptions) *Front {
	f := &Front{sessions: sessions}
	if opts != nil {
		f.opts = *opts
	}
	f.opts.MaxBody = cmp.Or(f.opts.MaxBody, 4<<20)
	f.opts.Stalled = cmp.Or(f.opts.Stalled, 10*time.Second)
	f.opts.Logger = cmp.Or(f.opts.Logger, slog.New(slog.DiscardHandler))
	return f
}

// Alone is the front for what another replica has passed on: it passes nothing on.
func (f *Front) Alone() *Front {
	alone := *f
	alone.opts.Replicas = nil
	return &alone
}

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	jsonType      = "application/json"
	streamType    = "text/event-stream"
)

// Serve answers one HTTP request at an MCP endpoint.
func (f *Front) Serve(w http.ResponseWriter, r *http.Request, e Entry) {
	modern := r.Header.Get(versionHeader) == ModernVersion
	switch {
	case r.Method == http.MethodPost:
		f.post(w, r, e)
	case r.Method == http.MethodGet && !modern:
		f.get(w, r, e)
	case r.Method == http.MethodDelete && !modern:
		if s := f.session(w, r, e, nil); s != nil {
			f.sessions.endForGood(s)
			f.tell(r, "", nil)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		allow := "GET, POST, DELETE"
		if modern {
			allow = "POST" // there is no session to listen to or to end
		}
		w.Header().Set("Allow", allow)
		refuse(w, http.StatusMethodNotAllowed, Errorf(CodeInvalidRequest, "method %s is not allowed here", r.Method))
	}
}

func (f *Front) post(w http.ResponseWriter, r *http.Request, e Entry) {
	if t := r.Header.Get("Content-Type"); t != jsonType {
		if t, _, err := mime.ParseMediaType(t); err != nil || t != jsonType {
			refuse(w, http.StatusUnsupportedMediaType, Errorf(CodeInvalidRequest, "Content-Type must be %s", jsonType))
			return
		}
	}
	if !accepts(r, jsonType) && !accepts(r, streamType) {
		refuse(w, http.StatusNotAcceptable, Errorf(CodeInvalidRequest, "Accept must allow %s or %s", jsonType, streamType))
		return
	}
	body, err := ReadBody(w, r, f.opts.MaxBody)
	if err != nil {
		refuseBody(w, err, f.opts.MaxBody)
		return
	}
	if isBatch(body) {
		f.postBatch(w, r, e, body)
		return
	}
	m, err := Parse(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	modern, err := isModern(r.Header, m)
	switch {
	case err != nil:
		refuseID(w, http.StatusBadRequest, m.ID, err)
		return
	case modern:
		f.postModern(w, r, e, m)
		return
	}
	if m.Method == "initialize" && m.ID != nil {
		f.initialize(w, r, e, m)
		return
	}
	s := f.session(w, r, e, body)
	if s == nil {
		return
	}
	f.message(w, r, e, s, m)
}

// message serves one message of an open session.
func (f *Front) message(w http.ResponseWriter, r *http.Request, e Entry, s *Session, m Message) {
	// A legacy client that disconnects has not canceled: that takes a notification.
	ctx := context.WithoutCancel(r.Context())
	switch {
	case m.IsResponse():
		if f.passAnswer(w, r, &m) {
			return
		}
		s.answered(m)
		w.WriteHeader(http.StatusAccepted)
	case m.IsNotification():
		if !e.take(ctx, s, m) {
			f.tell(r, "", &m)
		}
		w.WriteHeader(http.StatusAccepted)
	case f.passRequest(w, r, s, &m):
	default:
		out := f.reply(w, r, opened{id: m.ID, session: s})
		ctx, err := out.open(ctx)
		if errors.Is(err, errEnded) {
			refuseUnknown(w)
			return
		}
		if err != nil {
			refuseID(w, http.StatusBadRequest, m.ID, err)
			return
		}
		req := m.request(s, out)
		req.early = out
		defer req.sent()
		result, withdrawn, err := e.serve(ctx, &out.opened, f.opts.Logger, req)
		out.finish(result, err, withdrawn)
	}
}

func (f *Front) initialize(w http.ResponseWriter, r *http.Request, e Entry, m Message) {
	s, err := newSession(e, m.Params)
	if err == nil {
		err = f.sessions.add(s, true)
	}
	if err != nil {
		refuseID(w, http.StatusBadRequest, m.ID, err)
		return
	}
	w.Header().Set(sessionHeader, s.token)
	out := f.reply(w, r, opened{id: m.ID, session: s})
	out.finish(e.greet(s.speaker()).initializeResult(s.Version), nil, false)
}

// session finds the session of a request with its body, or answers the request and returns nil.
func (f *Front) session(w http.ResponseWriter, r *http.Request, e Entry, body []byte) *Session {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		refuse(w, http.StatusBadRequest, Errorf(CodeInvalidRequest, "header %s is missing: send initialize first", sessionHeader))
		return nil
	}
	s := f.sessions.get(id, e.Owner, e.Group)
	if s != nil {
		return s
	}
	replica, _, only := strings.Cut(id, ".") // only that one knows it
	if !only || !f.passTo(w, r, replica, body) {
		refuseUnknown(w)
	}
	return nil
}

func refuseUnknown(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, Errorf(CodeInvalidRequest, "session not found: send initialize again"))
}

// accepts tells whether the Accept header allows the type; without a header every type is.
func accepts(r *http.Request, mediaType string) bool {
	values := r.Header["Accept"]
	if len(values) == 0 {
		return true
	}
	group := mediaType[:strings.IndexByte(mediaType, '/')] + "/*"
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			t, _, _ := strings.Cut(part, ";")
			if t = strings.TrimSpace(t); t == mediaType || t == "*/*" || t == group {
				return true
			}
		}
	}
	return false
}

// ReadBody reads the whole body before anything is answered: an early answer can cut off the request. A body declared too long is not read.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	switch n := r.ContentLength; {
	case n > limit:
		return nil, &http.MaxBytesError{Limit: limit}
	case n >= 0:
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
}

func refuseBody(w http.ResponseWriter, err error, limit int64) {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, Errorf(CodeInvalidRequest, "the body is larger than %d bytes", limit))
		return
	}
	refuse(w, http.StatusBadRequest, Errorf(CodeParse, "the body could not be read"))
}

// refuse answers with an HTTP status and a JSON-RPC error without an id.
func refuse(w http.ResponseWriter, status int, err error) { refuseID(w, status, nil, err) }

func refuseID(w http.ResponseWriter, status int, id []byte, err error) {
	if errors.Is(err, rawjson.ErrDepth) {
		err = Errorf(CodeParse, "%v", err)
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	w.Write(AppendError(nil, id, err))
}
