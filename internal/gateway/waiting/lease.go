package waiting

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Run takes over the calls of replicas that have gone, at once and from time to time, and renews our
// leases, until ctx ends.
func (c *Calls) Run(ctx context.Context) {
	c.takeOver(ctx)
	repeat.Every(ctx.Done(), c.opts.Lease/4, func() {
		c.renew(ctx)
		c.takeOver(ctx)
	})
}

// renew renews our leases. A call that is no longer ours has ended or was taken over.
func (c *Calls) renew(ctx context.Context) {
	c.mu.Lock()
	held := slices.Collect(maps.Values(c.live))
	c.mu.Unlock()
	if len(held) == 0 {
		return
	}
	ids, err := c.store.RenewWaiting(ctx, c.replica, c.opts.Now().Add(c.opts.Lease))
	if err != nil {
		c.opts.Logger.Error("leases of waiting calls not renewed", "error", fault.As(err))
		return
	}
	ours := make(map[string]bool, len(ids))
	for _, id := range ids {
		ours[id] = true
	}
	for _, l := range held {
		if !ours[l.ID] {
			l.lost(ctx)
		}
	}
}

// lost ends the work on a call that is no longer ours: canceled at another replica, or taken over.
func (l *Live) lost(ctx context.Context) {
	w, err := l.calls.store.Waiting(ctx, "", l.ID)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return
	case err == nil && !w.Ended():
		l.finish(errTaken)
	default:
		l.finish(ErrCanceled)
	}
	l.calls.wake(l.ID)
}

// takeOver goes on with calls whose replica has gone.
func (c *Calls) takeOver(ctx context.Context) {
	for ctx.Err() == nil {
		lost, err := c.store.LostWaiting(ctx, 100)
		if err != nil && ctx.Err() == nil {
			c.opts.Logger.Error("waiting calls of other replicas not looked for", "error", fault.As(err))
		}
		taken := 0
		for _, w := range lost {
			if c.goesDown() {
				return // a claim would use up one of the call's attempts
			}
			if c.find(w.ID) != nil {
				continue // we work on it still, though we could not renew its lease
			}
			ours, err := c.claim(ctx, &w)
			if err != nil {
				c.opts.Logger.Error("waiting call not taken over", "call", w.ID, "error", fault.As(err))
			}
			if ours {
				taken++
			}
		}
		if taken == 0 {
			return
		}
		c.renew(ctx) // there may be many
	}
}

// claim takes up a call, unless somebody else was quicker, and goes on with it.
func (c *Calls) claim(ctx context.Context, w *store.Waiting) (bool, error) {
	ours, err := c.store.ClaimWaiting(ctx, w, c.replica, c.opts.Now().Add(c.opts.Lease))
	if err != nil || !ours {
		return false, err
	}
	return c.takeUp(w.ID), nil
}

// takeUp goes on with a call that has become ours in the store. False: the gateway is going down.
func (c *Calls) takeUp(id string) bool {
	l := &Live{ID: id, calls: c}
	if !c.hold(l) {
		c.letGo()
		return false
	}
	l.After(0)
	return true
}

func (c *Calls) goesDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Close ends the work on calls, and waits for its end. Their rows stay open, and their leases end: the
// next replica takes them over at once.
func (c *Calls) Close() {
	c.mu.Lock()
	c.closed = true
	held := slices.Collect(maps.Values(c.live))
	c.mu.Unlock()
	for _, l := range held {
		l.finish(errClosing)
	}
	c.stop() // only now: who sees its context end must find out why
	c.work.Wait()
	if len(held) > 0 {
		c.letGo()
	}
}

// letGo ends the leases of this replica, which is going down.
func (c *Calls) letGo() {
	_, err := c.store.RenewWaiting(context.Background(), c.replica, c.opts.Now().Add(-time.Millisecond))
	if err != nil {
		c.opts.Logger.Warn("waiting calls are taken over only when their leases end", "error", fault.As(err))
	}
}
