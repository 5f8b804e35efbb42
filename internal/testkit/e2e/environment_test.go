package e2e

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var allInspected = flag.Bool("inspect-all", false, "let the Inspector call every tool of the environment instead of one")

const environmentYAML = `
mcpServers: {shop: {builtin: demo-shop}}
models: {m: {url: "http://127.0.0.1:1/v1"}}
profiles: {default: {}, old: {envNames: both}}
agents: {helper: {available_tools: ["shop__*"]}, scout: {role: sub}}
`

// environmentCalls are calls of every tool that succeed when they are made in this order.
var environmentCalls = []struct{ tool, args string }{
	{"get_description", `{}`}, {"list_profiles", `{}`}, {"get_profile", `{"id":"default"}`},
	{"list_agents", `{"role":"sub"}`}, {"get_agent", `{"id":"helper","profileId":"default"}`},
	{"delete_session", `{"id":"ses_n"}`}, {"create_session", `{"id":"ses_n","metadata":{"k":1,"深":{"a":[true]}}}`},
	{"get_session", `{"id":"ses_n"}`},
	{"list_sessions", `{"metadata":{"k":1}}`}, {"update_session", `{"id":"ses_n","title":"新"}`},
	{"query_logs", `{"level":"debug","limit":5,"since":"2026-01-01T00:00:00Z"}`},
}

func TestTypeScriptClientsCallEveryToolOfTheGatewaysEnvironment(t *testing.T) {
	node := testparts.Need(t)
	g := serve(t, write(t, environmentYAML))
	for _, tt := range []struct{ name, script, path, prefix, mode string }{
		{"version 1", "env-v1.mjs", "/mcp/default/env", "env_", ""},
		{"version 1, with the slash", "env-v1.mjs", "/mcp/old/env", "env/", ""},
		{"version 2, legacy", "env-v2.mjs", "/mcp/default/env", "env_", "legacy"},
		{"version 2, by itself", "env-v2.mjs", "/mcp/old/env", "env/", "auto"},
		{"version 2, modern", "env-v2.mjs", "/mcp/default/env", "env_", "modern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls []any
			for _, c := range environmentCalls {
				calls = append(calls, []any{tt.prefix + c.tool, json.RawMessage(c.args)})
			}
			text, err := json.Marshal(calls)
			if err != nil {
				t.Fatal(err)
			}
			said := nodeClient(t, node, tt.script, g.url+tt.path, string(text), tt.mode)
			answers := said["answers"].(map[string]any)
			if len(answers) != len(environmentCalls) {
				t.Errorf("%d answers", len(answers))
			}
			for name, got := range answers {
				if got != "ok" {
					t.Errorf("%s: %v", name, got)
				}
			}
			if n := len(said["tools"].([]any)); tt.path == "/mcp/default/env" && n != 9+11 || tt.path == "/mcp/old/env" && n != 9+22 {
				t.Errorf("%d tools", n)
			}
		})
	}
}

func TestTheInspectorCallsToolsOfTheGatewaysEnvironment(t *testing.T) {
	node := testparts.Need(t)
	g := serve(t, write(t, environmentYAML))
	calls := environmentCalls
	if !*allInspected {
		calls = calls[len(calls)-1:] // each takes a second
	}
	home := t.TempDir() // it keeps a file there
	for _, c := range calls {
		args := []string{"--cli", g.url + "/mcp/default/env", "--transport", "http", "--method", "tools/call", "--tool-name", "env_" + c.tool}
		var given map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.args), &given); err != nil {
			t.Fatal(err)
		}
		for name, value := range given {
			args = append(args, "--tool-arg", name+"="+strings.Trim(string(value), `"`))
		}
		command := node.Command("mcp-inspector", args...)
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"structuredContent"`) {
			t.Errorf("%s: %v\n%s", c.tool, err, out)
		}
	}
}

func TestAnEnvironmentBehindTheGatewayIsOneOfItsServers(t *testing.T) {
	inner := write(t, environmentYAML)
	g := serve(t, write(t, "mcpServers: {inner: "+entry([]string{program(t), "stdio", "--env", "--config",
		inner})+"}\nprofiles: {default: {names: bare}}\n"))
	c, err := env.Dial(t.Context(), g.url+"/mcp/default/env", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d, err := c.Description(t.Context())
	if err != nil || len(d.Profiles) != 1 || !d.Capabilities.Events {
		t.Errorf("%+v, %v: the gateway's own answers", d, err)
	}
	var theirs env.EnvDescription
	if err := c.Call(t.Context(), "inner__env_get_description", struct{}{}, &theirs); err != nil || len(theirs.Profiles) != 2 ||
		theirs.Capabilities.Events {
		t.Errorf("%+v, %v: the other is there beside it, under its server's name", theirs, err)
	}
}

func TestSessionsAndLogsOutliveTheGateway(t *testing.T) {
	path := write(t, environmentYAML)
	first := run(t, path)
	c, err := env.Dial(t.Context(), first.url+"/mcp/default/env", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateSession(t.Context(), env.SessionOptions{ID: "ses_k", Title: "kept"}); err != nil {
		t.Fatal(err)
	}
	if err := first.Process.Kill(); err != nil { // in the middle of everything
		t.Fatal(err)
	}
	<-first.exited
	second := run(t, path)
	c, err = env.Dial(t.Context(), second.url+"/mcp/default/env", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s, err := c.GetSession(t.Context(), "ses_k"); err != nil || s.Title != "kept" {
		t.Errorf("%+v, %v", s, err)
	}
}
