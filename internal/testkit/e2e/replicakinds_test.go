package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// kindsConfig has a tool whose results are cut, and a profile with a search instead of a list.
func kindsConfig(store, url string) string {
	return lines("store: "+store, "mcpServers:", "  up: {url: "+url+"}", "results: [{tool: up__big, keep: 'items(id)'}]",
		"profiles:", "  default: {names: bare}", "  find: {names: bare, search: on}")
}

// TestEveryKindOfRequestOnAnyReplica: clients do everything in turn, through a balancer without affinity. What the
// clients of the Go SDK do beside that is in TestAnyReplicaServesAnyClient.
func TestEveryKindOfRequestOnAnyReplica(t *testing.T) {
	server := newCurious(t)
	yaml := kindsConfig(testparts.NeedPostgres(t).Schema(t), server.url)
	var urls []string
	for range 3 {
		g := replica(t, yaml, 0)
		urls = append(urls, g.url)
		s := connectAs(t, overHTTP(g), eras["legacy"], nil)
		eventually(t, "the tools are listed", func() bool { return len(names(t, s)) > 5 })
	}
	front := balancer(t, urls...)
	for _, kind := range []string{"v1", "legacy", "modern"} {
		t.Run("TypeScript, "+kind, func(t *testing.T) {
			said := nodeClient(t, testparts.Need(t), "kinds.mjs", front.url, kind)
			checkKinds(t, said, kind == "modern")
			for range 4 {
				select {
				case <-server.canceled:
				case <-time.After(10 * time.Second):
					t.Fatal("the server never heard that the call was canceled")
				}
			}
		})
	}
	for era, revision := range eras {
		t.Run("Go, "+era, func(t *testing.T) {
			s := connectAs(t, overHTTP(front), revision, answering())
			finder := connectAs(t, &mcp.StreamableClientTransport{Endpoint: front.url + "/mcp/find", HTTPClient: plainStreams}, revision, nil)
			for range 4 {
				cut := callText(t, s, "big", map[string]any{})
				ref := regexp.MustCompile(`r_[a-z2-9]+`).FindString(cut)
				if got := callText(t, s, "fetch_result", map[string]any{"ref": ref, "fields": "items(note)"}); !strings.Contains(got, "note 2") {
					t.Errorf("fetch_result of %s: %s", cut, got)
				}
				if got := callText(t, finder, "find_tools", map[string]any{"query": "count slowly"}); !strings.Contains(got, "count") {
					t.Errorf("find_tools: %s", got)
				}
				if got := callText(t, finder, "call_tool", map[string]any{"name": "plain", "arguments": map[string]any{}}); got != "plain" {
					t.Errorf("call_tool: %s", got)
				}
			}
		})
	}
	for _, url := range urls {
		t.Run("a modern client's subscription at "+url, func(t *testing.T) { modernHears(t, url, front.url) })
	}
}

// checkKinds looks at what the script says, four times of each kind.
func checkKinds(t *testing.T, said map[string]any, modern bool) {
	t.Helper()
	for kind, want := range map[string]any{
		"list": true, "call": "plain", "elicitation": "hello ann", "sampling": "Paris", "progress": 3, "cancel": "canceled",
		"fetch_result": true, "find_tools": true, "call_tool": "plain", "subscribe": true,
	} {
		all := []any{want, want, want, want}
		if kind == "subscribe" && modern {
			all = []any{} // it has none of its own; see modernHears
		}
		expected, _ := json.Marshal(all) // plain values
		got, _ := json.Marshal(said[kind])
		if string(got) != string(expected) {
			t.Errorf("%s: %s, want %s", kind, got, expected)
		}
	}
}

// modernHears listens at one gateway for a change that is made through any.
func modernHears(t *testing.T, url, front string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	params := `{"_meta":` + modernMeta + `,"notifications":{"resourceSubscriptions":["test://watched"]}}`
	resp, err := modernPost(ctx, url, "subscriptions/listen", "", params)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReader(resp.Body)
	if _, first := event(t, in); !strings.Contains(first, "acknowledged") {
		t.Fatal(first)
	}
	if text, err := modernCall(front, "touch", `{}`, ""); err != nil || !strings.Contains(text, "touched") {
		t.Fatal(text, err)
	}
	if _, heard := event(t, in); !strings.Contains(heard, "test://watched") {
		t.Error(fmt.Sprint("heard ", heard))
	}
}
