package mcp

import (
	"context"
	"encoding/json"
)

// opened is a request in flight, registered in its session so that the client can cancel it.
type opened struct {
	id       json.RawMessage
	session  *Session // nil for a modern request over HTTP, which ends with its connection
	cancel   context.CancelCauseFunc
	canceled bool // by the client or with the session; guarded by session.mu
	left     bool // answered while its handler runs; guarded by session.mu
}

// open registers the request; errEnded if the session has ended.
func (o *opened) open(ctx context.Context) (context.Context, error) {
	s := o.session
	key := string(o.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errEnded
	case len(s.open) >= maxOpen:
		return nil, Errorf(CodeInvalidRequest, "%d requests are open already: wait for an answer", maxOpen)
	case s.open[key] != nil:
		return nil, Errorf(CodeInvalidRequest, "request id %s is in use", key)
	}
	if s.open == nil {
		s.open = make(map[string]*opened, 1)
	}
	ctx, o.cancel = context.WithCancelCause(ctx)
	s.open[key] = o
	return ctx, nil
}

// withdraw cancels the request. The caller holds session.mu.
func (o *opened) withdraw(cause error) {
	o.canceled = true
	o.cancel(cause)
}

// end ends the request when its handler has returned; false if it was answered before.
func (o *opened) end() bool {
	s := o.session
	s.mu.Lock()
	if s.open[string(o.id)] == o {
		delete(s.open, string(o.id))
	}
	s.mu.Unlock()
	o.cancel(nil)
	return !o.left // set only while it is open
}

// leave takes the request out of its session without ending it; false if it was canceled or has ended.
func (o *opened) leave() bool {
	s := o.session
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.canceled || s.open[string(o.id)] != o {
		return false
	}
	delete(s.open, string(o.id))
	o.left = true
	return true
}

// hasLeft tells whether the request was answered while its handler runs.
func (o *opened) hasLeft() bool {
	o.session.mu.Lock()
	defer o.session.mu.Unlock()
	return o.left
}
