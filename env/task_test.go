package env

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
)

func newTask(t *testing.T, req *mcp.Request) *task {
	t.Helper()
	set := newTasks(time.Hour)
	t.Cleanup(set.close)
	made, err := set.add(t.Context(), req, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestTaskStates holds in any order of events: a task waits for input exactly while it has questions,
// keys are never used again, and a final state stays.
func TestTaskStates(t *testing.T) {
	req := &mcp.Request{Meta: &mcp.Meta{}}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		made := newTask(t, req)
		seen := map[string]bool{}
		var asked []*waiting
		final := ""
		for range 40 {
			switch random.IntN(12) {
			case 0, 1, 2, 3:
				asked = made.put(make([]Question, random.IntN(3)))
				for _, w := range asked {
					if seen[w.key] {
						t.Fatalf("seed %d: key %s twice", seed, w.key)
					}
					seen[w.key] = true
				}
			case 4, 5, 6, 7:
				made.answer(fmt.Sprintf("q%d", 1+random.IntN(10)), json.RawMessage("{}"), nil)
			case 8, 9:
				made.withdraw(asked)
			case 10:
				made.progress(t.Context(), "step")
			case 11:
				made.end([]string{taskCompleted, taskFailed, taskCancelled}[random.IntN(3)], nil, nil)
			}
			state := made.seen(req)
			if final != "" && state.Status != final {
				t.Fatalf("seed %d: from %s to %s", seed, final, state.Status)
			}
			if made.isFinal() {
				final = state.Status
			}
			if (state.Status == taskAsking) != (len(state.Questions) > 0) {
				t.Fatalf("seed %d: %s with %d questions", seed, state.Status, len(state.Questions))
			}
		}
	}
}

func TestATaskWorksOnWhenItsQuestionIsWithdrawn(t *testing.T) {
	req := &mcp.Request{Meta: &mcp.Meta{}}
	made := newTask(t, req)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := made.ask(ctx, []Question{{Method: "roots/list"}})
		ended <- err
	}()
	for made.seen(req).Status != taskAsking {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err == nil || made.seen(req).Status != taskWorking {
		t.Errorf("got %v, %s", err, made.seen(req).Status)
	}
}

// peer counts what it is asked.
type peer struct {
	mcp.Peer
	mu    sync.Mutex
	asked int
}

func (p *peer) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return json.RawMessage(`{"action":"decline"}`), nil
}

func TestManyWhoWaitForAResultAskOnce(t *testing.T) {
	made := newTask(t, &mcp.Request{Session: &mcp.Session{}})
	client := &peer{}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if raw, err := made.await(t.Context(), client); err != nil || raw == nil {
				t.Errorf("got %s, %v", raw, err)
			}
		})
	}
	made.run(func(ctx context.Context) (any, error) {
		q := Question{Method: "roots/list", Params: json.RawMessage("{}")}
		answers, err := made.ask(ctx, []Question{q, q, q, q, q})
		return len(answers), err
	})
	all.Wait()
	if client.asked != 5 {
		t.Errorf("asked %d times", client.asked)
	}
}

type unwritable struct{}

func (unwritable) MarshalJSON() ([]byte, error) { panic("no") }

func TestAResultThatCannotBeWrittenFailsTheTask(t *testing.T) {
	for name, result := range map[string]any{"panics": unwritable{}, "no JSON": func() {}, "no object": RawResult("[]")} {
		req := &mcp.Request{Meta: &mcp.Meta{}}
		made := newTask(t, req)
		made.run(func(context.Context) (any, error) { return result, nil })
		state := made.seen(req)
		if (state.Status == taskFailed) != (name == "panics") || !made.isFinal() {
			t.Errorf("%s: got %+v", name, state)
		}
	}
}
