package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const searchYAML = `
store: search.db
mcpServers:
  cloud: {builtin: demo-cloud}
  shop: {builtin: demo-shop}
profiles:
  default: {}
  found: {search: on, pinned: [shop__list_orders], budget: 2000}
  auto: {search: auto, context: 4000, servers: [shop]}
  few: {search: auto, servers: [shop], tools: {deny: ["*customer*"]}, prompt: true}
overrides:
  - {tool: shop__list_orders, descriptions: {zh-Hans: 列出订单。}, example: {status: paid}}
`

// shownTo are the names of the tools, or prompts, that a client is shown.
func shownTo(t *testing.T, c rawClient, kind string) string {
	t.Helper()
	raw, err := c.request(kind+"/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		t.Fatal(err)
	}
	var items []struct{ Name string }
	if err := json.Unmarshal(list[kind], &items); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range items {
		all = append(all, i.Name)
	}
	return strings.Join(all, " ")
}

func dialProfile(t *testing.T, g *gateway, profile string) *httpClient {
	t.Helper()
	c, err := dialRaw(g.url+"/mcp/"+profile, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAgentsGetAListOrASearch(t *testing.T) {
	g := serve(t, write(t, searchYAML))
	all := shownTo(t, dialProfile(t, g, "default"), "tools")
	if !strings.Contains(all, "shop__get_order") || strings.Contains(all, "find_tools") {
		t.Errorf("off: %s", all)
	}
	for profile, want := range map[string]string{
		"found": "shop__list_orders fetch_result find_tools describe_tool call_tool",
		"auto":  "fetch_result find_tools describe_tool call_tool",
	} {
		c := dialProfile(t, g, profile)
		if got := shownTo(t, c, "tools"); got != want {
			t.Errorf("%s: %s", profile, got)
		}
		if got := shownTo(t, c, "prompts"); !strings.HasSuffix(got, "tools") {
			t.Errorf("%s: prompts %s", profile, got)
		}
		raw, err := c.request("tools/call", `{"name":"find_tools","arguments":{"query":"one order by its id"}}`)
		if err != nil || !strings.Contains(raw, `"name":"shop__get_order"`) {
			t.Errorf("%s: %s, %v", profile, raw, err)
		}
		for _, call := range []string{
			`{"name":"call_tool","arguments":{"name":"shop__list_orders","arguments":{"limit":1}}}`,
			`{"name":"shop__list_orders","arguments":{"limit":1}}`,
		} {
			if raw, err := c.request("tools/call", call); err != nil || strings.Contains(raw, `"isError":true`) || !strings.Contains(raw, "status") {
				t.Errorf("%s: %s: %s, %v", profile, call, raw, err)
			}
		}
		raw, err = c.request("tools/call", `{"name":"call_tool","arguments":{"name":"shop__get_ordr"}}`)
		if err != nil || !strings.Contains(raw, `"isError":true`) || !strings.Contains(raw, "shop__get_order(") {
			t.Errorf("%s: an unknown name: %s, %v", profile, raw, err)
		}
	}
	if got := shownTo(t, dialProfile(t, g, "few"), "tools"); strings.Contains(got, "find_tools") || strings.Contains(got, "customer") ||
		!strings.Contains(got, "shop__get_order") {
		t.Errorf("few: %s", got)
	}
}

func TestToolsAsAPrompt(t *testing.T) {
	path := write(t, searchYAML)
	text := func(g *gateway, args string) string {
		t.Helper()
		raw, err := dialProfile(t, g, "few").request("prompts/get", `{"name":"tools","arguments":`+args+`}`)
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			Messages []struct {
				Role    string
				Content struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal([]byte(raw), &p); err != nil || len(p.Messages) != 1 || p.Messages[0].Role != "user" ||
			p.Messages[0].Content.Type != "text" {
			t.Fatalf("%s: %v", raw, err)
		}
		return p.Messages[0].Content.Text
	}
	g := serve(t, path)
	first := text(g, `{}`)
	if !strings.Contains(first, "type shop__list_orders = (_: {") || strings.Contains(first, "type shop__find_customers") ||
		!strings.Contains(first, `// Example: {"status":"paid"}`) {
		t.Errorf("got %s", first)
	}
	short := text(g, `{"format":"sig","budget":"120"}`)
	if len(short) > 700 || !strings.Contains(short, "More tools, by name only: ") {
		t.Errorf("got %s", short)
	}
	c := dialProfile(t, g, "few")
	for _, args := range []string{`{"format":"pdf"}`, `{"budget":"much"}`, `{"budget":"-1"}`} {
		if raw, err := c.request("prompts/get", `{"name":"tools","arguments":`+args+`}`); err == nil {
			t.Errorf("%s: %s", args, raw)
		}
	}
	raw, err := c.request("completion/complete", `{"ref":{"type":"ref/prompt","name":"tools"},"argument":{"name":"format","value":"s"}}`)
	if err != nil || raw != `{"completion":{"values":["sig"]}}` {
		t.Errorf("completion: %s, %v", raw, err)
	}
	rest := fetch(t, g.url+"/api/v1/prompt?profile=few", "", "text/plain")
	g.stop()
	g = serve(t, path)
	if again := text(g, `{}`); again != first || rest != first {
		t.Error("the text is another one after a restart, or by another way")
	}
	for language, want := range map[string]string{"zh-CN,en;q=0.8": "列出订单", "en-US": "List orders"} {
		if got := fetch(t, g.url+"/api/v1/prompt?profile=few&format=sig", language, "text/plain"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", language, got)
		}
	}
}

// fetch gets a text over HTTP.
func fetch(t *testing.T, url, language, accept string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	if language != "" {
		req.Header.Set("Accept-Language", language)
	}
	resp, err := plainHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("HTTP %d: %s, %v", resp.StatusCode, body, err)
	}
	return string(body)
}

func TestWhatASearchLedToIsFoundAgainAfterARestart(t *testing.T) {
	path := write(t, searchYAML)
	g := serve(t, path)
	best := func(query string) string {
		t.Helper()
		var found struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal([]byte(fetch(t, g.url+"/api/v1/search?profile=found&limit=1&q="+query, "", "application/json")),
			&found); err != nil {
			t.Fatal(err)
		}
		if len(found.Tools) == 0 {
			return ""
		}
		return found.Tools[0].Name
	}
	if name := best("frobnicate"); name == "shop__find_customers" {
		t.Fatalf("a word that no tool has found %s", name)
	}
	c := dialProfile(t, g, "found")
	for i := range 6 {
		find := fmt.Sprintf(`{"name":"find_tools","arguments":{"query":"frobnicate customers %c","limit":10}}`, 'a'+i)
		for _, call := range []string{find, `{"name":"call_tool","arguments":{"name":"shop__find_customers","arguments":{"query":"a"}}}`} {
			if raw, err := c.request("tools/call", call); err != nil || strings.Contains(raw, `"isError":true`) {
				t.Fatalf("%s: %s, %v", call, raw, err)
			}
		}
	}
	if name := best("frobnicate"); name != "shop__find_customers" {
		t.Errorf("before the restart: %q", name)
	}
	g.stop()
	g = serve(t, path)
	if name := best("frobnicate"); name != "shop__find_customers" {
		t.Errorf("after the restart: %q", name)
	}
}
