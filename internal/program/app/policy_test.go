package app_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ruledTools are the tools of the server behind the rules, whose names occur nowhere else.
var ruledTools = map[string]string{
	"alpha":   `{"name":"alpha","description":"Reads kestrel records.","inputSchema":{"type":"object","properties":{"env":{"type":"string"},"n":{"type":"integer"}}},"annotations":{"readOnlyHint":true}}`,
	"bravo":   `{"name":"bravo","description":"Deletes kestrel records.","inputSchema":{"type":"object","properties":{"env":{"type":"string"},"n":{"type":"integer"}}}}`,
	"charlie": `{"name":"charlie","description":"Moves kestrel records.","inputSchema":{"type":"object","properties":{"env":{"type":"string"},"n":{"type":"integer"}}},"annotations":{"destructiveHint":false}}`,
}

// ruled is a gateway before a server that notes what it gets.
type ruled struct {
	t       *testing.T
	app     *app.App
	address string
	config  string
	keys    map[string]string

	mu   sync.Mutex
	got  []string        // method, name or URI, and arguments of what the server got
	down map[string]bool // tools that answer with an error of the connection
}

func newRuled(t *testing.T, more string) *ruled {
	g := &ruled{t: t, down: map[string]bool{}}
	upstream := httptest.NewServer(http.HandlerFunc(g.upstream))
	t.Cleanup(upstream.Close)
	g.config = fmt.Sprintf("mcpServers: {srv: {url: %q}}\nprofiles: {default: {search: auto, prompt: true}}\n", upstream.URL) + more
	g.app, g.address = serve(t, g.config)
	g.app.Catalog.Ready(t.Context(), "default")
	g.keys = map[string]string{"ann": newKey(t, g.app, "ann"), "bob": newKey(t, g.app, "bob")}
	return g
}

func (g *ruled) upstream(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := rawjson.Get(body, "id")
	params := rawjson.Get(body, "params")
	name, _ := rawjson.String(rawjson.Get(params, "name"))
	method, _ := rawjson.String(rawjson.Get(body, "method"))
	result := ""
	switch method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{}}}`
	case "tools/list":
		var all []string
		for _, name := range slices.Sorted(maps.Keys(ruledTools)) {
			all = append(all, ruledTools[name])
		}
		result = `{"tools":[` + strings.Join(all, ",") + `]}`
	case "prompts/list":
		result = `{"prompts":[{"name":"papa","arguments":[{"name":"env"}]},{"name":"quebec"}]}`
	case "resources/list":
		result = `{"resources":[{"name":"r","uri":"file:///public/romeo"},{"name":"s","uri":"file:///secret/sierra"}]}`
	case "resources/templates/list":
		result = `{"resourceTemplates":[{"name":"t","uriTemplate":"file:///{tango}"}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"done"}]}`
	case "prompts/get":
		result = `{"messages":[]}`
	case "resources/read":
		result = `{"contents":[]}`
	case "completion/complete":
		result = `{"completion":{"values":[]}}`
	case "resources/subscribe":
		result = `{}`
	}
	if result == "" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if !strings.HasSuffix(method, "/list") && method != "initialize" {
		g.mu.Lock()
		g.got = append(g.got, strings.TrimSpace(method+" "+name+" "+string(rawjson.Get(params, "arguments"))))
		down := g.down[name]
		g.mu.Unlock()
		if down {
			w.WriteHeader(http.StatusTooManyRequests) // it has not acted
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// took is what the server got since it was last looked at.
func (g *ruled) took() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	got := g.got
	g.got = nil
	return got
}

// rules puts rules in force in the running gateway.
func (g *ruled) rules(text string) *config.Config {
	g.t.Helper()
	cfg, err := config.Parse(filepath.Join(g.t.TempDir(), "toolfit.yaml"), []byte(g.config+text), nil)
	if err != nil {
		g.t.Fatalf("%s: %v", text, err)
	}
	cfg.Path = g.app.Config().Path
	g.app.Reload(cfg)
	return cfg
}

// rest is the answer of the REST API.
func (g *ruled) rest(who, method, path, body string) string {
	g.t.Helper()
	_, said := rest(g.t, g.address, g.keys[who], method, path, body)
	return said
}

// mcp is the answer to an MCP request, of a modern client or of a new session.
func (g *ruled) mcp(who string, modern bool, method, params string) string {
	g.t.Helper()
	const prefix = "io.modelcontextprotocol/"
	header := http.Header{"Mcp-Protocol-Version": {"2025-11-25"}}
	if modern {
		meta := fmt.Sprintf(`{"%sprotocolVersion":"2026-07-28","%sclientCapabilities":{}}`, prefix, prefix)
		params = strings.Replace(params, "{", `{"_meta":`+meta+`,`, 1)
		params = strings.Replace(params, ",}", "}", 1)
		header = http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
		for _, key := range []string{"name", "uri"} {
			if name, _ := rawjson.String(rawjson.Get([]byte(params), key)); name != "" {
				header.Set("Mcp-Name", name)
			}
		}
	} else {
		resp, _ := g.post(who, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
			`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, header)
		header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	}
	_, said := g.post(who, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params), header)
	return said
}

func (g *ruled) post(who, body string, header http.Header) (*http.Response, string) {
	g.t.Helper()
	r, _ := http.NewRequestWithContext(g.t.Context(), "POST", "http://"+g.address+"/mcp", strings.NewReader(body))
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+g.keys[who])
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return resp, string(said)
}

// ruleSets are policies of all shapes, each on one line.
var ruleSets = []string{
	``,
	`{name: a, then: deny}`,
	`{name: a, then: deny, tools: [srv__bravo]}`,
	`{name: a, then: deny, tools: ["*__b*", srv__charlie]}`,
	`{name: a, then: deny, tools: ["other__*"]}`,
	`{name: a, then: deny, profiles: [default], tools: [srv__alpha]}`,
	`{name: a, then: deny, hints: {readOnly: false}}`,
	`{name: a, then: deny, hints: {destructive: true}}`,
	`{name: a, then: deny, hints: {readOnly: true}}`,
	`{name: a, then: deny, who: {keys: [ann]}}`,
	`{name: a, then: deny, who: {keys: [bob]}, tools: [srv__bravo]}`,
	`{name: a, then: deny, who: {kinds: [user]}}`,
	`{name: a, then: deny, who: {kinds: [key]}, tools: [srv__charlie]}`,
	`{name: a, then: deny, who: {groups: [eng]}}`,
	`{name: a, then: deny, when: 'who.name == "ann"'}`,
	`{name: a, then: deny, when: '!(who.name == "ann")', tools: ["srv__*"]}`,
	`{name: a, then: deny, when: 'who.name == "ann" || args.n > 3'}`,
	`{name: a, then: deny, when: 'who.name == "ann" && args.n > 3'}`,
	`{name: a, then: deny, when: 'args.env == "prod"'}`,
	`{name: a, then: deny, when: 'tool.readOnly'}`,
	`{name: a, then: deny, when: 'tool.name.endsWith("bravo")'}`,
	`{name: a, then: deny, when: 'who.groups[0] == "x"'}`,
	`{name: a, then: deny, when: 'now.getHours() < 25'}`,
	`{name: a, then: deny, when: 'tool.kind != "tool"'}`,
	`{name: a, then: approve}`,
	`{name: a, then: approve, tools: [srv__bravo]}, {name: b, then: deny, tools: [srv__bravo]}`,
	`{name: a, then: allow, tools: [srv__alpha]}, {name: b, then: deny, tools: [srv__alpha], who: {keys: [bob]}}`,
	`{name: a, then: deny, mode: watch}`,
	`{name: a, limit: 5/h}, {name: b, repeats: 3}`,
	`{name: a, then: deny, tools: [srv__alpha], who: {keys: [ann]}}, {name: b, then: deny, tools: [srv__bravo], who: {keys: [bob]}}`,
}

// TestWhatIsSurelyDeniedIsInNoList compares every way to learn of a tool with what the rules say about it without arguments.
func TestWhatIsSurelyDeniedIsInNoList(t *testing.T) {
	g := newRuled(t, "")
	open := g.config
	for _, rules := range ruleSets {
		g.config = open
		g.compare("policy: ["+rules+"]\n", false)
		g.config = strings.Replace(open, "default: {", "default: {default: deny, ", 1)
		g.compare("policy: [{name: opens, then: allow, who: {keys: [ann]}}, "+rules+"]\n", true)
	}
}

// compare compares what callers see with what the rules say.
func (g *ruled) compare(text string, closed bool) {
	g.t.Helper()
	cfg := g.rules(text)
	set, _ := policy.Compile(cfg.Policy)
	for who := range g.keys {
		shown := map[string]bool{}
		for name, def := range ruledTools {
			t := policy.Tool{Name: tool.Canonical("srv", name), Server: "srv", Kind: "tool", OpenWorld: true}
			t.ReadOnly = strings.Contains(def, `"readOnlyHint":true`)
			t.Idempotent = t.ReadOnly
			t.Destructive = !t.ReadOnly && !strings.Contains(def, "destructiveHint")
			d := set.Decide(&policy.Call{Profile: "default", Closed: closed, Who: policy.Who{Kind: "key", Name: who, Role: "caller"}, Tool: t})
			shown["srv__"+name] = d.Verdict != policy.Deny
		}
		ways := map[string]string{
			"tools/list":          g.mcp(who, false, "tools/list", `{}`),
			"tools/list, modern":  g.mcp(who, true, "tools/list", `{}`),
			"find_tools":          g.mcp(who, false, "tools/call", `{"name":"find_tools","arguments":{"query":"kestrel records","limit":50,"detail":"name"}}`),
			"find_tools, by REST": g.rest(who, "POST", "/tools/find_tools/call", `{"query":"kestrel records","limit":50}`),
			"prompt":              g.mcp(who, true, "prompts/get", `{"name":"tools"}`),
			"tools":               g.rest(who, "GET", "/tools", ""),
			"tools, in a dialect": g.rest(who, "GET", "/tools?for=openai-strict", ""),
			"search":              g.rest(who, "GET", "/search?q=kestrel+records&limit=50", ""),
			"prompt, by REST":     g.rest(who, "GET", "/prompt?format=sig", ""),
		}
		for name, is := range shown {
			one := map[string]string{
				"describe_tool": g.mcp(who, false, "tools/call", `{"name":"describe_tool","arguments":{"name":"`+name+`"}}`),
				"tool":          g.rest(who, "GET", "/tools/"+name, ""),
			}
			for way, said := range one {
				if found := !strings.Contains(said, "there is no tool") && !strings.Contains(said, "unknown_tool"); found != is {
					g.t.Errorf("%s\n%s, %s of %s: %t, want %t: %s", text, who, way, name, found, is, said)
				}
			}
			for way, said := range ways {
				if strings.Contains(said, name) != is {
					g.t.Errorf("%s\n%s, %s: %s should be there: %t: %s", text, who, way, name, is, said)
				}
			}
			near := g.rest(who, "POST", "/tools/"+name+"x/call", `{}`) + g.mcp(who, false, "tools/call", `{"name":"`+name+`x"}`) +
				g.mcp(who, false, "tools/call", `{"name":"call_tool","arguments":{"name":"`+name+`x"}}`)
			if hint := strings.ReplaceAll(near, name+"x", ""); !is && strings.Contains(hint, name) {
				g.t.Errorf("%s\n%s: a hint names %s: %s", text, who, name, near)
			}
			said := g.rest(who, "POST", "/tools/"+name+"/call", `{}`)
			if denied := strings.Contains(said, `"denied"`); !is && !denied {
				g.t.Errorf("%s\n%s: a call of %s: %s", text, who, name, said)
			}
		}
	}
}

// TestPromptsAndResourcesAreDecided lists and gets them in both eras, and looks at what the server got.
func TestPromptsAndResourcesAreDecided(t *testing.T) {
	g := newRuled(t, "")
	papa := func(env string) string { return `{"name":"srv__papa","arguments":{"env":"` + env + `"}}` }
	const (
		quebec   = `{"name":"srv__quebec"}`
		romeo    = `{"uri":"file:///public/romeo"}`
		sierra   = `{"uri":"file:///secret/sierra"}`
		byPrompt = `{"ref":{"type":"ref/prompt","name":"srv__quebec"},"argument":{"name":"a","value":""}}`
		byURI    = `{"ref":{"type":"ref/resource","uri":"file:///secret/{x}"},"argument":{"name":"x","value":""}}`
		approval = "needs a person's approval, which only calls of tools can get"
		denied   = "the policy does not permit"
	)
	for _, c := range []struct{ rules, method, params, says string }{
		{``, "prompts/get", quebec, ""},
		{``, "prompts/get", papa("prod"), ""},
		{``, "resources/read", sierra, ""},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"', say: Not in prod.}`, "prompts/get", papa("prod"), "Not in prod."},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"'}`, "prompts/get", papa("dev"), ""},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"'}`, "prompts/get", `{"name":"srv__papa"}`, denied},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"'}`, "prompts/get",
			`{"name":"srv__papa","arguments":{"env":"dev","env":"prod"}}`, denied},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"'}`, "prompts/get",
			`{"name":"srv__papa","arguments":{"env":"dev"},"arguments":{"env":"prod"}}`, "twice"},
		{`{name: a, then: deny, tools: [srv__quebec]}`, "prompts/get", quebec, denied},
		{`{name: a, then: deny, tools: [srv__quebec]}`, "completion/complete", byPrompt, denied},
		{`{name: a, then: deny, tools: [srv__papa]}`, "completion/complete", byPrompt, ""},
		{`{name: a, then: deny, tools: [srv__quebec]}`, "completion/complete",
			`{"ref":{"type":"ref/prompt","name":"srv__papa"},"ref":{"type":"ref/prompt","name":"quebec"},"argument":{"name":"a","value":""}}`, "twice"},
		{`{name: a, then: deny, tools: [srv__resource]}`, "completion/complete",
			`{"ref":{"type":"ref/prompt","name":"srv__papa","type":"ref/resource","uri":"file:///secret/{x}"},"argument":{"name":"a","value":""}}`, "twice"},
		{`{name: a, then: deny, tools: [srv__resource]}`, "completion/complete",
			`{"ref":{"type":"ref\/resource","name":"srv__papa","uri":"file:///secret/{x}"},"argument":{"name":"a","value":""}}`, denied},
		{`{name: a, then: approve, when: 'tool.kind == "prompt"'}`, "prompts/get", quebec, approval},
		{`{name: a, then: approve, hints: {readOnly: false}}`, "prompts/get", quebec, ""},
		{`{name: a, limit: 1/d}, {name: b, repeats: 1}`, "prompts/get", quebec, ""},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "resources/read", sierra, denied},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "resources/read", romeo, ""},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "completion/complete", byURI, denied},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "resources/subscribe", sierra, denied},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "resources/subscribe", romeo, ""},
		{`{name: a, then: approve, when: 'tool.kind == "resource"'}`, "resources/read", romeo, approval},
		{`{name: a, then: deny, when: 'now.getHours() < 25'}`, "resources/read", romeo, denied},
		{`{name: a, then: deny, tools: [srv__resource], who: {keys: [bob]}}`, "resources/read", romeo, ""},
	} {
		g.rules("policy: [" + c.rules + "]\n")
		for _, modern := range []bool{false, true} {
			if modern && c.method == "resources/subscribe" {
				continue
			}
			g.took()
			said := g.mcp("ann", modern, c.method, c.params)
			if got := g.took(); (len(got) > 0) != (c.says == "") || !strings.Contains(said, c.says) || (c.says != "") != strings.Contains(said, `"error"`) {
				t.Errorf("%s: %s %s: the server got %q: %s", c.rules, c.method, c.params, got, said)
			}
		}
	}
	for _, c := range []struct{ rules, hidden string }{
		{``, ""},
		{`{name: a, then: deny, tools: [srv__quebec]}`, "quebec"},
		{`{name: a, then: approve, tools: [srv__quebec]}`, "quebec"},
		{`{name: a, then: deny, tools: [srv__papa], when: 'args.env == "prod"'}`, ""},
		{`{name: a, then: deny, when: 'tool.kind == "prompt" && args.env == "prod" || who.name == "ann" && tool.name == "srv__papa"'}`, "papa"},
		{`{name: a, then: deny, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "sierra"},
		{`{name: a, then: approve, tools: [srv__resource], when: 'args.uri.startsWith("file:///secret")'}`, "sierra"},
		{`{name: a, then: deny, tools: [srv__resource]}`, "romeo sierra tango"},
		{`{name: a, then: deny, tools: [srv__resource], when: 'now.getHours() < 25'}`, ""},
		{`{name: a, then: deny, tools: [srv__resource], mode: watch}`, ""},
	} {
		g.rules("policy: [" + c.rules + "]\n")
		for _, modern := range []bool{false, true} {
			said := g.mcp("ann", modern, "prompts/list", `{}`) + g.mcp("ann", modern, "resources/list", `{}`) +
				g.mcp("ann", modern, "resources/templates/list", `{}`)
			for _, name := range []string{"papa", "quebec", "romeo", "sierra", "tango"} {
				if strings.Contains(said, name) == strings.Contains(c.hidden, name) {
					t.Errorf("%s: %s: %s", c.rules, name, said)
				}
			}
		}
	}
}

// TestEveryEntranceAsksThePolicy calls a tool with arguments that are permitted and others that are not.
func TestEveryEntranceAsksThePolicy(t *testing.T) {
	g := newRuled(t, "recall: {actions: [{kn_id: k, at_id: a, mcp_id: srv, tool_name: bravo}]}\n")
	const sure = `{name: a, then: deny, tools: [srv__bravo], say: Never.}`
	const prod = `{name: a, then: deny, tools: [srv__bravo], when: 'args.env == "prod"', say: Never.}`
	recall := func(path, body string) string {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", "http://"+g.address+"/api/agent-retrieval/in/v1"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+g.keys["ann"])
		r.Header.Set("x-account-id", "u")
		r.Header.Set("x-account-type", "user")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		said, _ := io.ReadAll(resp.Body)
		return string(said)
	}
	ways := map[string]func(args string) string{
		"MCP": func(args string) string {
			return g.mcp("ann", false, "tools/call", `{"name":"srv__bravo","arguments":`+args+`}`)
		},
		"MCP, modern": func(args string) string {
			return g.mcp("ann", true, "tools/call", `{"name":"srv__bravo","arguments":`+args+`}`)
		},
		"MCP, as a task": func(args string) string {
			return g.mcp("ann", false, "tools/call", `{"task":{},"name":"srv__bravo","arguments":`+args+`}`)
		},
		"call_tool": func(args string) string {
			return g.mcp("ann", true, "tools/call", `{"name":"call_tool","arguments":{"name":"srv__bravo","arguments":`+args+`}}`)
		},
		"REST": func(args string) string { return g.rest("ann", "POST", "/tools/srv__bravo/call", args) },
		"REST, in a dialect": func(args string) string {
			return g.rest("ann", "POST", "/tools/srv__bravo/call?for=openai-strict", args)
		},
		"recall": func(args string) string { return recall("/mcp/proxy/srv/tools/bravo/call", args) },
	}
	for way, call := range ways {
		for _, c := range []struct {
			rules, args string
			sent        bool
		}{
			{prod, `{"env":"dev"}`, true}, {prod, `{"env":"prod"}`, false}, {prod, `{}`, false}, {sure, `{"env":"dev"}`, false}, {``, `{"env":"prod"}`, true},
		} {
			g.rules("policy: [" + c.rules + "]\n")
			g.took()
			said := call(c.args)
			if way == "MCP, as a task" && c.sent { // it is made after the answer
				for len(g.took()) == 0 {
					g.mcp("ann", false, "ping", "{}")
				}
				continue
			}
			if got := g.took(); (len(got) == 1) != c.sent || way != "MCP, as a task" && c.sent == strings.Contains(said, "Never.") {
				t.Errorf("%s, %s %s: the server got %q: %s", way, c.rules, c.args, got, said)
			}
		}
	}
	for rules, told := range map[string]bool{``: true, prod: true, sure: false} {
		g.rules("policy: [" + rules + "]\n")
		if said := recall("/kn/get_action_info", `{"kn_id":"k","at_id":"a"}`); strings.Contains(said, "Deletes kestrel") != told {
			t.Errorf("%s: recall describes the tool: %s", rules, said)
		}
	}
}
