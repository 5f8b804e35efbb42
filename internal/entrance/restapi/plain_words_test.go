package restapi_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goText is what errors of Go's libraries and of database drivers say, which no caller should read.
var goText = regexp.MustCompile(`json: |invalid character|cannot unmarshal|unexpected end of JSON|of type |strconv|invalid syntax|out of range|` +
	`parsing "|parsing time|time: |net/|net\.|invalid URL|context (deadline|canceled)|\bEOF\b|sql: |SQLITE|SQLSTATE|http: |dial tcp|exec: |fork/|runtime error|reflect\.|` +
	`%!|\bGo (struct|value)|0xc0|websocket: |\.go:\d|base64|illegal |internal error`)

// wrongTexts are wrong as a number, a time, a cursor or a name.
var wrongTexts = []string{"1e308", "-1", "99999999999999999999", "NaN", "true", "[]", "%zz", "%00", "%ff", "2026-13-45T99:00:00Z", "12h34",
	strings.Repeat("9", 400)}

// wrongValues are wrong as the value of most members.
var wrongValues = []string{"1e308", "-1", "1.5", "99999999999999999999", `"x"`, `"1e999"`, `"\u0000"`, "true", "null", "[]", "[[1]]", "{}",
	`{"a":{"b":1e400}}`}

// wrongBodies are no JSON, or not the JSON that is asked for.
var wrongBodies = []string{"", "{", `{"a":`, "[]", "null", "1e308", `"x"`, "{} {}", `{"a":1,}`, "\xff", `{"no such member":1}`,
	strings.Repeat("[", 20_000), `{"a":"` + strings.Repeat("x", 70_000) + `"}`}

// asking is one who looks for Go's words in answers.
type asking struct {
	*gateway
	t       *testing.T
	session string // of MCP
	asked   int
	told    map[string]bool
}

func (a *asking) send(method, path, kind, body string) string {
	a.t.Helper()
	req, err := http.NewRequest(method, a.URL, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	at, query, _ := strings.Cut(path, "?")
	req.URL.Opaque, req.URL.RawQuery = "//"+req.URL.Host+at, query // as it stands, however wrong
	req.Header.Set("Authorization", "Bearer "+a.keys["root"])
	req.Header.Set("Content-Type", kind)
	if a.session != "" {
		req.Header.Set("Mcp-Session-Id", a.session)
	}
	req.Header.Set("Accept", "application/json, text/event-stream, text/html")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatalf("%s %.200s: %v", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	a.asked++
	if id := resp.Header.Get("Mcp-Session-Id"); a.session == "" {
		a.session = id
	}
	if at := goText.FindIndex(answer); at != nil {
		what := string(answer[max(0, at[0]-120):min(len(answer), at[1]+80)])
		if key := method + at2route(path) + string(answer[at[0]:at[1]]); !a.told[key] {
			a.told[key] = true
			a.t.Errorf("%s %.120s %.80q: %d … %s …", method, path, body, resp.StatusCode, what)
		}
	}
	return string(answer)
}

// at2route is the path without what was wrong in it.
func at2route(path string) string {
	return regexp.MustCompile(`=[^&]*|/[^/]*$`).ReplaceAllString(path, "")
}

var long = flag.Bool("long", false, "send every wrong value as every member, not each kind of them in turn")

// some are the wrong values for the n-th thing that is tried: a few, others each time, or all.
func some(n int, wrong []string) (few []string) {
	for i, one := range wrong {
		if *long || i%16 == n%16 {
			few = append(few, one)
		}
	}
	return few
}

// wrongObjects are objects of which one member has a wrong value.
func wrongObjects(given map[string]string, members []string) (all []string) {
	for n, name := range members {
		for _, value := range some(n, wrongValues) {
			object := maps.Clone(given)
			if object == nil {
				object = map[string]string{}
			}
			object[name] = value
			var parts []string
			for _, key := range slices.Sorted(maps.Keys(object)) {
				parts = append(parts, fmt.Sprintf("%q:%s", key, object[key]))
			}
			all = append(all, "{"+strings.Join(parts, ",")+"}")
		}
	}
	return all
}

// described is a part of openapi.json.
type described struct {
	Parameters  []map[string]any `json:"parameters"`
	RequestBody any              `json:"requestBody"`
}

// document is openapi.json, whose routes are all that there are.
type document struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components map[string]map[string]any             `json:"components"`
}

// membersIn are the names of all properties that a schema mentions.
func (d *document) membersIn(v any, depth int) (names []string) {
	if depth > 8 {
		return nil
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			names = append(names, d.membersIn(item, depth+1)...)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
			return d.membersIn(d.Components[parts[0]][parts[1]], depth+1)
		}
		for key, inner := range v {
			if properties, ok := inner.(map[string]any); ok && key == "properties" {
				names = append(names, slices.Collect(maps.Keys(properties))...)
				continue
			}
			names = append(names, d.membersIn(inner, depth+1)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (a *asking) rest() {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		a.t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		a.t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		var shared []map[string]any
		json.Unmarshal(d.Paths[path]["parameters"], &shared) // most have none
		for method, raw := range d.Paths[path] {
			var op described
			if method == "parameters" || json.Unmarshal(raw, &op) != nil {
				continue
			}
			a.route(strings.ToUpper(method), "/api/v1"+path, append(op.Parameters, shared...), d.membersIn(op.RequestBody, 0), &d)
		}
	}
}

var placeIn = regexp.MustCompile(`\{[^}]*\}`)

// route asks one route with each of its parameters and members wrong in turn.
func (a *asking) route(method, path string, parameters []map[string]any, members []string, d *document) {
	sane := placeIn.ReplaceAllString(path, "shop")
	for n, p := range parameters {
		if ref, ok := p["$ref"].(string); ok {
			p = d.Components["parameters"][strings.TrimPrefix(ref, "#/components/parameters/")].(map[string]any)
		}
		for _, wrong := range some(n+len(path), wrongTexts) {
			if p["in"] == "path" {
				a.send(method, strings.Replace(placeIn.ReplaceAllString(path, wrong), "//", "/", 1), "application/json", "{}")
			} else {
				a.send(method, fmt.Sprintf("%s?%s=%s", sane, p["name"], wrong), "application/json", "{}")
			}
		}
	}
	if method == "GET" || method == "DELETE" {
		return
	}
	for _, body := range append(wrongObjects(nil, members), wrongBodies...) {
		a.send(method, sane, "application/json", body)
	}
}

// mcp sends what is no message, what is no request, and every tool each argument wrong in turn.
func (a *asking) mcp(profile string) {
	at := "/mcp/" + profile
	post := func(body string) string { return a.send("POST", at, "application/json", body) }
	for _, params := range wrongObjects(nil, []string{"protocolVersion", "capabilities", "clientInfo", "_meta"}) {
		a.request(at, "initialize", params)
		a.session = ""
	}
	a.initialize(at)
	for _, body := range wrongBodies {
		post(body)
	}
	for _, method := range []string{"tools/list", "tools/call", "prompts/list", "prompts/get", "resources/read", "resources/list",
		"completion/complete", "logging/setLevel", "no/such"} {
		for _, params := range append(wrongObjects(nil, []string{"name", "arguments", "cursor", "uri", "ref", "level", "_meta"}),
			wrongValues...) {
			a.request(at, method, params)
		}
	}
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	answer := a.request(at, "tools/list", `{}`)
	if err := json.Unmarshal([]byte(answer), &struct{ Result any }{&list}); err != nil || len(list.Tools) < 3 {
		a.t.Fatalf("%v: %.300s", err, answer)
	}
	for _, tool := range list.Tools {
		if tool.Name == "shop__slow_report" || tool.Name == "shop__export_all" { // which take their time
			continue
		}
		given := map[string]string{}
		for _, name := range tool.InputSchema.Required {
			given[name] = `"x"`
		}
		for _, args := range append(wrongObjects(given, slices.Collect(maps.Keys(tool.InputSchema.Properties))), wrongValues...) {
			a.request(at, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool.Name, args))
		}
	}
}

// initialize begins a session.
func (a *asking) initialize(at string) {
	a.session = ""
	a.request(at, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if a.session == "" {
		a.t.Fatal("no session")
	}
}

func (a *asking) request(at, method, params string) string {
	return a.send("POST", at, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
}

func TestNoAnswerSpeaksOfGo(t *testing.T) {
	more := strings.Replace(configText, "profiles:\n",
		"profiles:\n  own: {servers: [shop], search: on, tests: true, env: true, paging: true, prompt: true, pinned: ['shop__*']}\n", 1)
	g := newGatewayFrom(t, more+"results: [{tool: shop__list_orders, keep: 'orders(id)'}]\n"+
		"recall: {actions: [{kn_id: shop, at_id: orders, mcp_id: shop, tool_name: list_orders, parameters: {limit: 2}}]}\n")
	a := &asking{gateway: g, t: t, told: map[string]bool{}}
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	a.rest()
	a.mcp("own")
	a.session = ""
	for _, path := range []string{"/v1/chat/completions", "/api/agent-retrieval/in/v1/kn/get_action_info",
		"/api/agent-retrieval/in/v1/mcp/proxy/shop/tools/list_orders/call"} {
		members := []string{"model", "messages", "stream", "temperature", "tools", "user", "metadata", "max_tokens", "kn_id", "at_id",
			"limit", "status", "dynamic_params"}
		for _, body := range append(wrongObjects(map[string]string{"model": `"filed"`, "messages": `[{"role":"user","content":"x"}]`},
			members), wrongBodies...) {
			a.send("POST", path, "application/json", body)
		}
		for _, body := range wrongObjects(map[string]string{"kn_id": `"shop"`, "at_id": `"orders"`}, members) {
			a.send("POST", path, "application/json", body)
		}
	}
	for n, page := range []string{"/", "/calls", "/calls/rows", "/tools", "/servers", "/results", "/results/rules", "/results/suggestions",
		"/runs", "/runs/rows", "/prompt", "/prompt/text", "/chat", "/environments/logs", "/environments/sessions", "/keys", "/recall"} {
		for _, wrong := range some(n, wrongTexts) {
			for _, names := range [][]string{{"page", "limit", "q"}, {"cursor", "after"}, {"since", "until"},
				{"budget", "profile", "groups"}} {
				a.send("GET", page+"?"+strings.Join(names, "="+wrong+"&")+"="+wrong, "", "")
			}
			a.send("GET", strings.TrimSuffix(page, "/")+"/"+wrong, "", "")
			a.send("POST", page, "application/x-www-form-urlencoded", "name="+url.QueryEscape(wrong)+"&metadata="+wrong)
		}
	}
	t.Logf("%d answers", a.asked)
}

func TestEveryFetchOfAResultIsRefusedInWords(t *testing.T) {
	g := newGatewayWith(t, "results: [{tool: shop__list_orders, keep: 'orders(id)'}]\n")
	a := &asking{gateway: g, t: t, told: map[string]bool{}}
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	a.initialize("/mcp/default")
	answer := a.request("/mcp/default", "tools/call", `{"name":"shop__list_orders","arguments":{}}`)
	ref := regexp.MustCompile(`r_[a-z0-9]{8}`).FindString(answer)
	if ref == "" {
		t.Fatalf("no ref in %.500s", answer)
	}
	for _, args := range wrongObjects(map[string]string{"ref": fmt.Sprintf("%q", ref)},
		[]string{"offset", "limit", "fields", "jq", "ref"}) {
		answer := a.request("/mcp/default", "tools/call", `{"name":"fetch_result","arguments":`+args+`}`)
		if strings.Contains(args, `"offset":1e308`) && !strings.Contains(answer, `\"offset\"`) && !strings.Contains(answer, "offset") {
			t.Errorf("%s: %s", args, answer)
		}
	}
}
