package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Entry is who calls and who answers. A front gets one for each request.
type Entry struct {
	Owner   string      // the caller's identity; a session serves only its owner
	Group   string      // the sessions that Broadcast reaches together
	Info    func() Info // what initialize answers
	Handler Handler
	// Charge counts the messages of a batch against the rate limit; false: too many, and it has answered. May be nil.
	Charge func(w http.ResponseWriter, r *http.Request, messages int) bool
}

// Info is what initialize and server/discover answer.
type Info struct {
	Name, Title, Version string
	Instructions         string          // "" leaves it out
	Capabilities         json.RawMessage // nil: {}
	Tasks                bool            // tools/call can make tasks
}

func (i Info) initializeResult(version string) json.RawMessage {
	if i.Tasks && version == Latest {
		i = i.with("tasks", `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	}
	b := i.appendTo(rawjson.AppendString([]byte(`{"protocolVersion":`), version))
	b = append(append(b, `,"serverInfo":`...), i.Implementation()...)
	return append(b, '}')
}

// with adds a capability.
func (i Info) with(name, value string) Info {
	if i.Capabilities == nil {
		i.Capabilities = json.RawMessage("{}")
	}
	i.Capabilities = With(i.Capabilities, name, []byte(value))
	return i
}

// appendTo appends the members that both eras write alike.
func (i Info) appendTo(b []byte) []byte {
	b = append(b, `,"capabilities":`...)
	if i.Capabilities == nil {
		b = append(b, "{}"...)
	}
	b = append(b, i.Capabilities...)
	if i.Instructions != "" {
		b = rawjson.AppendString(append(b, `,"instructions":`...), i.Instructions)
	}
	return b
}

// Implementation is our serverInfo, the same in both eras.
func (i Info) Implementation() json.RawMessage {
	b := rawjson.AppendString([]byte(`{"name":`), i.Name)
	if i.Title != "" {
		b = append(b, `,"title":`...)
		b = rawjson.AppendString(b, i.Title)
	}
	b = append(b, `,"version":`...)
	return append(rawjson.AppendString(b, i.Version), '}')
}

// answer serves one request: methods of the wire itself here, all others by the entry's handler.
func (e Entry) answer(ctx context.Context, log *slog.Logger, req *Request) (json.RawMessage, error) {
	switch {
	case req.Meta == nil && req.Method == "ping":
		return json.RawMessage("{}"), nil
	case req.Meta != nil && req.Method == "server/discover":
		return e.Info().discoverResult(), nil
	case req.Meta != nil && removed(req.Method):
		return nil, Errorf(CodeMethodNotFound, "revision %s has no method %s", ModernVersion, req.Method)
	}
	result, err := e.Handler.Serve(ctx, req)
	var known *Error
	if err != nil && !errors.As(err, &known) && ctx.Err() == nil {
		log.Error("request not served", "method", req.Method, "error", err)
	}
	return result, err
}

// take dispatches a notification.
func (e Entry) take(ctx context.Context, s *Session, m Message) {
	switch m.Method {
	case "notifications/cancelled":
		s.canceled(m.Params)
	case "notifications/initialized":
	default:
		e.Handler.Serve(ctx, &Request{Method: m.Method, Params: m.Params, Session: s, Client: Deaf})
	}
}

// start registers a request and returns the function that serves it; that returns the answer, or
// nil if the request was canceled. The next message may cancel it, so it is registered before that
// is read.
func (e Entry) start(ctx context.Context, log *slog.Logger, s *Session, req *Request) (serve func() []byte) {
	ctx, end, err := s.begin(ctx, req.ID)
	if err != nil {
		return func() []byte { return AppendError(nil, req.ID, err) }
	}
	return func() []byte {
		defer req.sent()
		result, withdrawn, err := e.serve(ctx, end, log, req)
		if withdrawn {
			return nil
		}
		return AppendAnswer(nil, req.ID, result, err)
	}
}

// serve serves a registered request and ends it before the answer goes out: the client may then reuse the id.
func (e Entry) serve(ctx context.Context, end func(), log *slog.Logger, req *Request) (result json.RawMessage, withdrawn bool, err error) {
	defer end()
	result, err = e.answer(ctx, log, req)
	withdrawn, err = outcome(ctx, err)
	return result, withdrawn, err
}
