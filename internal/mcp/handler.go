package mcp

import (
	"context"
	"encoding/json"
	"fmt"
)

// Handler answers the requests of one peer. It is called concurrently.
type Handler interface {
	// Serve answers a request with the raw JSON of its result. An *Error reaches the peer; any
	// other becomes "internal error". What it returns for a notification is ignored.
	Serve(ctx context.Context, req *Request) (json.RawMessage, error)
}

// Greeter is a Handler that is told of each client that introduces itself, by initialize or server/discover.
type Greeter interface {
	Greet(client Speaker)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, req *Request) (json.RawMessage, error)

// Serve calls f.
func (f HandlerFunc) Serve(ctx context.Context, req *Request) (json.RawMessage, error) {
	return f(ctx, req)
}

// Request is one request or notification, split but not decoded. Its bytes are read-only.
type Request struct {
	ID      json.RawMessage // as the peer wrote it; nil for a notification
	Method  string
	Params  json.RawMessage // nil when absent
	Session *Session        // the legacy session it came in; nil where there is none
	Meta    *Meta           // a modern request's description of itself; nil for a legacy one
	Caller  string          // the caller, for servers inside our own process; "" if not known
	Client  Peer            // the way back to the caller while the request is open; never nil
	Sent    func()          // may be set by the handler; called when the result is no longer needed

	sessions *Sessions // where a modern request can listen
	entry    Entry
	early    answerer // answers it while its handler runs; nil where that is not possible
}

// answerer can answer a request before its handler returns.
type answerer interface {
	answerNow(result json.RawMessage) bool
}

// AnswerNow answers the request while its handler still runs, from any goroutine; what the handler returns is then
// dropped. From then on the request belongs to nobody: its context ends neither with the client's connection or
// session nor by a cancellation, and Client reaches nobody. True says that the answer was given, not that the client
// has read it. False changes nothing: the request is a notification or part of a batch, it has been answered or
// canceled, or its client has gone.
func (r *Request) AnswerNow(result json.RawMessage) bool {
	return r.early != nil && r.early.answerNow(result)
}

// PassOn passes the request on to another replica, whose answer becomes its own; what the handler returns is then
// dropped. False changes nothing: the replica is not there, or the request was passed on to us.
func (r *Request) PassOn(replica string) bool {
	out, ok := r.early.(*reply)
	return ok && out.passOn(replica, Message{ID: r.ID, Method: r.Method, Params: r.Params})
}

// sent tells the handler that its result has been written or dropped.
func (r *Request) sent() {
	if r.Sent != nil {
		r.Sent()
	}
}

// Peer is the other side of an open request: progress, logs and questions go to it.
type Peer interface {
	// Notify sends a notification that belongs to the open request.
	Notify(ctx context.Context, method string, params json.RawMessage) error
	// Ask sends a request to the peer and waits for the raw result.
	Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
	// Raw is the error object as an upstream sent it; when set, it is passed on byte for byte.
	Raw json.RawMessage `json:"-"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// Errorf makes an error with a code and a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// The codes of JSON-RPC and of MCP.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603

	CodeNoResource         = -32002 // legacy: there is no such resource
	CodeURLRequired        = -32042 // legacy: a person must visit a page first
	CodeHeaderMismatch     = -32020 // modern: header and body disagree
	CodeMissingCapability  = -32021 // modern: the client cannot be asked what the request needs
	CodeUnsupportedVersion = -32022 // modern: the revision is not served
)

// Deaf is the Peer that ignores notifications and answers nothing: for callers that cannot be reached.
var Deaf Peer = deaf{}

type deaf struct{}

func (deaf) Notify(context.Context, string, json.RawMessage) error { return nil }

func (deaf) Ask(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, Errorf(CodeMethodNotFound, "the caller cannot answer %s", method)
}
