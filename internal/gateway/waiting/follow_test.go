package waiting

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestAReplicaThatIsToldNeedsNotLook(t *testing.T) {
	st := openStore(t)
	a := newReplicaFor(t, st, time.Minute, nil)
	b := newReplicaFor(t, st, time.Minute, nil)
	b.opts.Told = func() bool { return true }
	a.opts.Told = b.opts.Told
	follow := func(r *replica, id string) {
		t.Helper()
		if err := r.Follow(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	follow(a, "")
	follow(a, "c_unknown")

	w := a.add(t, "c_1")
	waited := make(chan store.Waiting, 1)
	go func() {
		got, _ := b.Wait(context.Background(), "ann", "c_1", time.Minute)
		waited <- got
	}()
	within(t, time.Second, "b waits", func() bool { return b.listeners() == 1 })
	for _, id := range []string{"c_1", ""} {
		follow(b, id)
	}
	if _, err := w.End(t.Context(), store.Completed, answer("42")); err != nil {
		t.Fatal(err)
	}
	follow(b, "c_1")
	select {
	case got := <-waited:
		if got.State != store.Completed {
			t.Errorf("got %+v", got)
		}
	case <-time.After(lookSeldom / 2):
		t.Error("b has not looked again")
	}

	w = a.add(t, "c_2")
	if _, err := b.Cancel(t.Context(), "ann", "c_2"); err != nil {
		t.Fatal(err)
	}
	follow(a, "c_2")
	endsWithin(t, time.Second, w.ctx, ErrCanceled)
}

func TestWhoWatchesACallHearsWhatOthersChange(t *testing.T) {
	st := openStore(t)
	a := newReplicaFor(t, st, time.Minute, nil)
	b := newReplicaFor(t, st, time.Minute, nil)
	var told []store.WaitState
	b.opts.Watched = func(id string) bool { return id == "c_1" }
	b.opts.Changed = func(w store.Waiting) { told = append(told, w.State) }
	w := a.add(t, "c_1")
	a.add(t, "c_2")
	for _, id := range []string{"c_1", "c_2"} {
		if err := b.Follow(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	park(t, w, `{"name":{"method":"elicitation/create"}}`)
	if err := b.Follow(t.Context(), "c_1"); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0] != store.Working || told[1] != store.InputRequired {
		t.Errorf("told %v", told)
	}
	if _, err := b.Answer(t.Context(), "ann", "c_1", map[string]json.RawMessage{"name": json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
}
