package waiting

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestACallEndsOnceAndStaysAsItIs(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	if got := r.row(t, "c_1"); got.State != store.Working || got.Attempt != 1 || got.Replica != r.replica || got.Lease.Before(time.Now()) {
		t.Errorf("row %+v", got)
	}
	waits := make(chan store.Waiting)
	go func() {
		got, _ := r.Wait(context.Background(), "ann", "c_1", time.Minute)
		waits <- got
	}()
	within(t, time.Second, "somebody waits", func() bool { return r.listeners() == 1 })
	ours, err := w.End(t.Context(), store.Completed, answer("42"))
	if !ours || err != nil {
		t.Fatal(ours, err)
	}
	if got := <-waits; string(got.Answer) != "42" || got.State != store.Completed || got.Body != nil || got.Replica != "" {
		t.Errorf("row %+v", got)
	}
	if again, err := w.End(t.Context(), store.Failed, answer("43")); again || err != nil {
		t.Errorf("ended twice: %v, %v", again, err)
	}
	before, err := r.Cancel(t.Context(), "ann", "c_1")
	if err != nil || before.State != store.Completed || len(r.canceled) != 0 {
		t.Errorf("canceled after its end: %+v, %v", before, err)
	}
	if string(r.row(t, "c_1").Answer) != "42" || r.Len() != 0 || r.listeners() != 0 {
		t.Error("something has changed or is left")
	}
}

// listeners is how many calls somebody waits for.
func (c *Calls) listeners() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.heard) + len(c.asks)
}

func TestACanceledCallEndsItsWork(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	before, err := r.Cancel(t.Context(), "ann", "c_1")
	if err != nil || before.State != store.Working || string(before.Body) != "body" || len(r.canceled) != 1 {
		t.Fatalf("%+v, %v", before, err)
	}
	endsWithin(t, time.Second, w.ctx, ErrCanceled)
	if ours, err := w.End(t.Context(), store.Completed, answer("42")); ours || err != nil {
		t.Errorf("it ended after it was canceled: %v, %v", ours, err)
	}
	if _, err := r.Cancel(t.Context(), "ann", "c_1"); err != nil || len(r.canceled) != 1 {
		t.Errorf("canceled twice: %v", err)
	}
	if got := r.row(t, "c_1"); got.State != store.Cancelled || got.Body != nil || got.Answer != nil {
		t.Errorf("row %+v", got)
	}
}

func TestACallThatWasNotDetachedGoesOn(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	w.Undo(t.Context())
	if w.ctx.Err() != nil || r.Len() != 0 {
		t.Error("its work was ended")
	}
	if _, err := r.Get(t.Context(), "ann", "c_1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is there: %v", err)
	}
}

// Whoever loses the race must know it: a call is not both completed and canceled.
func TestCancelAndEndRace(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	for i := range 100 {
		w := r.add(t, name(i))
		var ours bool
		var wg sync.WaitGroup
		wg.Go(func() { ours, _ = w.End(context.Background(), store.Completed, answer("42")) })
		var before store.Waiting
		wg.Go(func() { before, _ = r.Cancel(context.Background(), "ann", w.ID) })
		wg.Wait()
		got := r.row(t, w.ID)
		if ours != (got.State == store.Completed) || ours != before.Ended() {
			t.Fatalf("it is %s; End said %v, Cancel said it was %s", got.State, ours, before.State)
		}
	}
}

func TestAnothersCallIsNotFound(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	r.add(t, "c_1")
	ctx := t.Context()
	text := func(err error, id string) string {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		return strings.ReplaceAll(fault.As(err).Error(), id, "ID")
	}
	for name, do := range map[string]func(id string) error{
		"get":     func(id string) error { _, err := r.Get(ctx, "bob", id); return err },
		"wait":    func(id string) error { _, err := r.Wait(ctx, "bob", id, time.Minute); return err },
		"collect": func(id string) error { _, err := r.Collect(ctx, "bob", id, time.Minute, nil); return err },
		"cancel":  func(id string) error { _, err := r.Cancel(ctx, "bob", id); return err },
		"answer":  func(id string) error { _, err := r.Answer(ctx, "bob", id, nil); return err },
	} {
		if a, b := text(do("c_1"), "c_1"), text(do("c_none"), "c_none"); a != b {
			t.Errorf("%s: %q is not %q", name, a, b)
		}
	}
	if r.listeners() != 0 {
		t.Error("who asks for what is not there leaves something behind")
	}
}

func TestWaitEnds(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	r.add(t, "c_1")
	began := time.Now()
	for _, d := range []time.Duration{-time.Second, 0, 50 * time.Millisecond} {
		if w, err := r.Wait(t.Context(), "ann", "c_1", d); err != nil || w.State != store.Working {
			t.Errorf("%s: %+v, %v", d, w, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Wait(ctx, "ann", "c_1", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if time.Since(began) > 2*time.Second || r.listeners() != 0 {
		t.Error("it took long, or somebody is still waiting")
	}
}

func TestOpenCallsHaveALimit(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	r.opts.Limits.Owner = 2
	first := r.add(t, "c_1")
	r.add(t, "c_2")
	_, err := r.Add(t.Context(), call("c_3"), nil)
	if !fault.Is(err, fault.UpstreamBusy) || r.Len() != 2 {
		t.Errorf("%v, %d are held", err, r.Len())
	}
	if _, err := r.Add(t.Context(), call("c_1"), nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second of the same id: %v", err)
	}
	first.End(t.Context(), store.Completed, answer(""))
	r.add(t, "c_4")
}

func TestACallIsLookedAtAgain(t *testing.T) {
	steps := 0
	r := newReplica(t, openStore(t), func(ctx context.Context, l *Live) {
		steps++
		if steps < 3 {
			l.After(10 * time.Millisecond)
			return
		}
		l.End(ctx, store.Completed, answer("done"))
	})
	w := r.add(t, "c_1")
	w.After(10 * time.Millisecond)
	got, err := r.Wait(t.Context(), "ann", "c_1", 5*time.Second)
	if err != nil || string(got.Answer) != "done" || r.wentOn() != 3 {
		t.Errorf("%s after %d steps, %v", got.Answer, r.wentOn(), err)
	}
}

func TestAPanicEndsItsCallAlone(t *testing.T) {
	r := newReplica(t, openStore(t), func(_ context.Context, l *Live) {
		if l.ID == "c_1" {
			panic("a bug")
		}
		l.After(time.Hour)
	})
	r.add(t, "c_2").After(0)
	r.add(t, "c_1").After(0)
	got, err := r.Wait(t.Context(), "ann", "c_1", 5*time.Second)
	if err != nil || got.State != store.Failed {
		t.Errorf("%+v, %v", got, err)
	}
	if r.row(t, "c_2").State != store.Working || r.Len() != 1 {
		t.Error("the other one has suffered")
	}
}

func TestAResultIsNotLostWhileTheStoreIsDown(t *testing.T) {
	st := &brokenStore{Store: openStore(t)}
	r := newReplica(t, st, nil)
	w := r.add(t, "c_1")
	st.set(errDown)
	if ours, err := w.End(t.Context(), store.Completed, answer("42")); ours || !fault.Is(err, fault.StoreDown) {
		t.Fatalf("%v, %v", ours, err)
	}
	w.soon()
	time.Sleep(20 * time.Millisecond)
	st.set(nil)
	within(t, 5*time.Second, "it is tried again", func() bool { w.soon(); return r.row(t, "c_1").Ended() })
	if got := r.row(t, "c_1"); string(got.Answer) != "42" || got.State != store.Completed {
		t.Errorf("row %+v", got)
	}
	within(t, time.Second, "it is let go", func() bool { return r.Len() == 0 })
}

func TestProgressIsStoredNowAndThen(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	for _, text := range []string{"1 of 3", "2 of 3"} {
		w.Progress(t.Context(), text)
	}
	if got := r.row(t, "c_1"); got.Message != "1 of 3" || got.Version != 1 {
		t.Errorf("row %+v", got)
	}
}

func TestCloseWaitsForTheWorkAndLeavesTheCallsToOthers(t *testing.T) {
	st := openStore(t)
	began := make(chan struct{})
	var ended atomic.Bool
	a := newReplicaFor(t, st, time.Hour, func(ctx context.Context, l *Live) {
		if l.ID == "c_later" {
			l.After(time.Hour)
			return
		}
		close(began)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		ended.Store(l.Left())
	})
	a.add(t, "c_step").After(0)
	a.add(t, "c_later").After(0)
	request := a.add(t, "c_request")
	go func() {
		<-request.ctx.Done()
		time.Sleep(50 * time.Millisecond)
		request.Leave()
	}()
	<-began
	within(t, time.Second, "the second waits", func() bool { return a.wentOn() == 2 })
	a.stop()
	a.Close()
	if !ended.Load() || !errors.Is(context.Cause(request.ctx), errClosing) || !request.Left() {
		t.Error("the work goes on, or was not told why it ended")
	}
	if _, err := a.Add(t.Context(), call("c_new"), nil); !fault.Is(err, fault.UpstreamBusy) || a.row(t, "c_new").State != store.Cancelled {
		t.Errorf("a call was added: %v", err)
	}
	b := newReplica(t, st, func(ctx context.Context, l *Live) { l.End(ctx, store.Completed, answer("b")) })
	within(t, time.Minute, "the next replica has taken all", func() bool { return b.wentOn() == 3 })
	for _, id := range []string{"c_step", "c_later", "c_request"} {
		if w, err := b.Wait(t.Context(), "ann", id, time.Second); err != nil || string(w.Answer) != "b" {
			t.Errorf("%s: %+v, %v", id, w, err)
		}
	}
}

func TestAnOutcomeIsStoredWhileWeGoDown(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	go func() {
		<-w.ctx.Done()
		w.End(context.Background(), store.Completed, answer("just in time"))
	}()
	r.Close()
	if got := r.row(t, "c_1"); string(got.Answer) != "just in time" {
		t.Errorf("row %+v", got)
	}
}

// A call that waits for a person or a server's task must cost next to nothing.
func TestWaitingCallsNeedLittleMemory(t *testing.T) {
	const n = 1000
	r := newReplica(t, openStore(t), func(_ context.Context, l *Live) { l.After(time.Hour) })
	r.opts.Limits = store.WaitingLimits{Owner: n, Total: n}
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	r.add(t, "c_first").After(0)
	before := used()
	goroutines := runtime.NumGoroutine()
	for i := range n - 1 {
		ctx, cancel := context.WithCancelCause(context.Background())
		l, err := r.Add(ctx, call(name(i)), cancel)
		if err != nil {
			t.Fatal(err)
		}
		l.After(0)
	}
	within(t, 20*time.Second, "all are looked at", func() bool { return r.wentOn() == n })
	time.Sleep(20 * time.Millisecond)
	each := int64(used()-before) / n
	t.Logf("%d bytes for each of %d calls that are looked at later", each, n)
	if each > 4096 || runtime.NumGoroutine() > goroutines+10 || r.Len() != n {
		t.Errorf("%d bytes each, %d goroutines, %d held", each, runtime.NumGoroutine(), r.Len())
	}
}
