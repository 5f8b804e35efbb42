package e2e

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

func TestToolsAreListedAfterARestartBeforeAnyServerIsUp(t *testing.T) {
	path := write(t, lines("mcpServers:", "  raw: "+fake("odd")))
	first := serve(t, path)
	before := names(t, connect(t, overHTTP(first), nil))
	if !slices.Equal(before, []string{"raw__odd", "raw__tasky", "fetch_result"}) {
		t.Fatalf("listed %v", before)
	}
	first.stop()

	// The same server now starts and never answers: whoever waited for it would wait for long.
	rewrite(t, path, lines("mcpServers:", "  raw: "+fake("silent")))
	second := serve(t, path)
	began := time.Now()
	if after := names(t, connect(t, overHTTP(second), nil)); !slices.Equal(before, after) {
		t.Errorf("listed %v, and %v after a restart", before, after)
	}
	if took := time.Since(began); took >= 20*time.Second { // for which a list waits that nobody knows
		t.Errorf("the list took %s", took)
	}
}

func TestADeadServerHidesNoOtherAndIsShownAsDownWithItsReason(t *testing.T) {
	g := serve(t, write(t, lines("mcpServers:",
		"  absent: {command: there-is-no-such-command}",
		"  broken: "+entry([]string{os.Args[0], "-test.run=^$"}), // ends at once
		"  raw: "+fake("odd"),
	)))
	if all := names(t, connect(t, overHTTP(g), nil)); !slices.Equal(all, []string{"raw__odd", "raw__tasky", "fetch_result"}) {
		t.Errorf("listed %v", all)
	}
	all := servers(t, g.url)
	if s := all["raw"]; s.State == upstream.Down || s.Tools != 2 {
		t.Errorf("raw is %+v", s)
	}
	for _, id := range []string{"absent", "broken"} {
		if s := all[id]; s.State != upstream.Down || s.Reason == "" {
			t.Errorf("%s is %+v", id, s)
		}
	}
}

func TestAChangeOfAServersListReachesConnectedClients(t *testing.T) {
	transports := map[string]func(*testing.T, string) mcp.Transport{
		"http":  func(t *testing.T, path string) mcp.Transport { return overHTTP(serve(t, path)) },
		"stdio": func(t *testing.T, path string) mcp.Transport { return overStdio(t, path) },
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			path := write(t, lines("mcpServers:", "  raw: "+fake("growing")))
			changed := make(chan struct{}, 10)
			s := connect(t, transport(t, path), &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			if all := names(t, s); !slices.Equal(all, []string{"raw__grow", "fetch_result"}) {
				t.Fatalf("listed %v", all)
			}
			callText(t, s, "raw__grow", map[string]any{})
			awaitList(t, s, changed, "raw__grow", "raw__grown", "fetch_result")
		})
	}
}

func TestAChangeOfAnHTTPServersListReachesConnectedClients(t *testing.T) {
	up, url := sdkServer(t)
	changed := make(chan struct{}, 10)
	s := connect(t, overHTTP(serve(t, write(t, lines("mcpServers:", `  sdk: {"url":"`+url+`"}`)))), &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	if all := names(t, s); !slices.Equal(all, []string{"sdk__first", "fetch_result"}) {
		t.Fatalf("listed %v", all)
	}
	add(up, "second")
	awaitList(t, s, changed, "sdk__first", "sdk__second", "fetch_result")
}

// awaitList lists each time the client is told of a change, until the list is the one
// wanted. The first list of all may be such a change as well: the client may have
// connected before it came.
func awaitList(t *testing.T, s *mcp.ClientSession, changed <-chan struct{}, want ...string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the client was not told of %v", want)
		}
		if slices.Equal(names(t, s), want) {
			return
		}
	}
}
