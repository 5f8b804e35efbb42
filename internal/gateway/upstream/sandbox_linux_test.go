package upstream

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/sandbox"
)

func TestASandboxedServerIsRestartedAndEndedLikeOthers(t *testing.T) {
	if _, err := sandbox.Way(false); err != nil {
		t.Skip(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	folders := func() int {
		entries, err := os.ReadDir(temporary)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, net := range []bool{true, false} {
		cfg := badConfig("bad", "plain")
		cfg.Sandbox = &sandbox.Rules{Net: net}
		p, clock := newPool(t, nil, cfg)
		child := pidOf(t, p, "bad", "fork")
		if n := folders(); n != 1 {
			t.Errorf("it has %d temporary folders", n)
		}
		_, err := callTool(t.Context(), p, "bad", "die")
		wantFault(t, err, fault.UpstreamDown, "exit status 7", "out of cheese")
		until(t, "the grandchild is gone", func() bool { return !alive(child) })
		until(t, "the temporary folder is gone", func() bool { return folders() == 0 })

		clock.advance(time.Hour) // past the backoff
		mustCall(t, p, "bad", "echo", okResult)
		if way := p.Status()[0].Sandbox; !strings.HasPrefix(way, "files by Landlock, network ") {
			t.Errorf("the status says %q", way)
		}
		server, child := pidOf(t, p, "bad", "pid"), pidOf(t, p, "bad", "fork")
		p.Close()
		if alive(server) || alive(child) || folders() != 0 {
			t.Errorf("alive: server %v, grandchild %v; %d folders", alive(server), alive(child), folders())
		}
	}
}

func TestAServerThatLacksAFileSaysWhich(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.Way(true); err != nil {
		t.Skip(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := badConfig("bad", "plain")
	cfg.Command, cfg.Args = "sh", []string{"-c", "cat " + secret}
	cfg.Sandbox = &sandbox.Rules{Net: true}
	p, _ := newPool(t, nil, cfg)
	_, err := callTool(t.Context(), p, "bad", "echo")
	wantFault(t, err, fault.UpstreamDown, secret+": Permission denied")
	if hint := fault.As(err).Hint; !strings.Contains(hint, "add that to read or write in sandbox of bad") {
		t.Errorf("the hint is %q", hint)
	}
}

func TestAServerWithoutTheSandboxThatItShouldHaveIsNotStarted(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	cfg := badConfig("bad", "plain")
	cfg.Command, cfg.Args = "sh", []string{"-c", "echo >" + ran}
	cfg.Sandbox = &sandbox.Rules{Write: []string{filepath.Dir(ran), ran + "/none"}}
	p, _ := newPool(t, nil, cfg)
	_, err := callTool(t.Context(), p, "bad", "echo")
	wantFault(t, err, fault.UpstreamDown, "server bad cannot be started: ")
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}
