package upstream

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// gate queues calls to one server, and refuses them at once while the server is down.
type gate struct {
	server tool.ServerID
	limit  int // concurrent calls; 0: no limit
	queue  int // length of the queue
	rule   config.Breaker
	now    func() time.Time
	slots  chan struct{} // nil without a limit

	mu       sync.Mutex
	waiting  int
	failures int       // calls in a row that the server did not answer
	openedAt time.Time // since when calls are refused; zero: they pass
	trying   bool      // one call is testing whether the server works again
	last     error
}

func newGate(cfg config.Server, now func() time.Time) *gate {
	g := &gate{server: cfg.ID, limit: cfg.Concurrency, queue: cfg.Queue, rule: cfg.Breaker, now: now}
	if g.limit > 0 {
		g.slots = make(chan struct{}, g.limit)
	}
	return g
}

// enter lets a call through, now or when it is its turn.
func (g *gate) enter(ctx context.Context) error {
	if err := g.allowed(); err != nil {
		return err
	}
	if g.slots == nil {
		return nil
	}
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	if !g.wait(1) {
		return fault.New(fault.UpstreamBusy, "server %s has %d calls under way and %d waiting", g.server, g.limit, g.queue).
			WithHint("try again later, or raise concurrency or queue of %s", g.server)
	}
	defer g.wait(-1)
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait takes a place in the queue; false if it is full.
func (g *gate) wait(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n > 0 && g.waiting >= g.queue {
		return false
	}
	g.waiting += n
	return true
}

// allowed refuses calls while the server is down. After the pause one call at a time tries again.
func (g *gate) allowed() error {
	if g.rule.Failures <= 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.openedAt.IsZero() {
		return nil
	}
	left := g.rule.Pause - g.now().Sub(g.openedAt)
	if left <= 0 && !g.trying {
		g.trying = true
		return nil
	}
	return fault.New(fault.UpstreamDown, "server %s is paused after %d failed calls in a row; the last: %w", g.server, g.failures, g.last).
		WithHint("it is tried again in %s", max(left.Round(time.Second), time.Second))
}

// leave frees the slot and notes how the call ended.
func (g *gate) leave(ctx context.Context, err error) {
	if g.slots != nil {
		<-g.slots
	}
	g.note(ctx, err)
}

// note notes how a request ended.
func (g *gate) note(ctx context.Context, err error) {
	if g.rule.Failures <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying = false
	switch {
	case counts(ctx, err):
		g.last = err
		g.failures++
		if g.failures >= g.rule.Failures {
			g.openedAt = g.now()
		}
	case !hasMark(err, noVerdict) && (err == nil || ctx.Err() == nil):
		g.failures = 0
		g.openedAt = time.Time{}
		g.last = nil
	}
}

// counts tells whether the server is to blame. Its own errors are answers, and canceled calls say nothing about it.
func counts(ctx context.Context, err error) bool {
	if hasMark(err, noVerdict) {
		return false
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return true
	}
	return ctx.Err() == nil &&
		(fault.Is(err, fault.UpstreamDown) || fault.Is(err, fault.UpstreamProtocol) || fault.Is(err, fault.UpstreamTimeout))
}

// state tells how many calls wait, and whether and why calls are refused now.
func (g *gate) state() (waiting int, open bool, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting, !g.openedAt.IsZero(), g.last
}
