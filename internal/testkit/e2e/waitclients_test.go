package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// longCalls is for machines with time: calls take as long as in real life, and what has a limit of time or memory is measured.
var longCalls = flag.Bool("long", false, "calls take as long as in real life, and limits of time and memory are checked")

// nodePatience is how long a script may take.
func nodePatience() time.Duration {
	if *longCalls {
		return 8 * patience
	}
	return patience
}

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
	args := []string{"3500", "3000"} // how long the tools take, and the client waits
	detach := "detach: 2s"
	if *longCalls {
		args = []string{"180000", ""} // clients wait as long as they do
		detach = "detach: auto"
	}
	server := newHeldServer(t, true)
	g := serve(t, write(t, lines("mcpServers:", "  up: {url: "+server.URL+"}", "profiles:", "  default: {names: bare}", detach)))
	for _, c := range []struct{ kind, script string }{{"v1", "wait-v1.mjs"}, {"legacy", "wait-v2.mjs"}, {"modern", "wait-v2.mjs"}} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			said, err := json.Marshal(nodeClient(t, node, c.script, append([]string{g.url + "/mcp"}, append(args, c.kind)...)...))
			if err != nil {
				t.Fatal(err)
			}
			checkCollected(t, server, c.kind, said)
		})
	}
}

// checkCollected looks at what a client says, and how often the server was called for it.
func checkCollected(t *testing.T, server *heldServer, kind string, said []byte) {
	t.Helper()
	var got struct {
		Plain, Structured collectedCall
		Task              collectedTask
		Asked             any // false where the client cannot be asked
	}
	if err := json.Unmarshal(said, &got); err != nil {
		t.Fatal(err)
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
	calls := []string{"hold %s plain", "measure %s structured", "hold %s task"}
	if got.Asked != false {
		if asked := fmt.Sprint(got.Asked); !strings.Contains(asked, "input_required") || !strings.Contains(asked, "ann") {
			t.Errorf("asked: %s", asked)
		}
		calls = append(calls, "ask %s asked", "answer %s asked")
	}
	for _, what := range calls {
		if times := server.saw(fmt.Sprintf(what, kind)); times != 1 {
			t.Errorf("%s came %d times", fmt.Sprintf(what, kind), times)
		}
	}
}

// TestAToolThatRunsOnlyAsATaskIsCalled: its server refuses ordinary calls, and clients without tasks
// make no others.
func TestAToolThatRunsOnlyAsATaskIsCalled(t *testing.T) {
	const research = "everything__simulate-research-query"
	url := "http://127.0.0.1:" + everythingOn(t, "streamableHttp") + "/mcp"
	g := serve(t, write(t, lines("mcpServers:", `  everything: {"url": "`+url+`"}`)))
	for era, revision := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s := connectAs(t, overHTTP(g), revision, &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"interpretation": "snake"}}, nil
				},
			})
			eventually(t, "the tool is listed", func() bool { return slices.Contains(names(t, s), research) })
			if said := callText(t, s, research, map[string]any{"topic": "python"}); !strings.Contains(said, "Stage 4") {
				t.Errorf("it says %s", said)
			}
			if said := callText(t, s, research, map[string]any{"topic": "python", "ambiguous": true}); !strings.Contains(said, "(snake)") {
				t.Errorf("asked, it says %s", said)
			}
		})
	}
}
