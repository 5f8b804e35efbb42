package upstream

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestBreakerLeavesAServerAloneAndTriesItAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	g := newGate(config.Server{ID: "s", Breaker: config.Breaker{Failures: 2, Pause: 10 * time.Second}}, func() time.Time { return now })
	ctx := t.Context()
	down := fault.New(fault.UpstreamDown, "server s is down")
	call := func(result error) error {
		if err := g.enter(ctx); err != nil {
			return err
		}
		g.leave(ctx, result)
		return nil
	}
	for range 2 {
		if err := call(down); err != nil {
			t.Fatalf("turned away too early: %v", err)
		}
	}
	if err := call(nil); !fault.Is(err, fault.UpstreamDown) {
		t.Fatalf("after two failures: %v", err)
	}
	now = now.Add(11 * time.Second)
	if err := g.enter(ctx); err != nil {
		t.Fatalf("no try after the pause: %v", err)
	}
	if err := g.enter(ctx); err == nil {
		t.Fatal("a second call passed while one finds out")
	}
	g.leave(ctx, nil)
	if err := call(nil); err != nil {
		t.Fatalf("the server works again: %v", err)
	}
}

func TestBreakerDoesNotCountWhatIsNotTheServersFault(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		err error
	}{
		"a caller that left":              {gone, context.Canceled},
		"a person who was slow to answer": {late, marked(context.DeadlineExceeded, noVerdict)},
		"an error of the server's own":    {t.Context(), errors.New("unknown tool")},
		"a limit of ours that is reached": {t.Context(), fault.New(fault.UpstreamBusy, "busy")},
	} {
		g := newGate(config.Server{ID: "s", Breaker: config.Breaker{Failures: 1, Pause: time.Hour}}, time.Now)
		if err := g.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.leave(c.ctx, c.err)
		if err := g.enter(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsOverTheLimitWaitAndTooManyAreTurnedAway(t *testing.T) {
	g := newGate(config.Server{ID: "s", Concurrency: 1, Queue: 1}, time.Now)
	ctx := t.Context()
	if err := g.enter(ctx); err != nil {
		t.Fatal(err)
	}
	entered := make(chan error, 1)
	go func() { entered <- g.enter(ctx) }()
	for {
		if waiting, _, _ := g.state(); waiting == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := g.enter(ctx); !fault.Is(err, fault.UpstreamBusy) {
		t.Errorf("the third call: %v", err)
	}
	g.leave(ctx, nil)
	if err := <-entered; err != nil {
		t.Errorf("the second call: %v", err)
	}
	g.leave(ctx, nil)
}

func TestReasonOfAnOpenBreakerIsRedacted(t *testing.T) {
	p := New(&Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "***") }})
	defer p.Close()
	p.Apply([]config.Server{{ID: "s", Command: "x", Breaker: config.Breaker{Failures: 1, Pause: time.Hour}}})
	s, err := p.server("s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.gate.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.gate.leave(t.Context(), fault.New(fault.UpstreamDown, "token hush is wrong"))
	if st := p.Status()[0]; st.State != Down || st.Reason != "token *** is wrong" {
		t.Errorf("got %+v", st)
	}
}
