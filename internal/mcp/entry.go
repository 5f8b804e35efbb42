package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

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
	Tasks                bool            // calls can be tasks, where the revision has them
}

func (i Info) initializeResult(version string) json.RawMessage {
	b := i.appendTo(rawjson.AppendString([]byte(`{"protocolVersion":`), version), version)
	b = append(append(b, `,"serverInfo":`...), i.Implementation()...)
	return append(b, '}')
}

// appendTo appends the members that both eras write alike.
func (i Info) appendTo(b []byte, version string) []byte {
	b = append(append(b, `,"capabilities":`...), i.capabilities(version)...)
	if i.Instructions != "" {
		b = rawjson.AppendString(append(b, `,"instructions":`...), i.Instructions)
	}
	return b
}

// capabilities are what a client of the revision may use.
func (i Info) capabilities(version string) json.RawMessage {
	all := i.Capabilities
	if all == nil {
		all = json.RawMessage("{}")
	}
	switch {
	case i.Tasks && version == Latest:
		return With(all, "tasks", []byte(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`))
	case i.Tasks && version == ModernVersion:
		others := rawjson.Get(all, "extensions")
		if len(others) == 0 || others[0] != '{' {
			others = json.RawMessage("{}")
		}
		return With(Without(all, "extensions"), "extensions", With(Without(others, ExtensionTasks), ExtensionTasks, []byte("{}")))
	}
	return all
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

// greet is what a client is told that introduces itself.
func (e Entry) greet(client Speaker) Info {
	if h, ok := e.Handler.(Greeter); ok {
		h.Greet(client)
	}
	return e.Info()
}

// answer serves one request: methods of the wire itself here, all others by the entry's handler.
func (e Entry) answer(ctx context.Context, log *slog.Logger, req *Request) (json.RawMessage, error) {
	switch {
	case req.Meta == nil && req.Method == "ping":
		return json.RawMessage("{}"), nil
	case req.Meta != nil && req.Method == "server/discover":
		return e.greet(Speaker{Era: Modern, Info: req.Meta.Info}).discoverResult(), nil
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

// take dispatches a notification; false: it concerns other replicas too.
func (e Entry) take(ctx context.Context, s *Session, m Message) bool {
	switch m.Method {
	case "notifications/cancelled":
		return s.canceled(m.Params)
	case "notifications/initialized":
		return true
	}
	e.Handler.Serve(ctx, &Request{Method: m.Method, Params: m.Params, Session: s, Client: Deaf})
	switch m.Method {
	case "notifications/progress", "notifications/message": // of what nobody asked
		return true
	}
	return !strings.HasPrefix(m.Method, "notifications/") // a session with a server, kept for this client, may be anywhere
}

// start registers a request and returns the function that serves it; that returns the answer, or
// nil if the request was canceled or has been answered. The next message may cancel it, so it is registered before that
// is read.
func (e Entry) start(ctx context.Context, log *slog.Logger, o *opened, req *Request) (serve func() []byte) {
	ctx, err := o.open(ctx)
	if err != nil {
		return func() []byte { return AppendError(nil, req.ID, err) }
	}
	return func() []byte {
		defer req.sent()
		result, withdrawn, err := e.serve(ctx, o, log, req)
		if withdrawn {
			return nil
		}
		return AppendAnswer(nil, req.ID, result, err)
	}
}

// serve serves a registered request and ends it before the answer goes out: the client may then reuse the id. A
// withdrawn request gets no answer, or has got one.
func (e Entry) serve(ctx context.Context, o *opened, log *slog.Logger, req *Request) (result json.RawMessage, withdrawn bool, err error) {
	defer func() { withdrawn = !o.end() || withdrawn }()
	result, err = e.answer(ctx, log, req)
	withdrawn, err = outcome(ctx, err)
	return result, withdrawn, err
}
