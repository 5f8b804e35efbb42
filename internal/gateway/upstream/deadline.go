package upstream

import (
	"context"
	"sync"
	"time"
)

// deadline ends a call that takes too long, and says before that it takes long. It is suspended while the caller
// is asked something: a slow person says nothing about the server.
type deadline struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	slow  Slower        // may be nil
	limit time.Duration // of the whole call
	left  time.Duration // until slow is told, or the end
	rest  time.Duration // what follows once slow is told; 0: it was, or is not
	extra time.Duration // the part of the limit that only a detached call has
	began time.Time
	since time.Time // when the timer was last set
	open  int32     // open questions to the caller
	ever  bool      // there was a question
	ended bool
}

// askLimit is how long a caller may take to answer a question.
const askLimit = 10 * time.Minute

// Limits of a call for which no timeout is configured.
const (
	usualLimit    = time.Minute
	detachedLimit = time.Hour // if it can be detached
)

// startDeadline limits a call's time; a limit of 0 is the usual one. Stop ends the context.
func startDeadline(ctx context.Context, limit time.Duration, slow Slower, after time.Duration) (context.Context, *deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	c := &deadline{cancel: cancel, slow: slow, limit: limit, began: now, since: now}
	tells := slow != nil && after > 0
	switch {
	case limit == 0 && tells:
		c.limit = detachedLimit
		c.extra = detachedLimit - usualLimit
	case limit == 0:
		c.limit = usualLimit
	}
	c.left = c.limit
	if tells && after < c.limit {
		c.left = after
		c.rest = c.limit - after
	}
	c.mu.Lock() // it may be due at once
	c.timer = time.AfterFunc(c.left, c.due)
	c.mu.Unlock()
	return ctx, c
}

// due is called when the timer ends.
func (c *deadline) due() {
	if c.becomesSlow() && !c.slow.Slow(c.cancel) {
		c.shorten()
	}
}

// becomesSlow tells whether the call now takes long. If that was said before, it ends.
func (c *deadline) becomesSlow() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended || time.Since(c.since) < c.set():
		return false // the timer was set again in the meantime
	case c.open > 0 || c.rest == 0:
		c.cancel(context.DeadlineExceeded)
		return false
	}
	c.left = c.rest
	c.rest = 0
	c.restart()
	return true
}

// hurry says now that the call takes long, unless that was said before or a question is open.
func (c *deadline) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.rest == 0 || c.open > 0 {
		return
	}
	c.rest += max(0, c.left-time.Since(c.since))
	c.left = 0
	c.restart()
}

// openCalls are those that somebody may detach from their requests.
type openCalls struct {
	mu  sync.Mutex
	all map[*deadline]struct{}
}

func (o *openCalls) add(c *deadline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[*deadline]struct{}{}
	}
	o.all[c] = struct{}{}
}

func (o *openCalls) remove(c *deadline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, c)
}

// Hurry says of the calls that have been open for that time that they take long, so that they are detached.
func (p *Pool) Hurry(open time.Duration) {
	p.open.mu.Lock()
	defer p.open.mu.Unlock()
	for c := range p.open.all {
		if time.Since(c.began) >= open {
			c.hurry()
		}
	}
}

// set is what the timer is set to. The caller holds mu.
func (c *deadline) set() time.Duration {
	if c.open > 0 {
		return askLimit
	}
	return max(c.left, 0)
}

// restart sets the timer. The caller holds mu.
func (c *deadline) restart() {
	c.since = time.Now()
	c.timer.Reset(c.set())
}

// shorten ends the call when it would have without the prospect of being detached.
func (c *deadline) shorten() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.extra == 0 {
		return
	}
	c.limit -= c.extra
	c.left -= c.extra
	c.extra = 0
	if c.open == 0 {
		c.left -= time.Since(c.since)
		c.restart()
	}
}

func (c *deadline) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.timer.Stop()
	c.cancel(context.Canceled)
}

// allowed is how long the call may take.
func (c *deadline) allowed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit
}

// detached tells whether the call has outlived its request.
func (c *deadline) detached() bool { return c != nil && c.slow != nil && c.slow.Detached() }

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
		c.restart()
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
		c.restart()
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
