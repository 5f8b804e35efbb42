package call

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// yard is a spine whose calls can go on without their requests. Its server has the tools act and look,
// which only reads.
type yard struct {
	*Caller
	t     *testing.T
	store *store.Store
	calls *waiting.Calls

	mu      sync.Mutex
	send    func(ctx context.Context, c upstream.Call) (upstream.Outcome, error)
	task    func() (upstream.Task, error)
	result  func(ctx context.Context, c upstream.Call) (upstream.Outcome, error)
	sent    []upstream.Call
	said    []string // what was said to the server about its task
	records []store.Call
	handles []Handle
}

const yardTools = `[{"name":"act","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},` +
	`{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]`

func newYard(t *testing.T, limits store.WaitingLimits) *yard {
	y := &yard{t: t}
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte("mcpServers: {s: {command: s}}\ndetach: 1s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	y.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var tools []store.Tool
	for w := rawjson.Array([]byte(yardTools)); w.Next(); {
		name, _ := rawjson.String(rawjson.Get(w.Value, "name"))
		tools = append(tools, store.Tool{Name: name, Definition: w.Value})
	}
	row := store.Server{ID: "s", ListedAt: time.Now(), Tools: tools}
	views, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	views.Apply(cfg)
	y.calls = waiting.New(y.store, &waiting.Options{
		GoOn: func(ctx context.Context, l *waiting.Live) { y.GoOn(ctx, l) }, Canceled: func(w store.Waiting) { y.Canceled(w) },
		Lease: 400 * time.Millisecond, Limits: limits,
	})
	y.Caller = New(views, y, y, &Options{Results: y.store, Waiting: y.calls})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { y.calls.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended; y.calls.Close(); y.store.Close() })
	return y
}

func (y *yard) Curl(context.Context, upstream.Call) (string, error) { return "", nil }

func (y *yard) Call(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
	y.mu.Lock()
	y.sent = append(y.sent, c)
	send := y.send
	y.mu.Unlock()
	return send(ctx, c)
}

func (y *yard) GetTask(_ context.Context, _ upstream.Call, id string) (upstream.Task, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	t, err := y.task()
	t.ID = id
	t.Poll = 10 * time.Millisecond
	return t, err
}

func (y *yard) TaskResult(ctx context.Context, c upstream.Call, _ string) (upstream.Outcome, error) {
	return y.result(ctx, c)
}

func (y *yard) AnswerTask(_ context.Context, _ upstream.Call, id string, answers json.RawMessage) error {
	y.say("answer " + id + " " + string(answers))
	return nil
}

func (y *yard) CancelTask(_ context.Context, _ upstream.Call, id string) error {
	y.say("cancel " + id)
	return nil
}

func (y *yard) say(text string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.said = append(y.said, text)
}

func (y *yard) Timeout(tool.ServerID, string) time.Duration { return 0 }

func (y *yard) NewID() string  { return string(store.AppendCallTime(nil, time.Now())) + "x" }
func (y *yard) Refuses() error { return nil }

func (y *yard) Add(_ context.Context, c store.Call) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.records = append(y.records, c)
	return nil
}

// Detached gives the handle out.
func (y *yard) Detached(_ *mcp.Request, h Handle) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.handles = append(y.handles, h)
	return true
}

// elicits are the capabilities of a client that can be asked.
var elicits = json.RawMessage(`{"elicitation":{}}`)

// do makes a call of a client that can be asked.
func (y *yard) do(ctx context.Context, name string, tasks TaskUse, args string) (*Result, error) {
	params, err := NewParams(name, json.RawMessage(args))
	if err != nil {
		return nil, err
	}
	return y.Do(ctx, Request{
		Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", Params: params, Front: y, Tasks: tasks,
		From: mcp.Speaker{Era: mcp.Modern, Capabilities: elicits}, Client: mcp.Deaf,
	})
}

// ended waits until the only call that was detached has ended.
func (y *yard) ended() store.Waiting {
	y.t.Helper()
	y.mu.Lock()
	if len(y.handles) != 1 {
		y.t.Fatalf("%d calls were detached", len(y.handles))
	}
	id := y.handles[0].ID
	y.mu.Unlock()
	w, err := y.calls.Collect(y.t.Context(), "ann", id, 10*time.Second, mcp.Deaf)
	if err != nil || !w.Ended() {
		y.t.Fatalf("%+v, %v", w, err)
	}
	return w
}

// outcomes are those of the records, in their order.
func (y *yard) outcomes() (all []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, c := range y.records {
		all = append(all, c.Outcome)
	}
	return all
}

func (y *yard) wantOutcomes(want ...string) {
	y.t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if slices.Equal(y.outcomes(), want) {
			return
		}
	}
	y.t.Errorf("recorded %q, want %q", y.outcomes(), want)
}

func textResult(text string) upstream.Outcome {
	return upstream.Outcome{Raw: json.RawMessage(`{"content":[{"type":"text","text":"` + text + `"}]}`)}
}

func wantText(t *testing.T, w *store.Waiting, want string) {
	t.Helper()
	res, err := Ended(w)
	if err != nil || text(t, res.Raw) != want {
		t.Fatalf("got %+v, %v; want %q", res, err, want)
	}
}

// slowly answers after the call was detached.
func slowly(out upstream.Outcome, err error) func(context.Context, upstream.Call) (upstream.Outcome, error) {
	return func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		if c.SlowAfter > 0 {
			c.Slow.Slow(func(error) {})
		}
		return out, err
	}
}

func TestSlowCallGoesOnWithoutItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		out     upstream.Outcome
		err     error
		state   store.WaitState
		outcome string
	}{
		"a result":               {out: textResult("done"), state: store.Completed, outcome: "ok"},
		"an error of the tool":   {out: upstream.Outcome{Raw: json.RawMessage(`{"content":[],"isError":true}`)}, state: store.Completed, outcome: "tool_error"},
		"an error of ours":       {err: fault.New(fault.UpstreamDown, "it broke"), state: store.Completed, outcome: "error"},
		"the server's error":     {err: mcp.Errorf(-32000, "no"), state: store.Failed, outcome: "error"},
		"an error that is a bug": {err: errors.New("bug"), state: store.Failed, outcome: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, store.WaitingLimits{})
			y.send = slowly(c.out, c.err)
			res, err := y.do(t.Context(), "s__act", NoTask, `{"n":1}`)
			w := y.ended()
			if w.State != c.state || w.For != "" || w.Replica != "" || w.Body != nil {
				t.Errorf("%+v", w)
			}
			got, gotErr := Ended(&w)
			if (err == nil) != (gotErr == nil) || err == nil && string(got.Raw) != string(res.Raw) {
				t.Errorf("collected %v, %v; the call itself had %v, %v", got, gotErr, res, err)
			}
			y.wantOutcomes(c.outcome)
			if len(y.sent) != 1 {
				t.Errorf("sent %d times", len(y.sent))
			}
		})
	}
}

func TestCallThatCannotBeDetachedEndsWithItsRequest(t *testing.T) {
	y := newYard(t, store.WaitingLimits{Owner: 1})
	y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
		if c.Tool == "act" {
			c.Slow.Slow(func(error) {})
			_, err := y.do(ctx, "s__look", NoTask, `{}`) // the second one
			return textResult("done"), err
		}
		if c.Slow.Slow(func(error) {}) || c.Slow.Detached() {
			t.Error("a call over the limit was detached")
		}
		return textResult("whole"), nil
	}
	if res, err := y.do(t.Context(), "s__act", NoTask, `{}`); err != nil || text(t, res.Raw) != "done" {
		t.Fatal(res, err)
	}
	if len(y.handles) != 1 {
		t.Errorf("%d handles", len(y.handles))
	}
}

func TestTaskExistsBeforeTheCallIsSent(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
		if len(y.handles) != 1 {
			t.Error("sent before the client had its task")
		}
		w, err := y.calls.Get(ctx, "ann", y.handles[0].ID)
		if err != nil || w.State != store.Working {
			t.Error(w, err)
		}
		return textResult("done"), nil
	}
	y.do(t.Context(), "s__act", AsTask, `{"n":1}`)
	w := y.ended()
	wantText(t, &w, "done")
}

func TestTaskIsMadeOfACallWhoseArgumentsAreRefused(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.do(t.Context(), "s__act", AsTask, `{"n":"a word"}`)
	w := y.ended()
	if _, err := Ended(&w); !fault.Is(err, fault.BadArguments) || w.State != store.Completed || len(y.sent) != 0 {
		t.Errorf("%+v: %v", w, err)
	}
	y.wantOutcomes("error")
}

// made is the outcome of a call of which the server made a task.
func made(era mcp.Era) upstream.Outcome {
	return upstream.Outcome{Kind: upstream.TaskMade, Era: era, Raw: json.RawMessage("{}"), Task: &upstream.Task{ID: "t1", Era: era, Status: upstream.TaskWorking, Poll: time.Millisecond}}
}

// inTurn gives one task after the other, and the last one again and again.
func inTurn(tasks ...upstream.Task) func() (upstream.Task, error) {
	return func() (upstream.Task, error) {
		t := tasks[0]
		if len(tasks) > 1 {
			tasks = tasks[1:]
		}
		return t, nil
	}
}

func TestServersTaskIsFollowedWithoutTheRequest(t *testing.T) {
	working := upstream.Task{Status: upstream.TaskWorking, Era: mcp.Modern, Message: "half"}
	for name, c := range map[string]struct {
		task    func() (upstream.Task, error)
		state   store.WaitState
		want    string // of the result or the error
		outcome string
	}{
		"it completes": {
			inTurn(working, upstream.Task{Status: upstream.TaskCompleted, Era: mcp.Modern, Result: textResult("done").Raw}), store.Completed, "done", "ok",
		},
		"it fails":        {inTurn(upstream.Task{Status: upstream.TaskFailed, Era: mcp.Modern, Error: mcp.Errorf(-32603, "boom")}), store.Failed, "boom", "error"},
		"it is canceled":  {inTurn(upstream.Task{Status: upstream.TaskCancelled, Era: mcp.Modern}), store.Completed, "canceled", "canceled"},
		"it is forgotten": {func() (upstream.Task, error) { return upstream.Task{}, mcp.Errorf(-32602, "unknown task") }, store.Failed, "may or may not", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, store.WaitingLimits{})
			y.task = c.task
			y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return made(mcp.Modern), nil }
			if _, err := y.do(t.Context(), "s__act", MayTask, `{"n":1}`); err != ErrHandedOver {
				t.Fatal(err)
			}
			w := y.ended()
			res, err := Ended(&w)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = text(t, res.Raw)
			}
			if w.State != c.state || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s", w.State, got)
			}
			y.wantOutcomes(c.outcome)
			if len(y.sent) != 1 || y.records[0].ID != w.ID {
				t.Errorf("sent %d times, recorded %+v", len(y.sent), y.records)
			}
		})
	}
}

func TestServersTaskIsHeldForAClientWithoutTasks(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return made(mcp.Legacy), nil }
	y.task = inTurn(upstream.Task{Status: upstream.TaskWorking, Era: mcp.Legacy}, upstream.Task{Status: upstream.TaskCompleted, Era: mcp.Legacy})
	y.result = func(context.Context, upstream.Call) (upstream.Outcome, error) { return textResult("done"), nil }
	res, err := y.do(t.Context(), "s__act", NoTask, `{"n":1}`)
	if err != nil || text(t, res.Raw) != "done" || len(y.handles) != 0 {
		t.Fatal(res, err, y.handles)
	}
}

func TestHeldTaskIsDetachedWhenItTakesLong(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	begin := time.Now()
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return made(mcp.Modern), nil }
	y.task = func() (upstream.Task, error) {
		if time.Since(begin) < 1500*time.Millisecond {
			return upstream.Task{Status: upstream.TaskWorking, Era: mcp.Modern}, nil
		}
		return upstream.Task{Status: upstream.TaskCompleted, Era: mcp.Modern, Result: textResult("done").Raw}, nil
	}
	if _, err := y.do(t.Context(), "s__act", NoTask, `{"n":1}`); err != ErrHandedOver {
		t.Fatal(err)
	}
	w := y.ended()
	wantText(t, &w, "done")
}

func TestQuestionsOfAServersTaskAreAnsweredOnce(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	asks := upstream.Task{Status: upstream.TaskAsks, Era: mcp.Modern, Questions: json.RawMessage(
		`{"a":{"method":"elicitation/create","params":{"message":"A?"}},"b":{"method":"elicitation/create","params":{"message":"B?"}}}`)}
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return made(mcp.Modern), nil }
	y.task = func() (upstream.Task, error) {
		if len(y.said) < 2 {
			return asks, nil // the server still has both, until it was told
		}
		return upstream.Task{Status: upstream.TaskCompleted, Era: mcp.Modern, Result: textResult("done").Raw}, nil
	}
	y.do(t.Context(), "s__act", MayTask, `{"n":1}`)
	id := y.handles[0].ID
	for _, key := range []string{"a", "b"} {
		w, err := y.calls.Wait(t.Context(), "ann", id, 5*time.Second)
		if err != nil || w.State != store.InputRequired {
			t.Fatal(w, err)
		}
		w, err = y.calls.Answer(t.Context(), "ann", id, map[string]json.RawMessage{key: json.RawMessage(`{"action":"decline"}`), "c": json.RawMessage("{}")})
		if err != nil {
			t.Fatal(err)
		}
		open := waiting.ReadQuestions(&w).Open
		if key == "a" && (len(open) != 1 || open[0].Key != "b" || w.State != store.InputRequired) {
			t.Fatalf("%+v", w)
		}
		time.Sleep(30 * time.Millisecond) // the server says again that it asks
		w, err = y.calls.Get(t.Context(), "ann", id)
		if q := waiting.ReadQuestions(&w); err != nil || key == "a" && (len(q.Open) != 1 || q.Open[0].Key != "b") {
			t.Fatalf("%+v, %v", q, err)
		}
	}
	w := y.ended()
	wantText(t, &w, "done")
	if !slices.Equal(y.said, []string{`answer t1 {"a":{"action":"decline"}}`, `answer t1 {"b":{"action":"decline"}}`}) {
		t.Errorf("%q", y.said)
	}
}

func TestModernServersQuestionWaitsInTheStore(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		if len(y.sent) == 1 {
			c.Slow.Slow(func(error) {})
			return upstream.Outcome{Kind: upstream.InputRequired, Era: mcp.Modern, Raw: json.RawMessage(
				`{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"st"}`)}, nil
		}
		return textResult("hello"), nil
	}
	if _, err := y.do(t.Context(), "s__act", NoTask, `{"n":7}`); err != ErrHandedOver {
		t.Fatal(err)
	}
	id := y.handles[0].ID
	w, err := y.calls.Get(t.Context(), "ann", id)
	if err != nil || w.State != store.InputRequired || w.For != store.ForAnswers || w.Replica != "" || y.calls.Len() != 0 {
		t.Fatalf("%+v, %v: %d calls are worked on", w, err, y.calls.Len())
	}
	if _, err := y.calls.Answer(t.Context(), "bob", id, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("another's answer: %v", err)
	}
	answers := map[string]json.RawMessage{"who": json.RawMessage(`{"action":"accept","content":{"name":"Ann"}}`)}
	if _, err := y.calls.Answer(t.Context(), "ann", id, answers); err != nil {
		t.Fatal(err)
	}
	w = y.ended()
	wantText(t, &w, "hello")
	last := y.sent[1].Params
	if string(rawjson.Get(last, "requestState")) != `"st"` || string(rawjson.Get(last, "inputResponses", "who", "content", "name")) != `"Ann"` ||
		string(rawjson.Get(last, "arguments")) != `{"n":7}` || len(y.sent) != 2 {
		t.Errorf("sent %d times, at last %s", len(y.sent), last)
	}
	y.wantOutcomes("ok")
}

func TestCallOfAGatewayThatHasGone(t *testing.T) {
	for name, c := range map[string]struct{ sends, state, want string }{
		"s__act":  {"1", string(store.Failed), "may or may not have happened"},
		"s__look": {"2", string(store.Completed), "done"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, store.WaitingLimits{})
			gone := waiting.New(y.store, &waiting.Options{Lease: 300 * time.Millisecond}) // nobody renews its leases
			y.Caller.opts.Waiting = gone
			release := make(chan struct{})
			t.Cleanup(func() { close(release); time.Sleep(50 * time.Millisecond); gone.Close() })
			y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
				y.mu.Lock()
				first := len(y.sent) == 1
				y.mu.Unlock()
				if first {
					c.Slow.Slow(func(error) {})
					<-release
				}
				return textResult("done"), nil
			}
			go y.do(context.WithoutCancel(t.Context()), name, NoTask, `{"n":1}`)
			for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				y.mu.Lock()
				n := len(y.handles)
				y.mu.Unlock()
				if n > 0 {
					break
				}
			}
			w := y.ended()
			got := w.Message
			if res, err := Ended(&w); err == nil {
				got = text(t, res.Raw)
			}
			y.mu.Lock()
			defer y.mu.Unlock()
			if string(w.State) != c.state || !strings.Contains(got, c.want) || len(y.sent) != int(c.sends[0]-'0') {
				t.Errorf("%s after %d sends: %s", w.State, len(y.sent), got)
			}
		})
	}
}

func TestCanceledTaskIsToldToItsServer(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return made(mcp.Modern), nil }
	y.task = inTurn(upstream.Task{Status: upstream.TaskWorking, Era: mcp.Modern})
	y.do(t.Context(), "s__act", MayTask, `{"n":1}`)
	id := y.handles[0].ID
	if _, err := y.calls.Cancel(t.Context(), "bob", id); !fault.Is(err, fault.NotFound) {
		t.Errorf("another's cancel: %v", err)
	}
	if _, err := y.calls.Cancel(t.Context(), "ann", id); err != nil {
		t.Fatal(err)
	}
	y.wantOutcomes("canceled")
	if w := y.ended(); w.State != store.Cancelled || !slices.Contains(y.said, "cancel t1") {
		t.Errorf("%s, said %q", w.State, y.said)
	}
	if before, err := y.calls.Cancel(t.Context(), "ann", id); err != nil || before.State != store.Cancelled {
		t.Errorf("again: %v, %v", before.State, err)
	}
	y.wantOutcomes("canceled")
}

func TestFetchResultCollectsADetachedCall(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	release := make(chan struct{})
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		c.Slow.Slow(func(error) {})
		<-release
		return textResult("done"), nil
	}
	ended := make(chan struct{})
	go func() { y.do(t.Context(), "s__act", NoTask, `{"n":1}`); close(ended) }()
	for {
		y.mu.Lock()
		n := len(y.handles)
		y.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	id := y.handles[0].ID
	fetch := func(args string) string {
		t.Helper()
		res, err := y.do(t.Context(), "fetch_result", NoTask, args)
		if err != nil {
			return err.Error()
		}
		return text(t, res.Raw)
	}
	if got := fetch(`{"ref":"` + id + `","wait":"10ms"}`); !strings.Contains(got, "still running") {
		t.Error(got)
	}
	if got := fetch(`{"ref":"` + id + `","wait":"soon"}`); !strings.Contains(got, "/wait: expected a duration") {
		t.Error(got)
	}
	if got := fetch(`{"ref":"c_nothing"}`); strings.Contains(got, "still") {
		t.Error(got)
	}
	if got := fetch(`{"ref":"` + id + `","wait":0}`); !strings.Contains(got, "still running") {
		t.Error(got)
	}
	close(release)
	if got := fetch(`{"ref":"` + id + `","wait":"10"}`); got != "done" {
		t.Error(got)
	}
	<-ended
}

func TestProgressOfASlowToolIsKept(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = slowly(textResult("done"), nil)
	y.do(t.Context(), "s__act", NoTask, `{"n":1}`) // the first time nobody knows that it is slow
	y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
		if c.Meta.End == 0 || mcp.ProgressToken(c.Params[c.Meta.Start:c.Meta.End]).End == 0 {
			t.Errorf("no progress is asked for: %s", c.Params)
		}
		c.Peer.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":0,"progress":1,"total":3}`))
		c.Slow.Slow(func(error) {})
		h := y.handles[1]
		if h.Message != "1 of 3" {
			t.Errorf("the handle says %q", h.Message)
		}
		c.Peer.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":0,"progress":2,"total":3,"message":"索引"}`))
		w, err := y.calls.Get(ctx, "ann", h.ID)
		if err != nil || w.Message != "2 of 3: 索引" {
			t.Errorf("%q, %v", w.Message, err)
		}
		return textResult("done"), nil
	}
	y.do(t.Context(), "s__act", NoTask, `{"n":1}`)
	if got := string(rawjson.Get(y.sent[1].Params, "arguments")); got != `{"n":1}` {
		t.Errorf("arguments %s", got)
	}
}
