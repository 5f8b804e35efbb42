package restapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const configText = `
store: t.db
mcpServers:
  cloud: {builtin: demo-cloud}
  shop: {builtin: demo-shop}
profiles:
  default: {servers: [cloud, shop]}
  wide: {}
  orders: {servers: [shop], tools: {allow: ["shop__*order*", "shop__fail", "shop__slow_report"]}}
limits: {body: 64KB}
models: {m: {url: "http://127.0.0.1:9/v1", retries: 0}}
agents: {filed: {profile: orders}}
`

// gateway is a whole one, with a key for each role.
type gateway struct {
	*httptest.Server
	app  *app.App
	keys map[string]string // by name
}

func newGateway(t testing.TB) *gateway {
	t.Helper()
	return newGatewayWith(t, "")
}

// newGatewayWith is newGateway with more lines in its configuration.
func newGatewayWith(t testing.TB, more string) *gateway {
	t.Helper()
	return newGatewayFrom(t, configText+more)
}

// newGatewayFrom is newGateway with another configuration.
func newGatewayFrom(t testing.TB, text string) *gateway {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{app: a, keys: map[string]string{}}
	for _, k := range []struct {
		name, profile string
		role          access.Role
	}{{"ann", "orders", access.Caller}, {"bob", "orders", access.Caller}, {"eye", "default", access.Viewer}, {"root", "*", access.Admin}} {
		text, row, err := access.NewKey(k.name, k.profile, k.role, nil)
		if err != nil {
			t.Fatal(err)
		}
		row.CreatedAt = time.Now()
		if err := a.Store.CreateKey(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		g.keys[k.name] = text
	}
	g.Server = httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		g.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *gateway) ask(t testing.TB, who, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, g.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key := g.keys[who]; key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// call makes a call and waits until its record can be read.
func (g *gateway) call(t testing.TB, who, tool, args string) (id string) {
	t.Helper()
	_, body := g.ask(t, who, "POST", "/api/v1/tools/"+tool+"/call", args)
	var answer struct{ ID string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.ID == "" {
		t.Fatalf("%s, %v", body, err)
	}
	wait(t, "the record", func() bool {
		status, _ := g.ask(t, who, "GET", "/api/v1/calls/"+answer.ID, "")
		return status == 200
	})
	return answer.ID
}

// patience is how long a test waits for what must come, however busy the machine is.
const patience = time.Minute

// wait waits until it is so.
func wait(t testing.TB, what string, so func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func TestRoutes(t *testing.T) {
	g := newGateway(t)
	cases := []struct {
		name, who, method, path, body string
		status                        int
		has                           string
	}{
		{"a stranger gets nothing", "", "GET", "/tools", "", 401, `"code":"unauthorized"`},
		{"an admin sees every tool", "root", "GET", "/tools", "", 200, `"cloud__envQuery"`},
		{"words choose among tools", "root", "GET", "/tools?q=ORDER+note", "", 200, `"shop__add_note"`},
		{"a caller sees its profile's", "ann", "GET", "/tools", "", 200, `"shop__get_order"`},
		{"a caller may not look into another profile", "ann", "GET", "/tools?profile=default", "", 403, `"code":"forbidden"`},
		{"a profile that does not exist", "root", "GET", "/tools?profile=nope", "", 404, `"code":"not_found"`},
		{"one tool", "ann", "GET", "/tools/shop__get_order", "", 200, `"canonical":"shop__get_order"`},
		{"a tool outside the profile is unknown", "ann", "GET", "/tools/cloud__envQuery", "", 404, `"code":"unknown_tool"`},
		{"a call", "ann", "POST", "/tools/shop__list_orders/call", `{"limit":1}`, 200, `"result":{`},
		{"a call without a body", "ann", "POST", "/tools/shop__list_orders/call", ``, 200, `"result":{`},
		{"tools ready for a provider", "ann", "GET", "/tools?for=anthropic", "", 200, `"tools":[{"name":"shop__`},
		{"one tool ready for a provider", "ann", "GET", "/tools/shop__list_orders?for=openai-strict", "", 200, `"strict":true`},
		{"a dialect that does not exist", "ann", "GET", "/tools?for=openia", "", 400, `choose one of anthropic`},
		{"a dialect that is empty", "ann", "GET", "/tools?for=", "", 400, `"code":"bad_request"`},
		{"a call with a model's arguments", "ann", "POST", "/tools/shop__list_orders/call?for=openai-strict", `{"status":null,"limit":1}`,
			200, `"result":{`},
		{"a call in a dialect that does not exist", "ann", "POST", "/tools/shop__list_orders/call?for=x", `{}`, 400,
			`"code":"bad_request"`},
		{"a call of a tool outside the profile", "ann", "POST", "/tools/cloud__envQuery/call", `{}`, 404, `"code":"unknown_tool"`},
		{"a viewer calls nothing", "eye", "POST", "/tools/shop__list_orders/call", `{}`, 403, `"code":"forbidden"`},
		{"arguments that are no JSON", "ann", "POST", "/tools/shop__list_orders/call", `{`, 400, `"code":"bad_request"`},
		{"arguments that are no object", "ann", "POST", "/tools/shop__list_orders/call", `[1]`, 400, `"code":"bad_request"`},
		{"arguments that try to break out", "ann", "POST", "/tools/shop__list_orders/call", `{},"name":"shop__fail"`, 400,
			`"code":"bad_request"`},
		{"a body over the limit", "ann", "POST", "/tools/shop__list_orders/call", `{"x":"` + strings.Repeat("x", 70_000) + `"}`, 413,
			`raise limits.body`},
		{"a server's own error", "ann", "POST", "/tools/shop__fail/call", `{"kind":"protocol"}`, 502, `"code":"upstream_error"`},
		{"servers", "ann", "GET", "/servers", "", 200, `"id":"shop"`},
		{"a server that does not exist", "root", "GET", "/servers/nope", "", 404, `"code":"not_found"`},
		{"a caller refreshes nothing", "ann", "POST", "/servers/shop/refresh", "", 403, `"code":"forbidden"`},
		{"a viewer refreshes nothing", "eye", "POST", "/servers/shop/refresh", "", 403, `"code":"forbidden"`},
		{"an admin refreshes", "root", "POST", "/servers/shop/refresh", "", 200, `"state":"up"`},
		{"a refresh of no server", "root", "POST", "/servers/nope/refresh", "", 404, `"code":"not_found"`},
		{"a caller approves nothing", "ann", "POST", "/servers/shop/approve", "", 403, `"code":"forbidden"`},
		{"an admin approves", "root", "POST", "/servers/shop/approve", `{"tools":[]}`, 200, `"approved":0`},
		{"a caller keeps nothing out", "ann", "POST", "/servers/shop/keep-out", `{"tools":["fail"]}`, 403, `"code":"forbidden"`},
		{"what is not held is not kept out", "root", "POST", "/servers/shop/keep-out", `{"tools":["fail"]}`, 200, `"kept_out":0`},
		{"an approval that is no JSON", "root", "POST", "/servers/shop/approve", `5`, 400, `"code":"bad_request"`},
		{"a limit that is none", "root", "GET", "/calls?limit=0", "", 400, `"code":"bad_request"`},
		{"a limit that is too large", "root", "GET", "/calls?limit=1001", "", 400, `"code":"bad_request"`},
		{"a call that does not exist", "root", "GET", "/calls/nope", "", 404, `"code":"not_found"`},
		{"a route that does not exist", "root", "GET", "/nope", "", 404, `"code":"not_found"`},
		{"a method that does not exist", "root", "DELETE", "/tools", "", 404, `"code":"not_found"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, body := g.ask(t, c.who, c.method, "/api/v1"+c.path, c.body)
			if status != c.status || !strings.Contains(body, c.has) {
				t.Errorf("HTTP %d, want %d with %s: %.300s", status, c.status, c.has, body)
			}
			checkForm(t, status, body)
		})
	}
}

// checkForm holds that every answer is JSON, and every error has the one form.
func checkForm(t testing.TB, status int, body string) {
	t.Helper()
	var answer struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("HTTP %d: no JSON: %v: %.200s", status, err, body)
	}
	if (status >= 400) != (answer.Error != nil) || answer.Error != nil && (answer.Error.Code == "" || answer.Error.Message == "") {
		t.Errorf("HTTP %d: %.200s", status, body)
	}
	if answer.Error != nil && answer.Error.Code == "internal" {
		t.Errorf("a request made an internal error: %s", body)
	}
}

func TestCallerReadsItsOwnCallsOnly(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	ids := map[string]string{}
	for _, who := range []string{"ann", "bob"} {
		ids[who] = g.call(t, who, "shop__list_orders", `{}`)
	}
	seen := func(who, path string) string {
		_, body := g.ask(t, who, "GET", path, "")
		return fmt.Sprint(strings.Contains(body, ids["ann"]), strings.Contains(body, ids["bob"]))
	}
	if got := seen("ann", "/api/v1/calls"); got != "true false" {
		t.Errorf("ann sees %s", got)
	}
	if got := seen("ann", "/api/v1/calls?principal=bob&server=shop"); got != "true false" {
		t.Errorf("ann, asking for bob's, sees %s", got)
	}
	if got := seen("eye", "/api/v1/calls"); got != "true true" {
		t.Errorf("a viewer sees %s", got)
	}
	if status, body := g.ask(t, "ann", "GET", "/api/v1/calls/"+ids["bob"], ""); status != 404 || strings.Contains(body, "list_orders") {
		t.Errorf("ann asks for bob's call: HTTP %d %s", status, body)
	}
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/calls/"+ids["ann"], ""); status != 200 {
		t.Errorf("ann asks for its own call: HTTP %d", status)
	}
	if status, body := g.ask(t, "root", "GET", "/api/v1/calls?limit=1", ""); status != 200 ||
		!strings.Contains(body, `"next_cursor":"`+ids["bob"]+`"`) {
		t.Errorf("a page: HTTP %d %s", status, body)
	}
	if got := seen("root", "/api/v1/calls?cursor="+ids["bob"]); got != "true false" {
		t.Errorf("the next page has %s", got)
	}
}

// FuzzRoutes holds that no request makes an internal error or an answer that is no JSON.
func FuzzRoutes(f *testing.F) {
	g := newGateway(f)
	handler := g.app.Handler() // once: it reads the console's pages
	f.Add("GET", "tools", "q=a&profile=default", "")
	f.Add("GET", "calls", "limit=5&cursor=c_1&tool=x&server=y&principal=z&outcome=ok&since=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00%2B01:00", "")
	f.Add("GET", "calls/c_1", "", "")
	f.Add("GET", "calls", "server=%00;%zz", "")
	f.Add("POST", "tools/shop__list_orders/call", "profile=orders", `{"limit":2}`)
	f.Add("POST", "servers/shop/approve", "", `{"tools":["a"]}`)
	f.Add("POST", "servers", "", `{"name":"x","url":"http://127.0.0.1:1/mcp","disabled":true,"timeouts":{"a*":"1s"},"breaker":{"failures":1}}`)
	f.Add("DELETE", "servers/x", "", "")
	f.Add("POST", "keys", "", `{"name":"x","profile":"orders","role":"viewer"}`)
	f.Add("DELETE", "keys/abcdefgh", "", "")
	f.Add("GET", "events", "", "")
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		if strings.Contains(path, "slow_report") || strings.Contains(path, ".") {
			return // the one waits on purpose; dots are cleaned away by a redirect
		}
		if s, err := config.ParseServer("t.yaml", []byte(body), nil); err == nil && s.Builtin == "" && !s.Disabled {
			return // no program is to be started here, and nobody's address to be dialed
		}
		u := url.URL{Path: "/api/v1/" + path, RawQuery: query}
		for _, accept := range []string{"", "application/x-ndjson"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/", strings.NewReader(body))
			r.Method, r.URL, r.Host, r.RemoteAddr = method, &u, "localhost", "127.0.0.1:5"
			r.Header.Set("Authorization", "Bearer "+g.keys["root"])
			r.Header.Set("Accept", accept)
			handler.ServeHTTP(w, r)
			if w.Code >= 300 && w.Code < 400 || w.Header().Get("Content-Type") == "application/x-ndjson" && w.Code == 200 {
				continue
			}
			checkForm(t, w.Code, w.Body.String())
		}
		for _, e := range g.app.Servers() {
			if e.Source != project.Store {
				continue
			}
			if _, err := g.app.RemoveServer(t.Context(), tool.ServerID(e.ID)); err != nil { // else they would become too many
				t.Error(err)
			}
		}
	})
}
