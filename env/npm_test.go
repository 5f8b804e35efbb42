package env_test

import (
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var lab = flag.Bool("lab", false, "let the Inspector call every tool instead of one")

// allCalls are calls of every tool that succeed when they are made in this order.
var allCalls = []struct{ tool, args string }{
	{"get_description", `{}`}, {"list_profiles", `{}`}, {"get_profile", `{"id":"day"}`},
	{"list_agents", `{"role":"sub"}`}, {"get_agent", `{"id":"runner","profileId":"day"}`},
	{"query_logs", `{"level":"info","limit":5,"since":"2026-01-01T00:00:00Z"}`},
	{"delete_session", `{"id":"ses_n"}`}, {"create_session", `{"id":"ses_n","metadata":{"k":1}}`}, {"get_session", `{"id":"ses_n"}`},
	{"list_sessions", `{"metadata":{"k":1}}`}, {"update_session", `{"id":"ses_n","title":"新"}`},
}

// served serves the environment with everything over HTTP.
func served(t *testing.T) string {
	t.Helper()
	server, err := env.NewServer(&shop{logs: []env.LogEntry{{Timestamp: at(1), Level: env.LevelWarn, Message: "m"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	t.Cleanup(server.Close)
	return web.URL
}

func TestTheTypeScriptClientsCallEveryTool(t *testing.T) {
	node := testparts.Need(t)
	pairs := []any{}
	for _, c := range allCalls {
		pairs = append(pairs, []any{c.tool, json.RawMessage(c.args)})
	}
	for _, tt := range []struct{ name, script, mode string }{
		{"version 1", "testdata/all-tools-v1.mjs", ""},
		{"version 2, legacy", "testdata/all-tools-v2.mjs", "legacy"},
		{"version 2, by itself", "testdata/all-tools-v2.mjs", "auto"},
		{"version 2, modern", "testdata/all-tools-v2.mjs", "modern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script, err := os.Open(tt.script)
			if err != nil {
				t.Fatal(err)
			}
			defer script.Close()
			// Read from its input, the script finds the packages in the folder that it runs in.
			cmd := exec.CommandContext(t.Context(), node.Program(), "--input-type=module", "-", served(t), asJSON(t, pairs), tt.mode)
			cmd.Dir, cmd.Stdin = node.Dir(), script
			out, err := cmd.CombinedOutput()
			var answers map[string][]string
			if err != nil || json.Unmarshal(out, &answers) != nil || len(answers) != len(everything) {
				t.Fatalf("%v\n%s", err, out)
			}
			for name, got := range answers {
				if strings.Join(got, " ") != "ok ok" {
					t.Errorf("%s: got %v", name, got)
				}
			}
		})
	}
}

func TestTheInspectorCallsTools(t *testing.T) {
	node := testparts.Need(t)
	url := served(t)
	home := t.TempDir() // it keeps a file there
	calls := [][]string{
		{"get_description"}, {"list_profiles"}, {"get_profile", "id=day"}, {"list_agents", "role=sub"}, {"get_agent", "id=runner"},
		{"query_logs", "limit=5", "level=info"}, {"create_session", "id=ses_n"}, {"get_session", "id=ses_n"}, {"list_sessions", "limit=5"},
		{"update_session", "id=ses_n", "title=x"}, {"delete_session", "id=ses_n"},
	}
	if !*lab {
		calls = calls[5:6] // each takes a second
	}
	for _, call := range calls {
		args := []string{"--cli", url, "--transport", "http", "--method", "tools/call", "--tool-name", "env/" + call[0]}
		for _, arg := range call[1:] {
			args = append(args, "--tool-arg", arg)
		}
		command := node.Command("mcp-inspector", args...)
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"structuredContent"`) {
			t.Errorf("%v: %v\n%s", call, err, out)
		}
	}
}
