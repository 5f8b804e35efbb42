// Package fault is the error that people and models may see: a code to act on by
// program, a sentence to read, and a hint what to do. Every other error is internal:
// it is logged at the edge and shown only as "internal".
//
//	return fault.New(fault.UpstreamDown, "server files is down: exit status 1").WithHint("run: toolfit servers")
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
)

// Code says by program what went wrong. Codes are append-only.
type Code string

const (
	Internal         Code = "internal"          // our own mistake; details are in the log
	BadRequest       Code = "bad_request"       // the request itself is malformed
	BadConfig        Code = "bad_config"        // the configuration is wrong
	Unauthorized     Code = "unauthorized"      // no key, or an unknown one
	Forbidden        Code = "forbidden"         // a known caller that may not do this
	NotFound         Code = "not_found"         // the named thing does not exist
	Conflict         Code = "conflict"          // the named thing exists already
	UnknownTool      Code = "unknown_tool"      // no such tool for this caller
	TooLarge         Code = "too_large"         // over a stated limit
	Canceled         Code = "canceled"          // the caller gave up
	UpstreamDown     Code = "upstream_down"     // the server cannot be started or reached
	UpstreamTimeout  Code = "upstream_timeout"  // the server did not answer in time
	UpstreamProtocol Code = "upstream_protocol" // the server answered something that is not MCP
	UpstreamBusy     Code = "upstream_busy"     // a limit on processes or queued calls is reached
	UpstreamError    Code = "upstream_error"    // the server answered with an error of its own
	StoreDown        Code = "store_down"        // the store cannot be used now
	RateLimited      Code = "rate_limited"      // this caller asks too often
	BadArguments     Code = "bad_arguments"     // arguments that the tool does not take
	BadResult        Code = "bad_result"        // a result that is not what the tool promises
	LoginRequired    Code = "login_required"    // the server needs a sign-in that it does not have
)

// Error is an error that its reader can act on.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`           // one sentence, no secrets
	Hint    string          `json:"hint,omitempty"`    // what to do about it
	Details json.RawMessage `json:"details,omitempty"` // machine-readable, by code
	cause   error
	hides   bool // the cause is for the log alone
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

// Because returns a copy of e with a cause that the log shows and the caller does not see.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause, c.hides = cause, true
	return &c
}

// Hides tells whether there is a cause that only the log may show. Whoever answers with e
// logs it.
func (e *Error) Hides() bool { return e.hides }

// LogValue is e with the cause that callers do not see.
func (e *Error) LogValue() slog.Value {
	if !e.hides {
		return slog.StringValue(e.Error())
	}
	return slog.StringValue(e.Error() + ": " + e.cause.Error())
}

// Unsent returns a copy of e that says: what was asked for never reached its server, which
// has not acted.
func (e *Error) Unsent() *Error {
	c := *e
	c.unsent = true
	return &c
}

// NotActed tells whether the server is known not to have acted: the request did not reach
// it, or was refused on our side.
func NotActed(err error) bool {
	var f *Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case BadArguments, UnknownTool, UpstreamBusy, RateLimited:
		return true
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

// As returns the fault in err's chain, or a plain internal one that hides err's text.
func As(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return (&Error{Code: Internal, Message: "internal error"}).Because(err)
}

// Is tells whether err carries the code.
func Is(err error, code Code) bool {
	var f *Error
	return errors.As(err, &f) && f.Code == code
}
