package waiting

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestACallIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, nil)
	w := a.add(t, "c_1")
	b := newReplica(t, st, func(ctx context.Context, l *Live) { l.End(ctx, store.Completed, answer("b")) })
	time.Sleep(2 * lease)
	if b.wentOn() != 0 {
		t.Fatal("it was taken over while its replica works on it")
	}
	a.stop() // it is paused
	within(t, 3*lease, "b has it", func() bool { return b.row(t, "c_1").Ended() })
	if got := b.row(t, "c_1"); got.Attempt != 2 || string(got.Answer) != "b" {
		t.Errorf("row %+v", got)
	}
	// It comes back, and finds out before or after it has a result.
	if ours, err := w.End(t.Context(), store.Completed, answer("a")); ours || err != nil {
		t.Errorf("a ended what b has ended: %v, %v", ours, err)
	}
	if string(a.row(t, "c_1").Answer) != "b" {
		t.Error("the answer was replaced")
	}
}

func TestAPausedReplicaLeavesACallThatAnotherWorksOn(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, nil)
	w := a.add(t, "c_1")
	b := newReplica(t, st, func(_ context.Context, l *Live) { l.After(time.Hour) })
	a.stop()
	within(t, 3*lease, "b has it", func() bool { return b.wentOn() == 1 })
	if ours, err := w.End(t.Context(), store.Completed, answer("a")); ours || err != nil {
		t.Errorf("a ended what b works on: %v, %v", ours, err)
	}
	if _, err := w.Change(t.Context(), func(w *store.Waiting) { w.Message = "a" }); err != errTaken {
		t.Errorf("a changed what b works on: %v", err)
	}
	if got := b.row(t, "c_1"); got.State != store.Working || got.Replica != b.replica {
		t.Errorf("row %+v", got)
	}
}

// The old work must not end the call that was taken up again in the same process.
func TestAReplicaThatTakesItsOwnCallUpAgainHasOneWorkOnIt(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, func(_ context.Context, l *Live) { l.After(time.Hour) })
	old := a.add(t, "c_1")
	b := newReplica(t, st, nil)
	a.stop()
	within(t, 3*lease, "b has it", func() bool { return b.wentOn() == 1 })
	b.stop()
	a.run()
	endsWithin(t, lease, old.ctx, errTaken)
	within(t, 3*lease, "a has it again", func() bool { return a.wentOn() == 1 })
	if ours, err := old.End(t.Context(), store.Completed, answer("old")); ours || err != nil || a.row(t, "c_1").Ended() {
		t.Errorf("the old work ended it: %v, %v", ours, err)
	}
}

func TestAReplicaDoesNotTakeOverWhatItWorksOn(t *testing.T) {
	a := newReplica(t, openStore(t), nil)
	a.stop()
	a.add(t, "c_1")
	time.Sleep(lease + 50*time.Millisecond)
	a.takeOver(t.Context()) // as when the store failed only for the renewal
	if a.wentOn() != 0 {
		t.Error("it works twice on the call")
	}
}

func TestACancelAtAnotherReplicaEndsTheWork(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, nil)
	b := newReplica(t, st, nil)
	w := a.add(t, "c_1")
	if _, err := b.Cancel(t.Context(), "ann", "c_1"); err != nil {
		t.Fatal(err)
	}
	endsWithin(t, lease/2, w.ctx, ErrCanceled) // a quarter, and the time it takes
	if len(b.canceled) != 1 || len(a.canceled) != 0 || a.Len() != 0 {
		t.Errorf("b was told %d times, a %d times", len(b.canceled), len(a.canceled))
	}
}

func TestManyLostCallsAreTakenOverAtOnce(t *testing.T) {
	st := openStore(t)
	a := newReplicaFor(t, st, time.Minute, nil)
	const n = 250
	for i := range n {
		a.add(t, name(i)).After(time.Hour)
	}
	a.stop()
	a.Close()
	b := newReplicaFor(t, st, time.Minute, func(_ context.Context, l *Live) { l.After(time.Hour) })
	c := newReplicaFor(t, st, time.Minute, func(_ context.Context, l *Live) { l.After(time.Hour) })
	within(t, 10*time.Second, "all are taken over", func() bool { return b.wentOn()+c.wentOn() >= n })
	if b.Len()+c.Len() != n {
		t.Errorf("%d and %d", b.Len(), c.Len())
	}
}

func TestAnAnswerReachesTheReplicaThatAsked(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, nil)
	b := newReplica(t, st, nil)
	w := a.add(t, "c_1")
	said := make(chan string)
	go func() {
		raw, err := w.Ask(context.Background(), "elicitation/create", json.RawMessage(`{"message":"name?"}`))
		if err != nil {
			raw = json.RawMessage(err.Error())
		}
		said <- string(raw)
	}()
	row, err := b.Wait(t.Context(), "ann", "c_1", 5*time.Second)
	if err != nil || row.State != store.InputRequired || row.For != store.ForAnswers || len(ReadQuestions(&row).Open) != 1 {
		t.Fatalf("%+v, %v", row, err)
	}
	q := ReadQuestions(&row).Open[0]
	if _, err := b.Answer(t.Context(), "ann", "c_1", map[string]json.RawMessage{q.Key: json.RawMessage(`{"action":"accept"}`)}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-said:
		if got != `{"action":"accept"}` {
			t.Errorf("a got %s", got)
		}
	case <-time.After(2 * lookEvery):
		t.Fatal("a got no answer")
	}
	if got := a.row(t, "c_1"); got.State != store.Working || b.wentOn() != 0 {
		t.Errorf("row %+v", got)
	}
}

// A replica that dies after it has taken an answer must not leave the call to nobody.
func TestAnAnsweredCallBelongsToSomebody(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, nil)
	w := a.add(t, "c_1")
	park(t, w, `{"name":{"method":"elicitation/create"}}`)
	a.stop()
	a.Close()
	if _, err := a.Answer(t.Context(), "ann", "c_1", map[string]json.RawMessage{"name": json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if a.wentOn() != 0 {
		t.Error("a works though it is closed")
	}
	b := newReplica(t, st, nil)
	within(t, lease, "b goes on", func() bool { return b.wentOn() == 1 })
}
