package env

import (
	"errors"
	"fmt"
	"net/http"
)

// NotFoundError says that the environment has no such thing.
type NotFoundError struct {
	Kind string // Profile, Agent or Session
	ID   string
}

func (e *NotFoundError) Error() string { return e.Kind + " not found: " + e.ID }

// ToolError is what the environment answered instead of a result.
type ToolError struct {
	Tool    string
	Message string
}

func (e *ToolError) Error() string { return e.Tool + ": " + e.Message }

// StatusError is an answer of HTTP that carries nothing of the protocol, such as 401 where a
// key is missing.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answered %d %s", e.Code, http.StatusText(e.Code))
}

// ErrNotOffered says that the environment does not have the tool that would be needed.
var ErrNotOffered = errors.New("the environment does not offer this")

// ErrTaken says that there is a session with the wanted id already.
var ErrTaken = errors.New("the session exists already")

// ErrPanicked says that the code of an environment panicked. Clients are not told the rest.
var ErrPanicked = errors.New("the environment panicked")

// panicError is a panic in the code of an environment: its text is for the log alone.
type panicError struct{ value any }

func (e *panicError) Error() string        { return fmt.Sprintf("panic: %v", e.value) }
func (e *panicError) Is(target error) bool { return target == ErrPanicked }
