package upstream

import (
	"context"
	"sync"
	"time"
)

// deadline ends a call that takes too long. It is suspended while the caller is asked something: a
// slow person says nothing about the server.
type deadline struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time // when it last began to run
	open  int       // open questions to the caller
	ever  bool      // there was a question
	ended bool
}

// askLimit is how long a caller may take to answer a question.
const askLimit = 10 * time.Minute

// startDeadline limits a call's time. Stop ends the context.
func startDeadline(ctx context.Context, limit time.Duration) (context.Context, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &deadline{cancel: cancel, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	return ctx, c
}

func (c *deadline) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.timer.Stop()
	c.cancel(context.Canceled)
}

// asked notes that the call waits for the caller, not for the server.
func (c *deadline) asked() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ever = true
	c.open++
	if c.open == 1 && !c.ended {
		c.left -= time.Since(c.since)
		c.timer.Reset(askLimit)
	}
}

// answered notes that the server has its answer.
func (c *deadline) answered() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.open == 0 && !c.ended {
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// hasAsked tells whether there was a question.
func (c *deadline) hasAsked() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ever
}
