package replicas

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

const silent = 20 * time.Second

// leasers makes gateways that share a store and a clock, and are not reached by each other.
func leasers(t *testing.T, n int) (all []*Leases, st *store.Store, c *clock) {
	t.Helper()
	c = &clock{}
	c.at.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), &store.Options{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	for range n {
		r, err := New(st, &Options{Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		l := NewLeases(r)
		t.Cleanup(func() {
			l.Close()
			r.Close()
		})
		all = append(all, l)
	}
	return all, st, c
}

var talk = store.Home{Kind: store.ChatLease, Key: "会话 1"}

func take(t *testing.T, l *Leases) *Lease {
	t.Helper()
	lease, err := l.Take(t.Context(), talk, nil)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestALeaseIsHeldByOneAndGivenUp(t *testing.T) {
	all, st, _ := leasers(t, 2)
	lease := take(t, all[0])
	for i, l := range all {
		if _, err := l.Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
			t.Errorf("%d got it as well: %v", i, err)
		}
	}
	if others, err := st.Replicas(t.Context(), silent); err != nil || len(others) != 0 {
		t.Errorf("gateways without an address are reached: %v, %v", others, err)
	}
	lease.End()
	lease.End()
	if lease.Context().Err() == nil {
		t.Error("the work goes on")
	}
	take(t, all[1]).End()
	take(t, all[0]).End()
}

func TestOfManyOneGetsALease(t *testing.T) {
	all, _, _ := leasers(t, 8)
	var got atomic.Int32
	var work sync.WaitGroup
	for _, l := range all {
		for range 4 {
			work.Go(func() {
				if _, err := l.Take(t.Context(), talk, nil); err == nil {
					got.Add(1)
				} else if !errors.Is(err, ErrHeld) {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	if got.Load() != 1 {
		t.Errorf("%d got it", got.Load())
	}
}

func TestALeaseLastsWhileTheHeartBeats(t *testing.T) {
	all, _, c := leasers(t, 2)
	lease := take(t, all[0])
	for range 10 {
		c.pass(silent / 4)
		all[0].renew()
	}
	if _, err := all[1].Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
		t.Errorf("taken from one that is alive: %v", err)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheLeaseOfADeadGatewayIsTakenAndItLearnsThat(t *testing.T) {
	all, _, c := leasers(t, 3)
	lease := take(t, all[0])
	c.pass(silent)
	ended := 0
	end := func(context.Context, string) { ended++ }
	for _, l := range all[1:] {
		if err := l.Recover(t.Context(), store.ChatLease, end); err != nil {
			t.Fatal(err)
		}
	}
	if ended != 1 {
		t.Errorf("%d have seen to it", ended)
	}
	next := take(t, all[1])
	if err := lease.Check(t.Context()); !errors.Is(err, errLost) || lease.Context().Err() == nil {
		t.Errorf("one that was thought dead goes on: %v", err)
	}
	lease.End()
	if err := next.Check(t.Context()); err != nil {
		t.Errorf("the end of the dead took the lease of the living: %v", err)
	}
	if _, err := all[0].Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
}

func TestWhoTakesTheLeaseOfTheDeadSeesToItFirst(t *testing.T) {
	all, _, c := leasers(t, 2)
	take(t, all[0])
	c.pass(silent)
	lost := 0
	lease, err := all[1].Take(t.Context(), talk, func(context.Context) { lost++ })
	if err != nil || lost != 1 {
		t.Fatalf("%d, %v", lost, err)
	}
	lease.End()
	if _, err := all[1].Take(t.Context(), talk, func(context.Context) { lost++ }); err != nil || lost != 1 {
		t.Errorf("lost %d times, %v", lost, err)
	}
}

func TestOneThatWasSilentAndWhoseLeaseNobodyTookGoesOn(t *testing.T) {
	all, _, c := leasers(t, 2)
	lease := take(t, all[0])
	c.pass(time.Hour)
	if err := lease.Check(t.Context()); err != nil || lease.Context().Err() != nil {
		t.Errorf("%v, %v", err, lease.Context().Err())
	}
	if _, err := all[1].Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
}

func TestALeaseIsStoppedWhereItIsHeld(t *testing.T) {
	all, _, _ := leasers(t, 2)
	why := errors.New("enough")
	lease := take(t, all[0])
	if all[1].Stop(talk, why) || !all[0].Stop(talk, why) || context.Cause(lease.Context()) != why {
		t.Errorf("stopped for %v", context.Cause(lease.Context()))
	}
	lease.End()
	if all[0].Stop(talk, why) {
		t.Error("stopped after its end")
	}
}

// failing is a store that can be made to fail.
type failing struct {
	Store
	down atomic.Bool
}

var errDown = errors.New("down")

func (f *failing) DropHome(ctx context.Context, h store.Home, replica string) error {
	if f.down.Load() {
		return errDown
	}
	return f.Store.DropHome(ctx, h, replica)
}

func (f *failing) ClaimHome(ctx context.Context, h store.Home, replica, gone string, within time.Duration) (string, []byte, error) {
	owner, data, err := f.Store.ClaimHome(ctx, h, replica, gone, within)
	if f.down.Load() {
		err = errDown // after it was stored
	}
	return owner, data, err
}

func TestALeaseThatCouldNotBeGivenUpIsLater(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(l *Leases, f *failing)
	}{
		{"the store is down at its end", func(l *Leases, f *failing) {
			lease := take(t, l)
			f.down.Store(true)
			lease.End()
		}},
		{"the store was down when it was taken", func(l *Leases, f *failing) {
			f.down.Store(true)
			if _, err := l.Take(t.Context(), talk, nil); !errors.Is(err, errDown) {
				t.Errorf("got %v", err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, _, _ := leasers(t, 2)
			f := &failing{Store: all[0].self.store}
			all[0].self.store = f
			c.take(all[0], f)
			f.down.Store(false)
			if _, err := all[1].Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
				t.Errorf("got %v", err)
			}
			take(t, all[0]).End() // it is still its own
			f.down.Store(true)
			if _, err := all[0].Take(t.Context(), talk, nil); err == nil {
				t.Error("taken without the store")
			}
			f.down.Store(false)
			all[0].renew()
			take(t, all[1]).End()
		})
	}
}

func TestWithoutAStoreALeaseIsOfTheProcess(t *testing.T) {
	l := NewLeases(nil)
	lease := take(t, l)
	if _, err := l.Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Error(err)
	}
	lease.End()
	take(t, l).End()
	free := Unheld(t.Context())
	if err := free.Check(t.Context()); err != nil {
		t.Error(err)
	}
	free.End()
	l.Close()
}

func TestOneThatLeavesKeepsItsLeasesUntilItIsGone(t *testing.T) {
	all, st, _ := leasers(t, 2)
	lease := take(t, all[0])
	self := all[0].self
	self.Home(t.Context(), "session", "")
	self.Leave()
	if owner, err := st.Home(t.Context(), home("session")); err != nil || owner != "" {
		t.Errorf("the session's home is still %q, %v", owner, err)
	}
	if _, err := all[1].Take(t.Context(), talk, nil); !errors.Is(err, ErrHeld) {
		t.Errorf("it was taken from one that is still at work: %v", err)
	}
	lease.End()
	take(t, all[0])
	self.Close()
	take(t, all[1])
}
