package app_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

const environmentFile = `
store: t.db
mcpServers: {shop: {builtin: demo-shop}, other: {builtin: demo-shop}}
models: {m: {url: "http://127.0.0.1:1/v1"}}
profiles:
  default: {servers: [shop]}
  open: {servers: [shop], env: true, envNames: both, names: bare, budget: 100, paging: true, output: strict, search: "on"}
  old: {servers: [shop], envNames: slash, tools: {deny: ["env_delete_session"]}}
  strict: {servers: [shop], env: true, dialect: openai-strict}
agents:
  clerk: {available_tools: ["shop__list_orders"]}
  finder: {profile: open, available_tools: ["shop__*order*"]}
`

// listed are the names in a list of tools.
func listed(t *testing.T, answer string) (names []string) {
	t.Helper()
	var a struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatal(err)
	}
	for _, tool := range a.Result.Tools {
		if strings.HasPrefix(tool.Name, "env") && tool.OutputSchema == nil {
			t.Errorf("%s promises nothing", tool.Name)
		}
		names = append(names, tool.Name)
	}
	return names
}

func count(names []string, prefix string) (n int) {
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

func TestEnvironmentToolsAreListedWhereTheyAreAskedFor(t *testing.T) {
	h := host(t, environmentFile)
	for _, tt := range []struct {
		who, path                string
		underscore, slash, other int // how many of each
	}{
		{"root", "/mcp/default", 0, 0, 9},
		{"root", "/mcp/default/env", 11, 0, 9},
		{"root", "/mcp/old", 0, 0, 9},
		{"root", "/mcp/old/env", 0, 10, 9},
		{"root", "/mcp/open", 11, 11, 4},
		{"root", "/mcp/open/env", 11, 11, 4},
		{"root", "/mcp/strict", 11, 0, 9},
		{"eye", "/mcp/default/env", 8, 0, 0},
	} {
		names := listed(t, h.modern(t, tt.who, tt.path, "tools/list", `{}`))
		underscore := count(names, "env_")
		slash := count(names, "env/")
		if got := len(names) - underscore - slash; underscore != tt.underscore || slash != tt.slash || got != tt.other {
			t.Errorf("%s %s: %q", tt.who, tt.path, names)
		}
		if slices.Sort(names); len(slices.Compact(names)) != len(names) {
			t.Errorf("%s: a name is listed twice", tt.path)
		}
	}
}

func TestBothNamesOfAnEnvironmentToolCanBeCalledInBothEras(t *testing.T) {
	h := host(t, environmentFile)
	for _, path := range []string{"/mcp/default/env", "/mcp/old/env", "/mcp/open", "/mcp/open/env", "/mcp/strict"} {
		old := h.dial(t, "root", path)
		for _, name := range []string{"env_get_description", "env/get_description"} {
			var d env.EnvDescription
			if err := old.Call(t.Context(), name, struct{}{}, &d); err != nil || d.ID != "toolfit" || len(d.Profiles) != 4 {
				t.Errorf("%s %s: %+v, %v", path, name, d, err)
			}
			if got := h.modern(t, "root", path, "tools/call", `{"name":"`+name+`","arguments":{}}`); !strings.Contains(got,
				`"resultType":"complete"`) || !strings.Contains(got, `"structuredContent":{"id":"toolfit"`) {
				t.Errorf("%s %s: %.300s", path, name, got)
			}
		}
	}
	for _, path := range []string{"/mcp/default", "/mcp/old"} {
		if got := h.modern(t, "root", path, "tools/call", `{"name":"env_get_description"}`); !strings.Contains(got, "unknown tool") {
			t.Errorf("%s: what is not shown cannot be called: %s", path, got)
		}
	}
	if got := h.modern(t, "root", "/mcp/old/env", "tools/call",
		`{"name":"env/delete_session","arguments":{"id":"ses_1"}}`); !strings.Contains(got, "unknown tool") {
		t.Errorf("what is denied under one name is under the other: %s", got)
	}
}

func TestARefusalOfAnEnvironmentToolHasTheProtocolsForm(t *testing.T) {
	h := host(t, environmentFile)
	for args, want := range map[string]string{`{"limit":0}`: "limit", `{"limit":1001}`: "limit", `{"who":1}`: "who",
		`{"since":"x"}`: "since", `[]`: ""} {
		got := h.modern(t, "root", "/mcp/default/env", "tools/call", `{"name":"env_query_logs","arguments":`+args+`}`)
		if want != "" && (!strings.Contains(got, `"text":"{\"error\":\"`) || !strings.Contains(got, want) ||
			!strings.Contains(got, `"isError":true`)) || want == "" && !strings.Contains(got, `"error":{"code":-32602`) {
			t.Errorf("%s: %s", args, got)
		}
	}
}

func TestWhoSeesWhatOfTheEnvironment(t *testing.T) {
	h := host(t, environmentFile)
	ctx := t.Context()
	ann := h.dial(t, "ann", "/mcp/default/env")
	bob := h.dial(t, "bob", "/mcp/default/env")
	eye := h.dial(t, "eye", "/mcp/default/env")
	for _, c := range []*env.Client{ann, bob} {
		if err := c.Call(ctx, "shop__list_orders", struct{}{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	orders := func(c *env.Client) (n int) {
		logs, err := c.Logs(ctx, env.LogQuery{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range logs {
			if e.ToolName == "shop__list_orders" {
				n++
			}
		}
		return n
	}
	if a, b, all := orders(ann), orders(bob), orders(eye); a != 1 || b != 1 || all != 2 {
		t.Errorf("%d, %d and %d calls are seen: callers see their own, viewers all", a, b, all)
	}
	if err := eye.Call(ctx, "shop__list_orders", struct{}{}, nil); err == nil {
		t.Error("a viewer called a tool")
	}
	if err := eye.Call(ctx, "env_create_session", struct{}{}, nil); err == nil {
		t.Error("a viewer made a session")
	}
	if _, err := eye.CreateSession(ctx, env.SessionOptions{}); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("it is not shown to a viewer either: %v", err)
	}
	for who, paths := range map[string][]string{"ann": {"/mcp/open/env", "/mcp/none/env"},
		"eye": {"/mcp", "/mcp/default", "/mcp/none/env"}, "": {"/mcp/default/env"}} {
		for _, path := range paths {
			if _, err := h.try(t, who, path); err == nil {
				t.Errorf("%q came in at %s", who, path)
			}
		}
	}
}

func TestAnAgentInAnEnvironmentHasItsToolsAlone(t *testing.T) {
	h := host(t, environmentFile)
	const clerk = `"_meta":{"toolfit/agent":"clerk"}`
	names := listed(t, h.modern(t, "ann", "/mcp/default/env", "tools/list", `{`+clerk+`}`))
	if len(names) != 13 || !slices.Contains(names, "shop__list_orders") {
		t.Errorf("%q", names)
	}
	if got := h.modern(t, "ann", "/mcp/default/env", "tools/call", `{"name":"shop__list_orders",`+clerk+`}`); strings.Contains(got,
		`"error"`) {
		t.Errorf("%s", got)
	}
	if got := h.modern(t, "ann", "/mcp/default/env", "tools/call",
		`{"name":"shop__get_order","arguments":{"id":1},`+clerk+`}`); !strings.Contains(got, "unknown tool") ||
		strings.Contains(got, "did you mean shop__get_order") {
		t.Errorf("%s", got)
	}
	for _, method := range []string{"tools/list", "tools/call"} {
		if got := h.modern(t, "ann", "/mcp/default/env", method,
			`{"name":"shop__get_order","_meta":{"toolfit/agent":"nobody"}}`); !strings.Contains(got, "Agent not found: nobody") {
			t.Errorf("%s: %s", method, got)
		}
	}
	const finder = `"_meta":{"toolfit/agent":"finder"}`
	got := h.modern(t, "root", "/mcp/open/env", "tools/call",
		`{"name":"call_tool","arguments":{"name":"find_customers","arguments":{"name":"a"}},`+finder+`}`)
	if !strings.Contains(got, "there is no tool find_customers") {
		t.Errorf("a tool that calls others is no way around: %s", got)
	}
	got = h.modern(t, "root", "/mcp/open/env", "tools/call",
		`{"name":"find_tools","arguments":{"query":"customers orders","limit":20},`+finder+`}`)
	if strings.Contains(got, "find_customers") || !strings.Contains(got, "list_orders") {
		t.Errorf("what may not be called is not found: %s", got)
	}
}

func TestEventsAndMetricsAreThereForThoseWhoCanHaveThem(t *testing.T) {
	h := host(t, environmentFile)
	d, err := h.dial(t, "root", "/mcp/default/env").Description(t.Context())
	if err != nil || d.Capabilities.Events || d.Version != "1.2" {
		t.Errorf("%+v, %v: it does not serve by itself here", d, err)
	}
}
