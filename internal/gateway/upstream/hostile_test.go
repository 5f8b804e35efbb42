//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestServerThatMisbehavesInACall(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, tool string
		code       fault.Code // "": the call works
		says       string
	}{
		{"an answer that never comes is a timeout", "never", fault.UpstreamTimeout, "server bad did not answer never within 300ms"},
		{"a late answer is a timeout, and reaches nobody", "late", fault.UpstreamTimeout, "server bad"},
		{"a second answer is dropped", "twice", "", ""},
		{"an answer to nothing is dropped", "invented", "", ""},
		{"a huge answer with its id first fails its call", "huge, id first", fault.TooLarge, "server bad sent a message of 2097"},
		{"a huge answer with its id last fails its call", "huge, id last", fault.TooLarge, "server bad"},
		{"a huge line without an id fails whoever waits", "huge, no id", fault.TooLarge, "server bad"},
		{"an answer with NaN fails its call at once", "not a number", fault.UpstreamProtocol, "server bad sent an answer that cannot be read: invalid JSON at byte"},
		{"so does one with its id last", "not a number, id last", fault.UpstreamProtocol, "server bad sent an answer that cannot be read"},
		{"so does one that is nested too deep", "deep", fault.UpstreamProtocol, "nested too deep"},
		{"a log that names the request fails nobody", "log", "", ""},
		{"a huge notification fails nobody", "huge notification", "", ""},
		{"a huge request of the server fails nobody", "huge request", "", ""},
		{"a death is told with its status and last words", "die", fault.UpstreamDown, "server bad ended with exit status 7: panic: out of cheese"},
		{"a closed output ends the session", "mute", fault.UpstreamDown, "server bad closed its output"},
		{"a flood of stderr holds up nothing", "noise", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bad := badConfig("bad", "plain")
			bad.Timeouts = []config.ToolTimeout{{Glob: "never", Timeout: 300 * time.Millisecond}, {Glob: "late", Timeout: 300 * time.Millisecond}}
			p, clock := newPool(t, nil, bad, badConfig("calm", "plain"))
			mustCall(t, p, "calm", "echo", okResult)
			got, err := callTool(t.Context(), p, "bad", c.tool)
			if c.code == "" {
				if err != nil || got != okResult {
					t.Fatalf("got %.100s, %v", got, err)
				}
			} else {
				wantFault(t, err, c.code, c.says)
			}
			mustCall(t, p, "calm", "echo", okResult)
			until(t, "the dead session is cleared away", func() bool { return c.code != fault.UpstreamDown || p.Status()[0].State == Down })
			clock.advance(2 * time.Second)
			for range 3 {
				mustCall(t, p, "bad", "echo", okResult)
			}
		})
	}
}

func TestErrorThatIsNoErrorObjectBecomesOne(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	_, err := callTool(t.Context(), p, "bad", "text error")
	rpc, ok := err.(*mcp.Error)
	if !ok || rpc.Code != mcp.CodeInternal || rpc.Raw != nil || string(rpc.Data) != `"boom"` {
		t.Errorf("got %#v", err)
	}
}

func TestAllWhoWaitAreToldOfAHugeLineThatNamesNobody(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	mustCall(t, p, "bad", "echo", okResult)
	waiting := make(chan error, 1)
	go func() {
		_, err := callTool(t.Context(), p, "bad", "never")
		waiting <- err
	}()
	until(t, "the first call is under way", func() bool { return inflight(p, "bad") == 1 })
	_, err := callTool(t.Context(), p, "bad", "huge, no id")
	wantFault(t, err, fault.TooLarge)
	wantFault(t, <-waiting, fault.TooLarge)
}

func inflight(p *Pool, id string) (n int) {
	eachSession(p, id, func(sess *session) { n += sess.inflight })
	return n
}

// busy counts the sessions of a server that have started and carry a call.
func busy(p *Pool, id string) (n int) {
	eachSession(p, id, func(sess *session) {
		if sess.inflight > 0 && sess.isReady() {
			n++
		}
	})
	return n
}

func eachSession(p *Pool, id string, visit func(*session)) {
	for _, s := range p.all() {
		s.mu.Lock()
		for _, sess := range s.sessions {
			if string(s.cfg.ID) == id {
				visit(sess)
			}
		}
		s.mu.Unlock()
	}
}

func TestServerThatCannotStart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, mode string
		code       fault.Code
		says       string
	}{
		{"one that exits with 0 at once is down", "exit0", fault.UpstreamDown, "server bad ended"},
		{"one that dies at once is down, with its last words", "dies", fault.UpstreamDown, "server bad ended with exit status 3: no such database"},
		{"one that only prints its usage is down, with that line", "only garbage", fault.UpstreamDown, "usage: server [options]"},
		{"an error to initialize is told in the server's words", "init error", fault.UpstreamProtocol, "no license"},
		{"an answer without a version is a protocol error", "init without version", fault.UpstreamProtocol, "server bad answered initialize without a protocolVersion"},
		{"one that says nothing is a timeout of its start", "silent", fault.UpstreamTimeout, "server bad did not answer within 500ms of its start"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := badConfig("bad", c.mode)
			if c.mode == "silent" {
				cfg.Start = 500 * time.Millisecond
			}
			p, clock := newPool(t, nil, cfg, badConfig("calm", "plain"))
			_, err := callTool(t.Context(), p, "bad", "echo")
			wantFault(t, err, c.code, "bad", c.says)
			_, err = callTool(t.Context(), p, "bad", "echo")
			wantFault(t, err, c.code, "it is tried again in 1s")
			mustCall(t, p, "calm", "echo", okResult)
			if st := p.Status()[0]; st.State != Down || !strings.Contains(st.Reason, c.says) {
				t.Errorf("state %s, reason %s", st.State, st.Reason)
			}
			clock.advance(2 * time.Second)
			_, err = callTool(t.Context(), p, "bad", "echo")
			wantFault(t, err, c.code, c.says)
			_, err = callTool(t.Context(), p, "bad", "echo")
			wantFault(t, err, c.code, "it is tried again in 2s")
		})
	}
}

func TestCommandThatDoesNotExistIsNamed(t *testing.T) {
	t.Parallel()
	cfg := badConfig("bad", "plain")
	cfg.Command = "no-such-command-anywhere"
	p, _ := newPool(t, nil, cfg)
	_, err := callTool(t.Context(), p, "bad", "echo")
	wantFault(t, err, fault.UpstreamDown, `server bad cannot be started: command "no-such-command-anywhere" does not exist`)
}

func TestFolderThatDoesNotExistIsNamed(t *testing.T) {
	t.Parallel()
	cfg := badConfig("bad", "plain")
	cfg.Cwd = filepath.Join(t.TempDir(), "gone")
	p, _ := newPool(t, nil, cfg)
	_, err := callTool(t.Context(), p, "bad", "echo")
	wantFault(t, err, fault.UpstreamDown, "server bad cannot be started: folder "+cfg.Cwd+" does not exist")
}

func TestGarbageBeforeTheFirstMessageIsKeptAndPassedOver(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "garbage"))
	mustCall(t, p, "bad", "echo", okResult)
	if said := strings.Join(p.Status()[0].Stderr, "\n"); !strings.Contains(said, "stdout: Welcome to my server!") {
		t.Errorf("kept: %q", said)
	}
}

func TestServerThatNeverReadsHoldsNobodyForLong(t *testing.T) {
	t.Parallel()
	cfg := badConfig("bad", "deaf")
	cfg.Timeout = 500 * time.Millisecond
	p, _ := newPool(t, nil, cfg, badConfig("calm", "plain"))
	big := json.RawMessage(`{"name":"echo","arguments":{"x":"` + strings.Repeat("x", 10<<20) + `"}}`)
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			_, err := p.Call(t.Context(), Call{Server: "bad", Tool: "echo", Params: big})
			wantFault(t, err, fault.UpstreamTimeout, "server bad")
		})
	}
	mustCall(t, p, "calm", "echo", okResult)
	calls.Wait()
}

func TestServersRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	mustCall(t, p, "bad", "asks", `{"content":[{"type":"text","text":"refused {}"}]}`)
}

// peer notes what it is told.
type peer struct {
	notify func(params string)
}

func (p peer) Notify(_ context.Context, _ string, params json.RawMessage) error {
	p.notify(string(params))
	return nil
}

func (peer) Ask(ctx context.Context, m string, params json.RawMessage) (json.RawMessage, error) {
	return mcp.Deaf.Ask(ctx, m, params)
}

func TestProgressReachesItsCallerUnderTheCallersOwnToken(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	for _, token := range []string{`"abc"`, `7`, `"7"`, `"\u00e4 \"quoted\""`, `9007199254740993`, `1.0`, `""`} {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			params := `{"name":"progress","_meta":{"progressToken":` + token + `}}`
			var got []string
			_, err := p.Call(t.Context(), Call{
				Server: "bad", Tool: "progress", Params: json.RawMessage(params), Meta: mcp.FindMeta(json.RawMessage(params)),
				Peer: peer{func(params string) { got = append(got, params) }},
			})
			if err != nil || len(got) == 0 {
				t.Fatalf("%d notifications, %v", len(got), err)
			}
			if want := `{"progress":0,"progressToken":` + token + `,"extra":1.0}`; got[0] != want {
				t.Errorf("got %s, want %s", got[0], want)
			}
		})
	}
}

func TestSlowListenerHoldsUpNoOtherCall(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	params := `{"name":"progress","_meta":{"progressToken":1}}`
	release, stuck := make(chan struct{}), make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	go func() {
		_, err := p.Call(t.Context(), Call{
			Server: "bad", Tool: "progress", Params: json.RawMessage(params), Meta: mcp.FindMeta(json.RawMessage(params)),
			Peer: peer{func(string) { once.Do(func() { close(stuck) }); <-release }},
		})
		done <- err
	}()
	<-stuck
	mustCall(t, p, "bad", "echo", okResult)
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestProcessThatIgnoresEverythingIsEndedByForce(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "stubborn"))
	pid := pidOf(t, p, "bad", "pid")
	p.Close()
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
	}
}

func TestWhatAServerStartedGoesWithIt(t *testing.T) {
	t.Parallel()
	t.Run("when we close it", func(t *testing.T) {
		t.Parallel()
		p, _ := newPool(t, nil, badConfig("bad", "plain"))
		child := pidOf(t, p, "bad", "fork")
		p.Close()
		until(t, "the grandchild is gone", func() bool { return !alive(child) })
	})
	t.Run("when it dies", func(t *testing.T) {
		t.Parallel()
		p, _ := newPool(t, nil, badConfig("bad", "plain"))
		child := pidOf(t, p, "bad", "fork")
		_, err := callTool(t.Context(), p, "bad", "die")
		wantFault(t, err, fault.UpstreamDown, "exit status 7")
		until(t, "the grandchild is gone", func() bool { return !alive(child) })
	})
}

func TestClosingDoesNotWaitForAStartThatHangs(t *testing.T) {
	t.Parallel()
	cfg := badConfig("bad", "silent")
	cfg.Start = time.Hour
	p, _ := newPool(t, nil, cfg)
	failed := make(chan error, 1)
	go func() {
		_, err := callTool(t.Context(), p, "bad", "echo")
		failed <- err
	}()
	until(t, "the start is under way", func() bool { return p.Status()[0].State == Starting })
	p.Close()
	wantFault(t, <-failed, fault.UpstreamDown, "server bad was removed")
}

func TestCanceledCallIsCanceledAtTheServer(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	mustCall(t, p, "bad", "echo", okResult)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := callTool(ctx, p, "bad", "never")
		done <- err
	}()
	until(t, "the call is under way", func() bool { return inflight(p, "bad") == 1 })
	cancel()
	wantFault(t, <-done, fault.Canceled)
	mustCall(t, p, "bad", "echo", okResult)
}

func TestSecretOnStderrIsTakenOut(t *testing.T) {
	t.Parallel()
	redact := func(s string) string { return strings.ReplaceAll(s, "cheese", "***") }
	p, _ := newPool(t, &Options{Redact: redact}, badConfig("bad", "plain"))
	_, err := callTool(t.Context(), p, "bad", "die")
	wantFault(t, err, fault.UpstreamDown, "panic: out of ***")
	until(t, "it is down", func() bool { return p.Status()[0].State == Down })
	if st := fmt.Sprint(p.Status()); strings.Contains(st, "cheese") {
		t.Error(st)
	}
}

func TestARestartEndsTheProcessAndTheNextCallStartsAnother(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	before := pidOf(t, p, "bad", "pid")
	if err := p.Restart("bad"); err != nil {
		t.Fatal(err)
	}
	if s := p.Status()[0]; s.State != Idle || s.Sessions != 0 {
		t.Errorf("after the restart it is %+v", s)
	}
	if alive(before) {
		t.Errorf("process %d is still there", before)
	}
	if after := pidOf(t, p, "bad", "pid"); after == before {
		t.Error("it is the same process")
	}
	wantFault(t, p.Restart("none"), fault.NotFound)
}
