// Package fault is the error that people and models may see: a code for programs, a sentence to
// read, and a hint what to do. Every other error is logged at the edge and shown as "internal".
//
//	return fault.New(fault.UpstreamDown, "server files is down: exit status 1").WithHint("run: toolfit servers")
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// Code identifies what went wrong, for programs. Codes are append-only.
type Code string

const (
	Internal         Code = "internal"          // a bug or an unexpected error; details are in the log
	BadRequest       Code = "bad_request"       // the request itself is malformed
	BadConfig        Code = "bad_config"        // the configuration is wrong
	Unauthorized     Code = "unauthorized"      // no key, or an unknown one
	Forbidden        Code = "forbidden"         // a known caller that may not do this
	NotFound         Code = "not_found"         // the named thing does not exist
	Conflict         Code = "conflict"          // the named thing exists already
	UnknownTool      Code = "unknown_tool"      // no such tool for this caller
	TooLarge         Code = "too_large"         // over a stated limit
	Canceled         Code = "canceled"          // by the caller
	UpstreamDown     Code = "upstream_down"     // the server cannot be started or reached
	UpstreamTimeout  Code = "upstream_timeout"  // the server did not answer in time
	UpstreamProtocol Code = "upstream_protocol" // the server does not speak MCP correctly
	UpstreamBusy     Code = "upstream_busy"     // a limit on processes or queued calls is reached
	UpstreamError    Code = "upstream_error"    // the server returned an error
	StoreDown        Code = "store_down"        // the store cannot be used now
	RateLimited      Code = "rate_limited"      // too many requests of this caller
	BadArguments     Code = "bad_arguments"     // arguments that the tool does not accept
	BadResult        Code = "bad_result"        // a result that violates the output schema
	LoginRequired    Code = "login_required"    // the server needs a login that is missing
	StillRunning     Code = "still_running"     // the call goes on without its request
	Unknown          Code = "unknown_outcome"   // the call may or may not have happened
	StateLost        Code = "state_lost"        // what the server held for the session is gone
	Denied           Code = "denied"            // the policy does not permit the call
	ApprovalRequired Code = "approval_required" // the policy wants a person's yes first
	LimitReached     Code = "limit_reached"     // the policy permits no more such calls now
)

// Error is an error that its reader can act on.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`           // one sentence, no secrets
	Hint    string          `json:"hint,omitempty"`    // what to do about it
	Details json.RawMessage `json:"details,omitempty"` // machine-readable, by code
	cause   error
	hides   bool // the cause is only for the log
	unsent  bool
}

// New makes an error whose message is formatted as by fmt.Errorf; %w keeps the cause.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// WithHint returns a copy of e that says what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Because returns a copy of e with a cause that only the log shows.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	c.hides = true
	return &c
}

// Hides reports whether there is a cause that only the log may show.
func (e *Error) Hides() bool { return e.hides }

// LogValue returns e with its hidden cause.
func (e *Error) LogValue() slog.Value {
	if !e.hides {
		return slog.StringValue(e.Error())
	}
	return slog.StringValue(e.Error() + ": " + e.cause.Error())
}

// Unsent returns a copy of e that says that the request never reached its server.
func (e *Error) Unsent() *Error {
	c := *e
	c.unsent = true
	return &c
}

// NotActed reports whether the server certainly did nothing: the request did not reach it, or
// was refused on our side.
func NotActed(err error) bool {
	var f *Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case BadArguments, UnknownTool, UpstreamBusy, RateLimited:
		return true
	case StateLost: // the caller has to know, so nothing is done instead
		return false
	}
	return f.unsent
}

// WithDetails returns a copy of e with machine-readable details.
func (e *Error) WithDetails(v any) *Error {
	c := *e
	c.Details, _ = json.Marshal(v) // details are plain structs and maps
	return &c
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " (" + e.Hint + ")"
}

func (e *Error) Unwrap() error { return e.cause }

// As returns the *Error in err's chain, or an internal one that hides err's text.
func As(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return (&Error{Code: Internal, Message: "internal error"}).Because(err)
}

// Is reports whether err has the code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Error](err)
	return ok && f.Code == code
}
