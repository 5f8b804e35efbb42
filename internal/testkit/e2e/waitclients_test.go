package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// longCalls runs the calls of TestClientsCollectWhatTakesLong as long as they take in real life.
var longCalls = flag.Bool("long", false, "calls take three minutes, and clients give up after one")

// collectedCall is what a client says of a call that it collected with fetch_result.
type collectedCall struct {
	IsError            bool
	Said, Code, Result string
}

// collectedTask is what it says of one that it followed as a task.
type collectedTask struct {
	Events []string
	Result string
}

// TestClientsCollectWhatTakesLong: the official clients, with tools that take longer than they wait for.
func TestClientsCollectWhatTakesLong(t *testing.T) {
	node := testparts.Need(t)
	ms := "3500"
	timeout := "3000"
	detach := "detach: 2s"
	if *longCalls {
		ms, timeout, detach = "180000", "", "" // as everybody has them
	}
	server := newHeldServer(t, true)
	g := serve(t, write(t, lines("mcpServers:", "  up: {url: "+server.URL+"}", "profiles:", "  default: {names: bare}", detach)))
	if *longCalls {
		nodePatience = 10 * patience
	}
	for _, c := range []struct{ name, script, mode string }{
		{"TypeScript SDK 1", "wait-v1.mjs", ""},
		{"TypeScript SDK 2, legacy", "wait-v2.mjs", "legacy"},
		{"TypeScript SDK 2, modern", "wait-v2.mjs", "modern"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			said, err := json.Marshal(nodeClient(t, node, c.script, g.url+"/mcp", ms, timeout, c.mode))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Plain, Structured collectedCall
				Task, Asked       collectedTask
			}
			if err := json.Unmarshal(said, &got); err != nil {
				t.Fatal(err)
			}
			kind := strings.TrimSpace(c.mode)
			if kind == "" {
				kind = "v1"
			}
			if got.Plain.IsError || !strings.Contains(got.Plain.Said, "still running") || got.Plain.Result != "done "+kind+" plain" {
				t.Errorf("plain: %+v", got.Plain)
			}
			if !got.Structured.IsError || got.Structured.Code != "still_running" || got.Structured.Result != "done "+kind+" structured" {
				t.Errorf("structured: %+v", got.Structured)
			}
			if !slices.Contains(got.Task.Events, "working") || got.Task.Result != "done "+kind+" task" {
				t.Errorf("task: %+v", got.Task)
			}
			if !slices.Contains(got.Asked.Events, "input_required") || !strings.Contains(got.Asked.Result, "ann") {
				t.Errorf("asked: %+v", got.Asked)
			}
			for _, what := range []string{"hold %s plain", "measure %s structured", "hold %s task", "ask %s asked", "answer %s asked"} {
				if times := server.saw(fmt.Sprintf(what, kind)); times != 1 {
					t.Errorf("%s came %d times", fmt.Sprintf(what, kind), times)
				}
			}
		})
	}
}
