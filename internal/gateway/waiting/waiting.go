// Package waiting holds the calls that outlive their requests: detached ones, tasks, and those that
// wait for a person. The state of such a call is one row of the store, so that any replica can
// answer for it; one replica at a time works on it, by a lease. Here the leases are renewed, rows
// of dead replicas are taken over, and whoever waits for a call is woken when it changes.
//
// What a call is and how to go on with it is the business of the spine (package call).
//
//	calls := waiting.New(st, &waiting.Options{GoOn: caller.GoOn})
//	go calls.Run(ctx)
//	row, err := calls.Wait(ctx, owner, id, 30*time.Second)
package waiting

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Store has the rows.
type Store interface {
	AddWaiting(ctx context.Context, w store.Waiting, limits store.WaitingLimits) error
	Waiting(ctx context.Context, owner, id string) (store.Waiting, error)
	SaveWaiting(ctx context.Context, w *store.Waiting) (bool, error)
	ClaimWaiting(ctx context.Context, w *store.Waiting, replica string, until time.Time) (bool, error)
	RenewWaiting(ctx context.Context, replica string, until time.Time) ([]string, error)
	LostWaiting(ctx context.Context, limit int) ([]store.Waiting, error)
	WaitingCalls(ctx context.Context, f store.WaitingFilter) ([]store.Waiting, error)
}

// Options change a Calls.
type Options struct {
	// GoOn does the next step of a call that this replica has taken up: after a restart, with
	// answers, or because a server's task is to be looked at again. It must end with End, Park or
	// After, or leave the call to somebody who does.
	GoOn func(ctx context.Context, l *Live)
	// Changed is told of every change that this replica makes; it must not block. nil: nobody is.
	Changed func(w store.Waiting)
	// Watched tells whether somebody is to hear, through Changed, of what others change in a call; nil: nobody is.
	Watched func(id string) bool
	// Told tells whether Follow is called at once with what others change; nil: it is not.
	Told func() bool
	// Canceled is told of a call that was canceled, as it was before; it must not block.
	Canceled func(w store.Waiting)
	Replica  string              // the id of this replica; "": a random one
	Lease    time.Duration       // how long a replica may be silent before its calls are taken over; 0: 20 s
	Limits   store.WaitingLimits // of open calls; zero fields: 2,000 of one owner, 10,000 in all
	Logger   *slog.Logger        // nil: discard
	Now      func() time.Time    // nil: time.Now
}

// Calls are the waiting calls, as this replica sees them.
type Calls struct {
	store   Store
	replica string
	opts    Options

	ctx  context.Context // of the work on calls; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool
	live   map[string]*Live
	heard  map[string]map[chan struct{}]bool // who waits for a change, by call
	asks   map[asked]bool                    // questions that somebody is being asked now
}

// New makes a Calls.
func New(st Store, opts *Options) *Calls {
	c := &Calls{store: st, live: map[string]*Live{}, heard: map[string]map[chan struct{}]bool{}, asks: map[asked]bool{}}
	if opts != nil {
		c.opts = *opts
	}
	c.replica = cmp.Or(c.opts.Replica, rand.Text())
	c.opts.Lease = cmp.Or(c.opts.Lease, 20*time.Second)
	c.opts.Limits.Owner = cmp.Or(c.opts.Limits.Owner, 2_000)
	c.opts.Limits.Total = cmp.Or(c.opts.Limits.Total, 10_000)
	c.opts.Logger = cmp.Or(c.opts.Logger, slog.New(slog.DiscardHandler))
	if c.opts.Changed == nil {
		c.opts.Changed = func(store.Waiting) {}
	}
	if c.opts.Watched == nil {
		c.opts.Watched = func(string) bool { return false }
	}
	if c.opts.Told == nil {
		c.opts.Told = func() bool { return false }
	}
	if c.opts.Canceled == nil {
		c.opts.Canceled = func(store.Waiting) {}
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// Live is a call that this replica works on.
type Live struct {
	ID    string
	calls *Calls

	mu     sync.Mutex
	cancel context.CancelCauseFunc // ends the work that is under way; nil: there is none
	ended  error                   // why there is no more work to do; nil while there is
	timer  *time.Timer             // until the next look
	told   time.Time               // when progress was stored last
	works  bool                    // the request that began it works on it: Close waits
}

// Causes for which the work on a call ends.
var (
	ErrCanceled = errors.New("its caller no longer wants it")
	errTaken    = errors.New("another replica has taken over the call")
	errClosing  = errors.New("the gateway is going down")
)

// Add makes a running call a waiting one. The row is in the store when it returns. Cancel ends the
// work on the call.
func (c *Calls) Add(ctx context.Context, w store.Waiting, cancel context.CancelCauseFunc) (*Live, error) {
	w.Replica = c.replica
	w.Lease = c.opts.Now().Add(c.opts.Lease)
	w.Attempt = 1
	soon, cancelAdd := context.WithTimeout(ctx, max(c.opts.Lease/2, 5*time.Second)) // else the lease may be over when the row is there
	defer cancelAdd()
	if err := c.store.AddWaiting(soon, w, c.opts.Limits); err != nil {
		return nil, err
	}
	l := &Live{ID: w.ID, calls: c, cancel: cancel, works: true}
	if c.hold(l) {
		return l, nil
	}
	c.change(context.WithoutCancel(ctx), "", w.ID, func(w *store.Waiting) error { // nobody has heard of it, and nobody is to go on with it
		w.State = store.Cancelled
		return nil
	})
	return nil, fault.New(fault.UpstreamBusy, "%w", errClosing)
}

// hold notes a call that this replica works on. False: the gateway is going down.
func (c *Calls) hold(l *Live) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.live[l.ID] = l
	if l.works {
		c.work.Add(1)
	}
	return true
}

func (c *Calls) drop(l *Live) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live[l.ID] == l {
		delete(c.live, l.ID)
	}
}

// find is the call if this replica works on it, else nil.
func (c *Calls) find(id string) *Live {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[id]
}

// Len is how many calls this replica works on.
func (c *Calls) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.live)
}

// maxTries is how often a change is tried while others change the same row.
const maxTries = 20

// change reads a row, changes it, and saves it unless it has changed meanwhile: then it begins
// again. A call that has ended is returned as it is, and is not saved.
func (c *Calls) change(ctx context.Context, owner, id string, change func(*store.Waiting) error) (w store.Waiting, saved bool, err error) {
	for range maxTries {
		w, err = c.store.Waiting(ctx, owner, id)
		if err != nil || w.Ended() {
			return w, false, err
		}
		if err := change(&w); err != nil {
			return w, false, err
		}
		saved, err = c.store.SaveWaiting(ctx, &w)
		if err != nil {
			return w, false, err
		}
		if saved {
			c.wake(id)
			c.opts.Changed(w)
			return w, true, nil
		}
	}
	return store.Waiting{}, false, fault.New(fault.Conflict, "call %s is changed by too many at once", id).WithHint("try again")
}

// wake wakes those who wait for a call.
func (c *Calls) wake(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.heard[id] {
		select {
		case ch <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}

// listen returns a channel that gets something when this replica changes the call, until stop.
func (c *Calls) listen(id string) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard[id] == nil {
		c.heard[id] = map[chan struct{}]bool{}
	}
	c.heard[id][ch] = true
	return ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.heard[id], ch)
		if len(c.heard[id]) == 0 {
			delete(c.heard, id)
		}
	}
}
