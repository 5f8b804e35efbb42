package replicas

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ErrHeld says that a lease is somebody else's.
var ErrHeld = errors.New("somebody does this already")

// errLost is why the work under a lease ends when another gateway may have the lease.
var errLost = fault.New(fault.StoreDown, "this gateway could not reach the store for too long, and another may have taken over")

// Leases are what this gateway does alone. Others on the same store do not do it until it is done, or
// until this gateway is dead.
type Leases struct {
	self *Replicas // nil: there is no store, and leases are of this process

	mu      sync.Mutex
	held    map[store.Home]*Lease // also those that the store does not yet know to have ended
	renews  bool                  // renew runs
	closing context.Context       // ends with Close
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// NewLeases makes the leases of a replica. With nil they hold in this process only.
func NewLeases(self *Replicas) *Leases {
	l := &Leases{self: self, held: map[store.Home]*Lease{}}
	l.closing, l.stop = context.WithCancel(context.Background())
	if self != nil {
		self.leases = l
	}
	return l
}

// Lease is something that this gateway does alone until End.
type Lease struct {
	all    *Leases // nil: nobody was asked
	home   store.Home
	ctx    context.Context
	cancel context.CancelCauseFunc
	state  leaseState // guarded by all.mu
}

type leaseState int

const (
	taking leaseState = iota
	taken
	ending // the store is being told
	owed   // it could not be told
)

// Unheld is a lease that excludes nobody, for work that must not wait for the store.
func Unheld(ctx context.Context) *Lease {
	lease := &Lease{}
	lease.ctx, lease.cancel = context.WithCancelCause(ctx)
	return lease
}

// Context ends with the context that the lease was taken with, when it is stopped, and when it is lost.
func (l *Lease) Context() context.Context { return l.ctx }

// Take takes a lease; ErrHeld: it is somebody else's. If a gateway held it when it died, lost is called
// first; it may be nil.
func (l *Leases) Take(ctx context.Context, h store.Home, lost func(context.Context)) (*Lease, error) {
	lease := Unheld(ctx)
	lease.all = l
	lease.home = h
	l.mu.Lock()
	if before := l.held[h]; before != nil && before.state != owed {
		l.mu.Unlock()
		lease.cancel(nil)
		return nil, ErrHeld
	}
	l.held[h] = lease
	l.mu.Unlock()
	err := l.claim(ctx, h, lost)
	switch {
	case err == nil:
		l.set(lease, taken)
		return lease, nil
	case errors.Is(err, ErrHeld):
		l.forget(lease)
	default:
		lease.End() // the store may have it
	}
	return nil, err
}

// set changes the state of a lease; false: we do not have it any more.
func (l *Leases) set(lease *Lease, state leaseState) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[lease.home] != lease {
		return false
	}
	lease.state = state
	return true
}

func (l *Leases) forget(lease *Lease) {
	lease.cancel(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[lease.home] == lease {
		delete(l.held, lease.home)
	}
}

func (l *Leases) claim(ctx context.Context, h store.Home, lost func(context.Context)) error {
	if l.self == nil {
		return nil
	}
	l.startRenewing()
	if err := l.self.beatAfter(ctx, l.self.opts.Silent/2); err != nil {
		return err
	}
	before := ""
	var err error
	if lost != nil {
		before, err = l.self.store.Home(ctx, h)
	}
	owner := ""
	if err == nil {
		owner, _, err = l.self.store.ClaimHome(ctx, h, l.self.self.ID, "", l.self.opts.Silent)
	}
	switch {
	case err != nil:
		return err
	case owner != l.self.self.ID:
		return ErrHeld
	case before != "" && before != owner:
		lost(ctx)
	}
	return nil
}

// beatAfter tells the store that we are alive, unless we have done so a shorter time ago.
func (r *Replicas) beatAfter(ctx context.Context, d time.Duration) error {
	if !r.silentFor(d) {
		return nil
	}
	return r.Beat(ctx)
}

// Check returns an error if the lease may be another's by now. It asks the store only after a time without
// heartbeats.
func (l *Lease) Check(ctx context.Context) error {
	if l.all == nil || l.all.self == nil {
		return nil
	}
	if err := l.all.self.beatAfter(ctx, l.all.self.opts.Silent/2); err != nil {
		return err
	}
	if cause := context.Cause(l.ctx); errors.Is(cause, errLost) {
		return cause
	}
	return nil
}

// End gives the lease up. If the store cannot be told, it is later: the lease must not last as long as
// this gateway.
func (l *Lease) End() {
	l.cancel(nil)
	if l.all == nil || !l.all.set(l, ending) {
		return
	}
	if l.all.self != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), leaveTime)
		defer cancel()
		if err := l.all.self.store.DropHome(ctx, l.home, l.all.self.self.ID); err != nil {
			l.all.self.opts.Logger.Warn("a lease not given up yet", "kind", l.home.Kind, "key", l.home.Key, "error", fault.As(err))
			l.all.set(l, owed)
			return
		}
	}
	l.all.forget(l)
}

// Stop ends the work under a lease of this gateway for a reason; false: we do not have it.
func (l *Leases) Stop(h store.Home, why error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := l.held[h]
	if lease == nil || lease.state >= ending {
		return false
	}
	lease.cancel(why)
	return true
}

// Holder is the gateway that has a lease; "": none has.
func (l *Leases) Holder(ctx context.Context, h store.Home) (replica string, err error) {
	if l.self == nil {
		return "", nil
	}
	return l.self.store.Home(ctx, h)
}

// Silent is how long a gateway may be silent before it has lost its leases.
func (l *Leases) Silent() time.Duration { return l.self.opts.Silent }

// Recover calls end for each lease of a kind that gateways held when they died; one gateway does for each.
func (l *Leases) Recover(ctx context.Context, kind string, end func(ctx context.Context, key string)) error {
	dead, err := l.self.store.DeadHomes(ctx, kind, l.self.opts.Silent, 0)
	for _, h := range dead {
		lease, err := l.Take(ctx, h, func(ctx context.Context) { end(ctx, h.Key) })
		if errors.Is(err, ErrHeld) {
			continue
		}
		if err != nil {
			return err
		}
		lease.End()
	}
	return err
}

// startRenewing starts the heartbeats of a gateway that holds leases.
func (l *Leases) startRenewing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.renews {
		l.renews = true
		l.work.Go(func() { repeat.Every(l.closing.Done(), l.self.opts.Silent/4, l.renew) })
	}
}

// renew tells the store that we are alive, if we hold anything, and what has ended.
func (l *Leases) renew() {
	held, done := l.all()
	if len(held) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), l.self.opts.Silent/2)
		defer cancel()
		if err := l.self.beatAfter(ctx, l.self.opts.Silent/5); err != nil {
			l.self.opts.Logger.Error("leases not renewed", "error", fault.As(err))
		}
	}
	for _, lease := range done {
		lease.End()
	}
}

// all are the leases that we have, and those that have ended and that the store is still to be told of.
func (l *Leases) all() (held, done []*Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range l.held {
		switch lease.state {
		case taken:
			held = append(held, lease)
		case owed:
			done = append(done, lease)
		}
	}
	return held, done
}

// verify ends the work under leases that another gateway has taken while we were silent.
func (l *Leases) verify(ctx context.Context) error {
	held, _ := l.all()
	for _, lease := range held {
		owner, err := l.self.store.Home(ctx, lease.home)
		if err != nil {
			return err
		}
		if owner != l.self.self.ID {
			lease.cancel(errLost)
			l.forget(lease)
		}
	}
	return nil
}

// Close ends the heartbeats.
func (l *Leases) Close() {
	l.stop()
	l.work.Wait()
}
