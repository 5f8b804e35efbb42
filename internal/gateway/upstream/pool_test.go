//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

func sessionPid(t *testing.T, p *Pool, server, session string) string {
	t.Helper()
	out, err := p.Call(t.Context(), Call{Server: tool.ServerID(server), Tool: "pid", Params: json.RawMessage(`{"name":"pid"}`), Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Raw)
}

func TestIsolatedServerGivesEachSessionItsOwnProcess(t *testing.T) {
	t.Parallel()
	cfg := badConfig("web", "plain")
	cfg.Isolation = "session"
	p, _ := newPool(t, nil, cfg)
	a, b := sessionPid(t, p, "web", "a"), sessionPid(t, p, "web", "b")
	if a == b || a != sessionPid(t, p, "web", "a") {
		t.Errorf("a has %s, b has %s", a, b)
	}
	pid := pidOf(t, p, "web", "pid") // the session without a name has its own as well
	p.EndSession("a", 0)
	p.EndSession("nobody", 0)
	p.EndSession("", 0)
	if !alive(pid) || b != sessionPid(t, p, "web", "b") {
		t.Error("another session's end ended this one")
	}
	if n := p.Status()[0].Sessions; n != 2 {
		t.Errorf("%d sessions are left, want 2", n)
	}
	if a == sessionPid(t, p, "web", "a") {
		t.Error("the session's process lives on after its end")
	}
}

func TestSharedServerGivesAllSessionsOneProcess(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("files", "plain"))
	if a, b := sessionPid(t, p, "files", "a"), sessionPid(t, p, "files", "b"); a != b {
		t.Errorf("a has %s, b has %s", a, b)
	}
}

func TestPlaywrightIsKnownByItsTools(t *testing.T) {
	t.Parallel()
	shared := badConfig("told", "plain")
	shared.Isolation = "shared"
	p, _ := newPool(t, nil, badConfig("web", "plain"), shared)
	for _, id := range []tool.ServerID{"web", "told"} {
		p.Recognize(id, Listing{Tools: []tool.Definition{{Name: "browser_navigate"}, {Name: "browser_snapshot"}}})
	}
	if sessionPid(t, p, "web", "a") == sessionPid(t, p, "web", "b") {
		t.Error("two sessions share a browser")
	}
	if sessionPid(t, p, "told", "a") != sessionPid(t, p, "told", "b") {
		t.Error("the configuration says shared, and it is not")
	}
}

func TestProcessLimit(t *testing.T) {
	t.Parallel()
	t.Run("the one idle for longest makes room", func(t *testing.T) {
		t.Parallel()
		p, clock := newPool(t, &Options{MaxProcesses: 2}, badConfig("a", "plain"), badConfig("b", "plain"), badConfig("c", "plain"))
		for _, id := range []string{"a", "b", "a"} {
			mustCall(t, p, id, "echo", okResult)
			clock.advance(time.Second)
		}
		mustCall(t, p, "c", "echo", okResult)
		var states []State
		for _, st := range p.Status() {
			states = append(states, st.State)
		}
		if states[0] != Up || states[1] != Idle || states[2] != Up {
			t.Errorf("states %v", states)
		}
	})
	t.Run("when all are busy the caller is told so, and the server is not blamed", func(t *testing.T) {
		t.Parallel()
		p, _ := newPool(t, &Options{MaxProcesses: 1}, badConfig("a", "plain"), badConfig("b", "plain"))
		mustCall(t, p, "a", "echo", okResult)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go callTool(ctx, p, "a", "never")
		until(t, "a is busy", func() bool { return inflight(p, "a") == 1 })
		for range 3 {
			_, err := callTool(t.Context(), p, "b", "echo")
			wantFault(t, err, fault.UpstreamBusy, "all are busy")
		}
		if st := p.Status()[1]; st.State != Idle {
			t.Errorf("b is %s: %s", st.State, st.Reason)
		}
		leave()
		until(t, "a is free again", func() bool { return inflight(p, "a") == 0 })
		mustCall(t, p, "b", "echo", okResult)
	})
}

func TestOneCallerCannotTakeAllProcesses(t *testing.T) {
	t.Parallel()
	cfg := badConfig("web", "plain")
	cfg.Isolation = "session"
	p, clock := newPool(t, &Options{MaxProcesses: 4}, cfg)
	call := func(ctx context.Context, who, session, name string) error {
		_, err := p.Call(ctx, Call{Server: "web", Tool: name, Params: json.RawMessage(`{"name":"` + name + `"}`), Session: session, Caller: who})
		return err
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, session := range []string{"1", "2", "3"} {
		go call(ctx, "greedy", session, "never")
	}
	until(t, "three processes of one caller have started and are busy", func() bool { return busy(p, "web") == 3 })
	wantFault(t, call(t.Context(), "greedy", "4", "echo"), fault.UpstreamBusy, "running server processes, and all are busy")
	if err := call(t.Context(), "modest", "5", "echo"); err != nil {
		t.Errorf("another caller finds no room: %v", err)
	}
	leave()
	until(t, "they are free again", func() bool { return inflight(p, "web") == 0 })
	clock.advance(time.Second)
	if err := call(t.Context(), "greedy", "4", "echo"); err != nil {
		t.Errorf("its own idle process does not make room: %v", err)
	}
	if st := p.Status()[0]; st.Sessions != 4 {
		t.Errorf("%d processes run", st.Sessions)
	}
}

func TestIdleProcessIsClosedAndStartsAgain(t *testing.T) {
	t.Parallel()
	cfg, never := badConfig("files", "plain"), badConfig("never", "plain")
	cfg.Idle, never.Idle = time.Minute, -1
	p, clock := newPool(t, nil, cfg, never)
	pid := pidOf(t, p, "files", "pid")
	mustCall(t, p, "never", "echo", okResult)
	clock.advance(2 * time.Minute)
	until(t, "the idle process is gone", func() bool { return !alive(pid) })
	if st := p.Status(); st[0].State != Idle || st[1].State != Up {
		t.Errorf("states %s and %s", st[0].State, st[1].State)
	}
	mustCall(t, p, "files", "echo", okResult)
}

func TestApplyRestartsOnlyWhatHasChanged(t *testing.T) {
	t.Parallel()
	same, other, gone := badConfig("same", "plain"), badConfig("other", "plain"), badConfig("gone", "plain")
	same.Start, same.Timeout = 0, 0 // unset, as in a configuration made by hand
	p, _ := newPool(t, nil, same, other, gone)
	samePid, otherPid, gonePid := pidOf(t, p, "same", "pid"), pidOf(t, p, "other", "pid"), pidOf(t, p, "gone", "pid")
	other.Args, same.Line = []string{"-x"}, 99 // the place in the file is no setting
	same.Detach = config.DetachOff             // and this one is none of the connection's
	p.Apply([]config.Server{same, other})
	if got := pidOf(t, p, "same", "pid"); got != samePid {
		t.Error("the unchanged server was restarted")
	}
	if alive(otherPid) || alive(gonePid) {
		t.Error("the changed or the removed server still runs")
	}
	_, err := callTool(t.Context(), p, "gone", "echo")
	wantFault(t, err, fault.NotFound, "gone")
}

func TestACallHasTheLimitThatTheFileSets(t *testing.T) {
	t.Parallel()
	slow := []config.ToolTimeout{{Glob: "slow_*", Timeout: time.Hour}}
	none := config.Server{ID: "none", Command: "x", Timeouts: slow}
	some := config.Server{ID: "some", Command: "x", Timeouts: slow, Timeout: time.Second}
	p, _ := newPool(t, nil, none, some)
	for id, want := range map[tool.ServerID]time.Duration{"none": 0, "some": time.Second} {
		s, err := p.server(id)
		if err != nil || s.timeout("fast") != want || s.timeout("slow_one") != time.Hour {
			t.Errorf("%s: %s and %s, %v", id, s.timeout("fast"), s.timeout("slow_one"), err)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	pages := []struct{ name, list, says string }{
		{"two pages are one list", `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"2"}`, ""},
		{"no tools member is a protocol error", `{"items":[]}`, "server bad sent a list that is none"},
		{"tools that are null are a protocol error, not an empty list", `{"tools":null}`, "server bad sent a list that is none"},
		{"tools that are no array are a protocol error", `{"tools":{}}`, "server bad sent a list that is none"},
	}
	for _, c := range pages {
		t.Run(c.name, func(t *testing.T) {
			h := mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) {
				if string(req.Params) == `{"cursor":"2"}` {
					return json.RawMessage(`{"tools":[{"name":"b","inputSchema":{}},{"name":"a"},{"title":"no name"},5]}`), nil
				}
				return json.RawMessage(c.list), nil
			})
			p, _ := newPool(t, &Options{Builtins: map[string]Builtin{"x": func(config.Server) (mcp.Handler, error) { return h, nil }}}, config.Server{ID: "bad", Builtin: "x"})
			l, err := p.List(t.Context(), "bad")
			if c.says != "" {
				wantFault(t, err, fault.UpstreamProtocol, c.says)
				return
			}
			if err != nil || len(l.Tools) != 2 || len(l.Notes) != 3 {
				t.Errorf("got %d tools, notes %q, %v", len(l.Tools), l.Notes, err)
			}
		})
	}
}
