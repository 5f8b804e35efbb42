package waiting

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lease is short, so that tests see it end.
const lease = time.Second

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// replica is one Calls, with what it was asked to do.
type replica struct {
	*Calls
	mu       sync.Mutex
	went     []string // the calls that it went on with
	canceled []store.Waiting
	stop     context.CancelFunc // pauses it: leases are no longer renewed
}

func (r *replica) wentOn() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.went)
}

// newReplica runs a replica; goOn may be nil.
func newReplica(t testing.TB, st Store, goOn func(context.Context, *Live)) *replica {
	return newReplicaFor(t, st, lease, goOn)
}

func newReplicaFor(t testing.TB, st Store, lease time.Duration, goOn func(context.Context, *Live)) *replica {
	r := &replica{}
	r.Calls = New(st, &Options{
		Lease: lease,
		GoOn: func(ctx context.Context, l *Live) {
			r.mu.Lock()
			r.went = append(r.went, l.ID)
			r.mu.Unlock()
			if goOn != nil {
				goOn(ctx, l)
			}
		},
		Canceled: func(w store.Waiting) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.canceled = append(r.canceled, w)
		},
	})
	r.run()
	t.Cleanup(func() {
		r.stop()
		r.Close()
	})
	return r
}

// run lets a replica renew its leases, until its stop.
func (r *replica) run() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	r.stop = func() {
		cancel()
		<-ended
	}
}

func call(id string) store.Waiting {
	return store.Waiting{
		ID: id, Owner: "ann", Tool: "a__b", State: store.Working, For: store.ForServer, Expires: time.Now().Add(time.Hour), Body: []byte("body"),
	}
}

// work is a call that a request works on.
type work struct {
	*Live
	ctx context.Context
}

func (r *replica) add(t testing.TB, id string) work {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	l, err := r.Add(t.Context(), call(id), cancel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Leave)
	return work{l, ctx}
}

func (r *replica) row(t testing.TB, id string) *store.Waiting {
	t.Helper()
	w, err := r.Get(context.Background(), "ann", id)
	if err != nil {
		t.Fatal(err)
	}
	return &w
}

// answer sets the answer of a call.
func answer(text string) func(*store.Waiting) {
	return func(w *store.Waiting) { w.Answer = []byte(text) }
}

func within(t testing.TB, d time.Duration, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", d, what)
		}
	}
}

func endsWithin(t testing.TB, d time.Duration, ctx context.Context, why error) {
	t.Helper()
	select {
	case <-ctx.Done():
		if !errors.Is(context.Cause(ctx), why) {
			t.Errorf("it ended because %v", context.Cause(ctx))
		}
	case <-time.After(d):
		t.Fatal("the work goes on")
	}
}

// brokenStore does not save while it is broken.
type brokenStore struct {
	*store.Store
	mu     sync.Mutex
	broken error
}

func (s *brokenStore) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

func (s *brokenStore) SaveWaiting(ctx context.Context, w *store.Waiting) (bool, error) {
	s.mu.Lock()
	err := s.broken
	s.mu.Unlock()
	if err != nil {
		return false, err
	}
	return s.Store.SaveWaiting(ctx, w)
}

var errDown = fault.New(fault.StoreDown, "the store is down")

func name(i int) string { return fmt.Sprint("c_", i) }
