package waiting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// park lets a call wait for answers to questions.
func park(t testing.TB, w work, requests string) {
	t.Helper()
	err := w.Park(t.Context(), func(w *store.Waiting) {
		q := ReadQuestions(w)
		q.AddAll(json.RawMessage(requests), false)
		q.Write(w)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// peer answers questions.
type peer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

func (p peer) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p(ctx, method, params)
}
func (peer) Notify(context.Context, string, json.RawMessage) error { return nil }

// says is a peer that always says the same.
func says(said json.RawMessage, err error) peer {
	return func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return said, err }
}

// ends is a GoOn that ends a call with the answers it got.
func ends(ctx context.Context, l *Live) {
	w, _ := l.Row(ctx)
	q := ReadQuestions(&w)
	answers, err := q.Answers()
	if err != nil {
		answers = json.RawMessage(err.Error())
	}
	l.End(ctx, store.Completed, answer(string(answers)))
}

func raws(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

func TestAParkedCallGoesOnWhenAllIsAnswered(t *testing.T) {
	r := newReplica(t, openStore(t), ends)
	w := r.add(t, "c_1")
	park(t, w, `{"name":{"method":"elicitation/create","params":{"message":"name?"}},"":{"method":"roots/list"}}`)
	if got := r.row(t, "c_1"); got.State != store.InputRequired || got.For != store.ForAnswers || got.Replica != "" || r.Len() != 0 {
		t.Fatalf("row %+v", got)
	}
	time.Sleep(lease) // nobody takes it over
	for _, answers := range []map[string]json.RawMessage{raws("other", "{}"), raws("", `{"roots":[]}`), raws("", `{"roots":[1]}`), nil} {
		got, err := r.Answer(t.Context(), "ann", "c_1", answers)
		if err != nil || got.State != store.InputRequired || r.wentOn() != 0 {
			t.Fatalf("%s: %+v, %v", answers, got, err)
		}
	}
	if v := r.row(t, "c_1").Version; v != 2 {
		t.Errorf("answers to nothing have changed it: version %d", v)
	}
	if _, err := r.Answer(t.Context(), "ann", "c_1", raws("name", `{"action":"accept"}`)); err != nil {
		t.Fatal(err)
	}
	got, err := r.Wait(t.Context(), "ann", "c_1", 5*time.Second)
	if err != nil || string(got.Answer) != `{"":{"roots":[]},"name":{"action":"accept"}}` {
		t.Errorf("%s, %v", got.Answer, err)
	}
	if got, err := r.Answer(t.Context(), "ann", "c_1", raws("name", "{}")); err != nil || !got.Ended() {
		t.Errorf("an answer after the end: %+v, %v", got, err)
	}
}

func TestTwoAnswersCountOnce(t *testing.T) {
	st := openStore(t)
	a := newReplica(t, st, ends)
	b := newReplica(t, st, ends)
	for i := range 20 {
		w := a.add(t, name(i))
		park(t, w, `{"n":{"method":"elicitation/create"}}`)
		var wg sync.WaitGroup
		for j, r := range []*replica{a, b, a, b} {
			wg.Go(func() { r.Answer(context.Background(), "ann", w.ID, raws("n", fmt.Sprint(j))) })
		}
		wg.Wait()
		if _, err := a.Wait(t.Context(), "ann", w.ID, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if went := a.wentOn() + b.wentOn(); went != i+1 {
			t.Fatalf("%d calls went on %d times", i+1, went)
		}
	}
}

func TestAServerThatAsksNothingIsCalledAgain(t *testing.T) {
	r := newReplica(t, openStore(t), ends)
	w := r.add(t, "c_1")
	park(t, w, `{}`)
	got, err := r.Wait(t.Context(), "ann", "c_1", 5*time.Second)
	if err != nil || string(got.Answer) != `{}` {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestKeysAreNeverUsedTwice(t *testing.T) {
	var q Questions
	seen := map[string]bool{}
	for _, requests := range []string{`{"a":{},"a#3":{}}`, `{"a":{}}`, `{"a":{},"a#4":{},"":{}}`, `{"":{}}`} {
		q.AddAll(json.RawMessage(requests), false)
		answers := map[string]json.RawMessage{}
		for _, o := range q.Open {
			if seen[o.Key] {
				t.Errorf("%q was used twice", o.Key)
			}
			seen[o.Key] = true
			answers[o.Key] = json.RawMessage(`{}`)
		}
		if !q.answer(answers) || len(q.Open) != 0 {
			t.Errorf("%d are open", len(q.Open))
		}
	}
	for range 3 { // a task shows its questions each time
		q.AddAll(json.RawMessage(`{"b":{},"":{}}`), true)
	}
	if len(q.Open) != 1 || len(seen) != 7 {
		t.Errorf("open: %+v, seen: %v", q.Open, seen)
	}
}

func TestWhoCollectsACallIsAsked(t *testing.T) {
	r := newReplica(t, openStore(t), ends)
	w := r.add(t, "c_1")
	park(t, w, `{"a":{"method":"elicitation/create","params":{"message":"name?"}},`+
		`"b":{"method":"elicitation/create"},"c":{"method":"roots/list"}}`)
	answers := func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		switch {
		case method == "roots/list":
			return json.RawMessage(`{"roots":[]}`), nil
		case strings.Contains(string(params), "name?"):
			return json.RawMessage(`{"action":"accept"}`), nil
		}
		return nil, mcp.Errorf(-1, "no")
	}
	got, err := r.Collect(t.Context(), "ann", "c_1", 5*time.Second, peer(answers))
	if err != nil || string(got.Answer) != `{"a":{"action":"accept"},"b":{"action":"cancel"},"c":{"roots":[]}}` {
		t.Errorf("%s, %v", got.Answer, err)
	}
}

func TestAQuestionThatCannotBeAskedStaysOpen(t *testing.T) {
	r := newReplica(t, openStore(t), ends)
	w := r.add(t, "c_1")
	park(t, w, `{"a":{"method":"elicitation/create"}}`)
	got, err := r.Collect(t.Context(), "ann", "c_1", 50*time.Millisecond, mcp.Deaf)
	if err != nil || got.State != store.InputRequired {
		t.Errorf("%+v, %v", got, err)
	}
	gone := errors.New("the client has gone")
	_, err = r.Collect(t.Context(), "ann", "c_1", time.Minute, says(nil, gone))
	if err != gone {
		t.Errorf("got %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	_, err = r.Collect(ctx, "ann", "c_1", time.Minute, peer(func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		leave()
		return json.RawMessage(`{}`), nil
	}))
	if !errors.Is(err, context.Canceled) || len(ReadQuestions(r.row(t, "c_1")).Open) != 1 || r.listeners() != 0 {
		t.Errorf("got %v", err)
	}
}

func TestAQuestionIsAskedOnce(t *testing.T) {
	r := newReplica(t, openStore(t), ends)
	w := r.add(t, "c_1")
	park(t, w, `{"a":{"method":"elicitation/create"}}`)
	var times atomic.Int32
	first, leave := context.WithCancel(t.Context())
	p := peer(func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		if times.Add(1) == 1 { // who is asked first leaves without an answer
			<-first.Done()
			return nil, ctx.Err()
		}
		return json.RawMessage(`{"action":"accept"}`), nil
	})
	var wg sync.WaitGroup
	wg.Go(func() { r.Collect(first, "ann", "c_1", time.Minute, p) })
	within(t, time.Second, "one is asked", func() bool { return times.Load() == 1 })
	for range 3 {
		wg.Go(func() {
			got, err := r.Collect(t.Context(), "ann", "c_1", time.Minute, p)
			if err != nil || string(got.Answer) != `{"a":{"action":"accept"}}` {
				t.Errorf("%s, %v", got.Answer, err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	if times.Load() != 1 {
		t.Error("others are asked the same")
	}
	leave()
	wg.Wait()
	if times.Load() != 2 || r.listeners() != 0 {
		t.Errorf("asked %d times", times.Load())
	}
}

func TestAnOpenCallAsks(t *testing.T) {
	r := newReplica(t, openStore(t), nil)
	w := r.add(t, "c_1")
	ask := func(ctx context.Context) (string, error) {
		said, err := w.Ask(ctx, "sampling/createMessage", nil)
		return string(said), err
	}
	answering := func(said json.RawMessage, err error) {
		go r.Collect(t.Context(), "ann", "c_1", time.Second, says(said, err))
	}
	answering(json.RawMessage(`{"role":"assistant"}`), nil)
	if said, err := ask(t.Context()); err != nil || said != `{"role":"assistant"}` {
		t.Errorf("%s, %v", said, err)
	}
	time.Sleep(time.Second) // that one has left
	answering(nil, mcp.Errorf(-1, "no way"))
	var rpc *mcp.Error
	if said, err := ask(t.Context()); !errors.As(err, &rpc) || !strings.Contains(rpc.Message, "no way") {
		t.Errorf("%s, %v", said, err)
	}
	time.Sleep(time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if got := r.row(t, "c_1"); got.State != store.Working || len(ReadQuestions(got).Open) != 0 {
		t.Errorf("a question that nobody asks any more is open: %+v", got)
	}
	go func() {
		r.Wait(context.Background(), "ann", "c_1", time.Second)
		r.Cancel(context.Background(), "ann", "c_1")
	}()
	if _, err := ask(t.Context()); !errors.Is(err, ErrCanceled) {
		t.Errorf("of a canceled call: %v", err)
	}
	if _, err := ask(t.Context()); !errors.Is(err, ErrCanceled) {
		t.Errorf("after its end: %v", err)
	}
}
