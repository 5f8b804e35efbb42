package waiting

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Get returns a call of the owner; "" is anybody.
func (c *Calls) Get(ctx context.Context, owner, id string) (store.Waiting, error) {
	return c.store.Waiting(ctx, owner, id)
}

// List returns calls, the newest first, without their sealed parts.
func (c *Calls) List(ctx context.Context, f store.WaitingFilter) ([]store.Waiting, error) {
	return c.store.WaitingCalls(ctx, f)
}

// How often the store is read while somebody waits: other replicas may change the row.
const (
	lookEvery  = time.Second
	lookSeldom = 10 * time.Second // at a call that this replica works on and that is not to be answered, or where changes are told
)

// Wait waits until the call has ended or asks something, for at most d, and returns it as it is then.
func (c *Calls) Wait(ctx context.Context, owner, id string, d time.Duration) (store.Waiting, error) {
	return c.until(ctx, owner, id, d, func(w *store.Waiting) bool { return w.Ended() || w.State == store.InputRequired })
}

// until waits until the row is as wanted.
func (c *Calls) until(ctx context.Context, owner, id string, d time.Duration, wanted func(*store.Waiting) bool) (store.Waiting, error) {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	changed, stop := c.listen(id)
	defer stop()
	for {
		w, err := c.store.Waiting(ctx, owner, id)
		if err != nil || wanted(&w) {
			return w, err
		}
		look := lookEvery
		if c.opts.Told() || w.State == store.Working && c.find(id) != nil {
			look = lookSeldom
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

// Follow takes in what other replicas have changed in a call: who waits for it looks again, and if we work
// on it, it may be canceled or answered. With "" any call may have changed.
func (c *Calls) Follow(ctx context.Context, id string) error {
	if id == "" {
		for _, id := range c.known() {
			c.wake(id)
		}
		return nil // leases show soon enough what has become of our own
	}
	c.wake(id)
	l := c.find(id)
	if l == nil && !c.opts.Watched(id) {
		return nil
	}
	w, err := c.store.Waiting(ctx, "", id)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case l != nil && (err != nil || w.Ended()):
		l.finish(ErrCanceled)
	case l != nil && w.Replica != c.replica:
		l.finish(errTaken)
	case l != nil:
		l.soon()
	}
	if err == nil {
		c.opts.Changed(w)
	}
	return nil
}

// known are the calls that somebody here waits for.
func (c *Calls) known() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.heard))
}

// Collect waits until the call has ended, for at most d. What it asks meanwhile is put to the peer,
// unless another who collects it is being asked. A question that the peer cannot be asked stays open.
func (c *Calls) Collect(ctx context.Context, owner, id string, d time.Duration, peer mcp.Peer) (store.Waiting, error) {
	end := time.Now().Add(d)
	cannot := map[string]bool{}
	for {
		var q *Question
		w, err := c.until(ctx, owner, id, time.Until(end), func(w *store.Waiting) bool {
			if !w.Ended() {
				q = c.toAsk(w, cannot)
			}
			return w.Ended() || q != nil
		})
		if err != nil || q == nil {
			return w, err
		}
		if err := c.ask(ctx, owner, id, q, peer, cannot); err != nil {
			return w, err
		}
	}
}

// ask puts a question to the peer, and stores what it says.
func (c *Calls) ask(ctx context.Context, owner, id string, q *Question, peer mcp.Peer, cannot map[string]bool) error {
	defer c.wasAsked(id, q.Key)
	w, err := c.store.Waiting(ctx, owner, id)
	if err != nil || !slices.ContainsFunc(ReadQuestions(&w).Open, func(o Question) bool { return o.Key == q.Key }) {
		return err // somebody has answered it since we read the row
	}
	said, err := peer.Ask(ctx, q.Method, q.Params)
	var rpc *mcp.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeMethodNotFound:
		cannot[q.Key] = true
		return nil
	case errors.As(err, &rpc):
		said = q.Refused(err)
	case err != nil: // it cannot be reached any more
		return err
	}
	_, err = c.Answer(ctx, owner, id, map[string]json.RawMessage{q.Key: said})
	return err
}

// asked is a question that somebody is being asked.
type asked struct{ call, key string }

// toAsk is an open question for somebody who collects the call; nil: there is none, or others are
// being asked them.
func (c *Calls) toAsk(w *store.Waiting, cannot map[string]bool) *Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range ReadQuestions(w).Open {
		this := asked{w.ID, q.Key}
		if !cannot[q.Key] && !c.asks[this] {
			c.asks[this] = true
			return &q
		}
	}
	return nil
}

// wasAsked lets others who collect the call be asked, if there is no answer.
func (c *Calls) wasAsked(id, key string) {
	c.mu.Lock()
	delete(c.asks, asked{id, key})
	c.mu.Unlock()
	c.wake(id)
}

// Cancel ends a call. One that has ended already stays as it is; before says what it was.
func (c *Calls) Cancel(ctx context.Context, owner, id string) (before store.Waiting, err error) {
	w, saved, err := c.change(ctx, owner, id, func(w *store.Waiting) error {
		before = *w
		w.State = store.Cancelled
		w.Questions = nil
		w.Body = nil
		return nil
	})
	if err != nil || !saved {
		return w, err
	}
	if l := c.find(id); l != nil {
		l.finish(ErrCanceled)
	}
	c.opts.Canceled(before)
	return before, nil
}
