package call

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The question of the attempt that was lost must not keep the call waiting. For limits it is one call.
func TestACallThatIsSentAgainAsksAnew(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	cfg, err := config.Parse("toolfit.yaml", []byte("mcpServers: {s: {command: s}}\npolicy: [{name: all, limit: 1/h}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	y.tools.(*catalog.Catalog).Apply(cfg)
	y.opts.Count = access.NewLimits(y.store, nil).Count
	y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
		said, err := c.Peer.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"name?"}`))
		return upstream.Outcome{Raw: json.RawMessage(`{"content":[],"said":` + string(said) + `}`)}, err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { y.do(context.Background(), "s__look", AsTask, `{}`) })
	var id string
	for id == "" {
		time.Sleep(time.Millisecond)
		y.mu.Lock()
		if len(y.handles) == 1 {
			id = y.handles[0].ID
		}
		y.mu.Unlock()
	}
	if w, err := y.calls.Wait(t.Context(), "ann", id, 5*time.Second); err != nil || w.State != store.InputRequired {
		t.Fatalf("%+v, %v", w, err)
	}
	y.calls.Close()
	next := waiting.New(y.store, &waiting.Options{GoOn: y.GoOn})
	defer next.Close()
	ctx, stop := context.WithCancel(t.Context())
	wg.Go(func() { next.Run(ctx) })
	defer stop()
	var q waiting.Questions
	for end := time.Now().Add(5 * time.Second); q.Used < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		w, err := next.Get(t.Context(), "ann", id)
		if err != nil {
			t.Fatal(err)
		}
		q = waiting.ReadQuestions(&w)
	}
	if len(q.Open) != 1 || q.Open[0].Key != "q2" {
		t.Fatalf("open: %+v", q)
	}
	if _, err := next.Answer(t.Context(), "ann", id, map[string]json.RawMessage{"q2": json.RawMessage(`{"action":"accept"}`)}); err != nil {
		t.Fatal(err)
	}
	w, err := next.Wait(t.Context(), "ann", id, 5*time.Second)
	if err != nil || w.State != store.Completed || !strings.Contains(string(w.Answer), "accept") || w.Attempt < 2 { // the one that closes may claim it once more
		t.Errorf("%+v, %s, %v", w, w.Answer, err)
	}
}
