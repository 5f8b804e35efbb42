package waiting

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Get returns a call of the owner; "" is anybody.
func (c *Calls) Get(ctx context.Context, owner, id string) (store.Waiting, error) {
	return c.store.Waiting(ctx, owner, id)
}

// How often the store is read while somebody waits: others may change the row.
const (
	lookEvery     = time.Second
	lookEveryLive = 10 * time.Second // at a call of this replica, which wakes us
)

// Wait waits until the call has ended or asks something, for at most d, and returns it as it is then.
func (c *Calls) Wait(ctx context.Context, owner, id string, d time.Duration) (store.Waiting, error) {
	return c.until(ctx, owner, id, d, func(w *store.Waiting) bool { return w.Ended() || w.State == store.InputRequired })
}

// until waits until the row is as wanted.
func (c *Calls) until(ctx context.Context, owner, id string, d time.Duration, wanted func(*store.Waiting) bool) (store.Waiting, error) {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	for {
		changed := c.Changed(id)
		w, err := c.store.Waiting(ctx, owner, id)
		if err != nil || wanted(&w) {
			return w, err
		}
		look := lookEvery
		if c.find(id) != nil {
			look = lookEveryLive
		}
		tick := time.NewTimer(look)
		select {
		case <-changed:
		case <-tick.C:
		case <-deadline.C:
			tick.Stop()
			return w, nil
		case <-ctx.Done():
			tick.Stop()
			return w, ctx.Err()
		}
		tick.Stop()
	}
}

// Collect waits until the call has ended, for at most d. What it asks meanwhile is put to the peer.
func (c *Calls) Collect(ctx context.Context, owner, id string, d time.Duration, peer mcp.Peer) (store.Waiting, error) {
	end := time.Now().Add(d)
	asked := map[string]bool{}
	for {
		w, err := c.until(ctx, owner, id, time.Until(end), func(w *store.Waiting) bool { return w.Ended() || len(fresh(w, asked)) > 0 })
		questions := fresh(&w, asked)
		if err != nil || w.Ended() || len(questions) == 0 {
			return w, err
		}
		answers := map[string]json.RawMessage{}
		for _, q := range questions {
			asked[q.Key] = true
			said, err := peer.Ask(ctx, q.Method, q.Params)
			if ctx.Err() != nil {
				return w, ctx.Err()
			}
			answers[q.Key] = said
			if err != nil {
				answers[q.Key] = q.Refused(err)
			}
		}
		if w, err = c.Answer(ctx, owner, id, answers); err != nil {
			return w, err
		}
	}
}

// fresh are the open questions that were not asked yet.
func fresh(w *store.Waiting, asked map[string]bool) (open []Question) {
	if w.Ended() {
		return nil
	}
	for _, q := range ReadQuestions(w).Open {
		if !asked[q.Key] {
			open = append(open, q)
		}
	}
	return open
}

// Cancel ends a call. One that has ended already stays as it is; before says what it was.
func (c *Calls) Cancel(ctx context.Context, owner, id string) (before store.Waiting, err error) {
	var open bool
	_, err = c.change(ctx, owner, id, func(w *store.Waiting) error {
		before = *w
		open = true
		w.State = store.Cancelled
		w.For = ""
		w.Replica = ""
		w.Lease = time.Time{}
		w.Questions = nil
		return nil
	})
	if err != nil || !open {
		if err == nil {
			before, err = c.store.Waiting(ctx, owner, id)
		}
		return before, err
	}
	if l := c.find(id); l != nil {
		l.finish(ErrCanceled)
	}
	c.opts.Canceled(before)
	return before, nil
}
