package cli

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// waiter is a gateway with waiting calls.
type waiter struct {
	*world
	app     *app.App
	key, id string // of the caller
	url     string
}

func newWaiter(t *testing.T) *waiter {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte("store: t.db\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, row, err := access.NewKey("ann", "default", access.Caller, nil)
	if err != nil {
		t.Fatal(err)
	}
	row.CreatedAt = time.Now()
	if err := a.Store.CreateKey(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		a.Close()
	})
	return &waiter{newWorld(t), a, key, row.ID, srv.URL}
}

// add adds a waiting call.
func (w *waiter) add(t *testing.T) *waiting.Live {
	t.Helper()
	l, err := w.app.Waiting.Add(t.Context(), store.Waiting{
		ID: w.app.Records.NewID(), Owner: w.id, Profile: "default", Server: "shop", Tool: "shop__report", State: store.Working,
		For: store.ForServer, Message: "3 of 10: 正在\x1b[2J生成", Expires: time.Now().Add(time.Hour), Body: []byte("{}"),
	}, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.End(context.Background(), store.Cancelled, func(*store.Waiting) {}) })
	return l
}

func (w *waiter) calls(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return w.run(t, append(append([]string{"calls"}, args...), "--url", w.url, "--key", w.key)...)
}

func TestWaitingCallsAreListed(t *testing.T) {
	w := newWaiter(t)
	if code, out, _ := w.calls(t, "--waiting"); code != 0 || !strings.Contains(out, "no calls are waiting") {
		t.Errorf("exit code %d: %s", code, out)
	}
	l := w.add(t)
	code, out, _ := w.calls(t, "--waiting")
	if code != 0 || !strings.Contains(out, l.ID) || !strings.Contains(out, "working") || !strings.Contains(out, "正在") || strings.Contains(out, "\x1b") {
		t.Errorf("exit code %d: %q", code, out)
	}
	if code, out, _ := w.calls(t, "--waiting", "--json"); code != 0 || !strings.Contains(out, `"state": "working"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out, _ := w.calls(t); code != 0 || strings.Contains(out, l.ID) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, _, said := w.calls(t, "wiat"); code != 2 || !strings.Contains(said, "did you mean: toolfit calls wait") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func TestTheResultOfACallIsWaitedFor(t *testing.T) {
	w := newWaiter(t)
	for name, tt := range map[string]struct {
		answer, flag string
		code         int
		out, said    string
	}{
		"a result":              {`{"result":{"content":[{"type":"text","text":"报告"}]}}`, "", 0, "报告\n", ""},
		"a result as JSON":      {`{"result":{"content":[{"type":"text","text":"报告"}]}}`, "--json", 0, `"result": {`, ""},
		"an error of the tool":  {`{"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`, "", 1, "no\n", ""},
		"an error":              {`{"fault":{"code":"upstream_down","message":"gone"}}`, "", 1, "", "toolfit: gone\n"},
		"an error of a server":  {`{"error":{"code":-32000,"message":"broken"}}`, "", 1, "", "broken"},
		"one that has a result": {`{"result":{"content":[],"structuredContent":{"a":1}}}`, "", 0, `"a": 1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := w.add(t)
			end := time.AfterFunc(50*time.Millisecond, func() {
				l.End(context.Background(), store.Completed, func(w *store.Waiting) { w.Answer = []byte(tt.answer) })
			})
			defer end.Stop()
			args := []string{"wait", l.ID}
			if tt.flag != "" {
				args = append(args, tt.flag)
			}
			code, out, said := w.calls(t, args...)
			if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(said, tt.said) {
				t.Errorf("exit code %d: %s%s", code, out, said)
			}
		})
	}
}

func TestWhoStopsWaitingIsToldThatTheCallGoesOn(t *testing.T) {
	w := newWaiter(t)
	l := w.add(t)
	code, _, said := w.calls(t, "wait", l.ID, "--timeout", "30ms")
	if code != 1 || !strings.Contains(said, "is still running") || !strings.Contains(said, "toolfit calls cancel "+l.ID) {
		t.Errorf("exit code %d: %s", code, said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	var out, errs safeBuffer
	code = w.runTo(ctx, &out, &errs, "calls", "wait", l.ID, "--url", w.url, "--key", w.key)
	if code != 1 || !strings.Contains(errs.String(), "call "+l.ID+" goes on") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if row, err := l.Row(t.Context()); err != nil || row.Ended() {
		t.Errorf("%+v, %v", row.State, err)
	}
}

func TestACallIsCanceled(t *testing.T) {
	w := newWaiter(t)
	l := w.add(t)
	if code, out, said := w.calls(t, "cancel", l.ID); code != 0 || out != "canceled "+l.ID+"\n" {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	if code, _, said := w.calls(t, "wait", l.ID); code != 1 || !strings.Contains(said, "the call was canceled") {
		t.Errorf("exit code %d: %s", code, said)
	}
	l = w.add(t)
	l.End(t.Context(), store.Completed, func(w *store.Waiting) { w.Answer = []byte(`{"result":{}}`) })
	if code, _, said := w.calls(t, "cancel", l.ID); code != 1 || !strings.Contains(said, "has ended") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, _, said := w.calls(t, "cancel", "c_nothing"); code != 1 || !strings.Contains(said, "there is no call c_nothing") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, _, said := w.calls(t, "wait"); code != 2 || !strings.Contains(said, "calls wait takes the id of a call") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func TestCallsOfScriptsAreListedBelowThem(t *testing.T) {
	w := newWaiter(t)
	at := time.Now()
	var calls []store.Call
	for _, one := range [][2]string{{"c_1", ""}, {"c_2", "c_1"}, {"c_3", ""}, {"c_4", "c_2"}, {"c_5", "c_1"}, {"c_6", "c_0"}} {
		calls = append(calls, store.Call{
			ID: one[0], Parent: one[1], At: at, Principal: w.id, Profile: "default", Tool: "shop__list", Outcome: "ok", Level: "info",
		})
	}
	if err := w.app.Store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	listed := func(args ...string) (ids string) {
		_, out, _ := w.calls(t, args...)
		for line := range strings.Lines(out) {
			if id, _, _ := strings.Cut(line, " "); strings.HasPrefix(id, "c_") {
				before, _, _ := strings.Cut(line, "shop__list")
				ids += id + strings.Repeat(">", (len(before)-len(strings.TrimRight(before, " ")))/2-1)
			}
		}
		return ids
	}
	if got := listed(); got != "c_6c_3c_1c_2>c_4>>c_5>" {
		t.Errorf("listed %s", got)
	}
	if got := listed("--parent", "c_1"); got != "c_5c_2" {
		t.Errorf("listed %s", got)
	}
}
