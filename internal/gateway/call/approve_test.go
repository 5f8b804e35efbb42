package call

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// apply puts another configuration in force.
func apply(t *testing.T, c *Caller, text string) {
	t.Helper()
	cfg, err := config.Parse("toolfit.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.tools.(*catalog.Catalog).Apply(cfg)
}

// busyEnv makes the server refuse calls of env.
func (w *world) busyEnv() {
	w.servers = fakeSender{call: func(ctx context.Context, m upstream.Call) (upstream.Outcome, error) {
		out, err := w.serve(ctx, m)
		if m.Tool == "env" {
			err = fault.New(fault.UpstreamBusy, "busy")
		}
		return out, err
	}}
}

// TestALimitOfAFallbackGivesNoYesBack: the yes was for the call that was made first.
func TestALimitOfAFallbackGivesNoYesBack(t *testing.T) {
	w := limited(t, `
overrides: [{tool: cloud__env, fallback: [cloud__own]}]
policy: [{name: yes, tools: [cloud__env], then: approve}, {name: own, tools: [cloud__own], limit: 1/h}]
`)
	returned := 0
	w.opts.Approve = func(context.Context, *Permission) (Approved, error) {
		return Approved{By: "eve", Return: func(context.Context) error { returned++; return nil }}, nil
	}
	w.must("ann", "cloud__own", `{}`)
	w.busyEnv()
	if _, err := w.do("ann", "cloud__env", `{}`); !fault.Is(err, fault.UpstreamBusy) || returned != 0 {
		t.Errorf("%v; given back %d times", err, returned)
	}
}

// TestAFallbackThatNeedsAYesSaysWhere: nobody could open the page of a question that its caller does not hear of.
func TestAFallbackThatNeedsAYesSaysWhere(t *testing.T) {
	w := newWorld(t, `
overrides: [{tool: cloud__env, fallback: [cloud__own]}]
policy: [{name: yes, tools: [cloud__own], then: approve}]
`, &Options{Approve: func(context.Context, *Permission) (Approved, error) {
		return Approved{}, fault.New(fault.ApprovalRequired, "open the page")
	}})
	w.busyEnv()
	if _, err := w.do("ann", "cloud__env", `{}`); !fault.Is(err, fault.ApprovalRequired) {
		t.Error(err)
	}
	if last := w.records[0]; last.Tool != "cloud__own" || last.Policy != "approve yes" {
		t.Errorf("recorded %s: %q", last.Tool, last.Policy)
	}
}

// TestARuleOfMeanwhileDenies: a person's yes does not outweigh a rule that came while the call waited for it.
func TestARuleOfMeanwhileDenies(t *testing.T) {
	const server = "mcpServers: {cloud: {command: cloud}}\n"
	var w *world
	w = newWorld(t, "policy: [{name: yes, then: approve}]\n", &Options{Approve: func(context.Context, *Permission) (Approved, error) {
		apply(t, w.Caller, server+"policy: [{name: yes, then: approve}, {name: no, then: deny, say: Not today.}]\n")
		return Approved{By: "eve"}, nil
	}})
	if _, err := w.do("ann", "cloud__env", `{}`); !fault.Is(err, fault.Denied) || fault.As(err).Message != "Not today." || len(w.sent) != 0 {
		t.Errorf("%v, sent %d", err, len(w.sent))
	}
	if got := w.records[0].Policy; got != "approve yes, deny no" {
		t.Errorf("recorded %q", got)
	}
}

// TestACallThatWasApprovedAfterARestartCountsAsSent has a call that waits for a person when its gateway ends. The next gateway
// notes before it sends the call that it does: a third one could not tell otherwise.
func TestACallThatWasApprovedAfterARestartCountsAsSent(t *testing.T) {
	for name, then := range map[string]struct {
		config string
		sent   int
		want   string
	}{
		"approved":         {"mcpServers: {s: {command: s}}\npolicy: [{name: yes, then: approve}]\n", 1, "done"},
		"no rule any more": {"mcpServers: {s: {command: s}}\n", 1, "done"},
		"no tool any more": {"mcpServers: {s: {command: s}}\nprofiles: {default: {tools: {allow: [s__look]}}}\npolicy: [{name: yes, then: approve}]\n", 0, "unknown_tool"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, store.WaitingLimits{})
			apply(t, y.Caller, "mcpServers: {s: {command: s}}\npolicy: [{name: yes, then: approve}]\n")
			var approved atomic.Bool
			y.opts.Approve = func(ctx context.Context, p *Permission) (Approved, error) {
				if approved.Load() {
					return Approved{By: "eve"}, nil
				}
				return Approved{}, p.Wait(ctx, "a person decides", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			}
			row := func() store.Waiting {
				w, err := y.store.Waiting(context.Background(), "", y.handles[0].ID)
				if err != nil {
					t.Error(err)
				}
				return w
			}
			y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) {
				if w := row(); rawjson.Get(w.Body, "person") != nil || w.For != store.ForServer || w.Message != "" || w.Again {
					t.Errorf("for whoever goes on it was not sent: for %s, %q, again %t, %s", w.For, w.Message, w.Again, w.Body)
				}
				return textResult("done"), nil
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() { y.do(context.Background(), "s__act", AsTask, `{}`) })
			for waits := false; !waits; time.Sleep(time.Millisecond) {
				y.mu.Lock()
				waits = len(y.handles) == 1
				y.mu.Unlock()
			}
			if w := row(); w.For != store.ForPerson || w.Message != "a person decides" {
				t.Fatalf("%+v", w)
			}
			y.calls.Close()
			approved.Store(true)
			apply(t, y.Caller, then.config)
			next := waiting.New(y.store, &waiting.Options{GoOn: y.GoOn})
			defer next.Close()
			ctx, stop := context.WithCancel(t.Context())
			wg.Go(func() { next.Run(ctx) })
			defer stop()
			w, err := next.Wait(t.Context(), "", y.handles[0].ID, 10*time.Second)
			if err != nil || !w.Ended() || !strings.Contains(string(w.Answer), then.want) || len(y.sent) != then.sent {
				t.Errorf("%+v, %s, sent %d, %v", w.State, w.Answer, len(y.sent), err)
			}
		})
	}
}

// TestAYesWhileTheCallIsDetached: who waits for a person and the one who answers the request do not get in each other's way.
func TestAYesWhileTheCallIsDetached(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	apply(t, y.Caller, "mcpServers: {s: {command: s}}\ndetach: 1s\npolicy: [{name: yes, then: approve}]\n")
	y.opts.Approve = func(ctx context.Context, p *Permission) (Approved, error) {
		err := p.Wait(ctx, "a person decides", func(context.Context) error { time.Sleep(1100 * time.Millisecond); return nil })
		return Approved{By: "eve"}, err
	}
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) { return textResult("done"), nil }
	if _, err := y.do(t.Context(), "s__act", NoTask, `{}`); err != nil {
		t.Error(err)
	}
	w := y.ended()
	wantText(t, &w, "done")
}
