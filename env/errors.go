package env

import (
	"errors"
	"fmt"
	"net/http"
)

// NotFoundError says that something does not exist.
type NotFoundError struct {
	Kind string // Profile, Agent or Session
	ID   string
}

func (e *NotFoundError) Error() string { return e.Kind + " not found: " + e.ID }

// ToolError is an error that a tool answered with.
type ToolError struct {
	Tool    string
	Message string
}

func (e *ToolError) Error() string { return e.Tool + ": " + e.Message }

// StatusError is an HTTP status without an answer of the protocol, such as 401.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
}

// ErrNotOffered says that the environment does not have the needed tool.
var ErrNotOffered = errors.New("the environment does not offer this")

// ErrTaken says that the session id exists already.
var ErrTaken = errors.New("the session exists already")

// ErrNotAskable says that a client has no way to answer a question.
var ErrNotAskable = errors.New("the client cannot be asked this")

// ErrPanicked says that the environment's code panicked. Clients get no details.
var ErrPanicked = errors.New("the environment panicked")

// panicError is a panic; its text is only logged.
type panicError struct{ value any }

func (e *panicError) Error() string        { return fmt.Sprintf("panic: %v", e.value) }
func (e *panicError) Is(target error) bool { return target == ErrPanicked }
