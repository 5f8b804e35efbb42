package restapi_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// metrics are the lines of /metrics.
func (g *gateway) metrics(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", g.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+g.keys["root"])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("HTTP %d, %v", resp.StatusCode, err)
	}
	return string(text)
}

func namesIn(text, pattern string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

func TestDocumentsListExactlyTheMetrics(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	g.call(t, "ann", "shop__list_orders", `{}`)
	g.ask(t, "root", "POST", "/api/v1/tools/cloud__envQuery/call?view=model", `{"action":"list"}`)
	g.ask(t, "root", "POST", "/v1/chat/completions", `{"model":"filed","messages":[{"role":"user","content":"hi"}]}`) // its model is down
	g.ask(t, "root", "POST", "/api/v1/tools/shop__nothing/call", `{}`)                                                // there is no such tool
	shown := namesIn(g.metrics(t), `(?m)^# TYPE (toolfit_\w+) `)
	text, err := os.ReadFile("../../../docs/rest.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := namesIn(string(text), "(?m)^\\| `(toolfit_\\w+)` \\|")
	if !slices.Equal(shown, documented) {
		t.Errorf("shown\n%s\ndocumented\n%s", strings.Join(shown, "\n"), strings.Join(documented, "\n"))
	}
}

func TestMetricsTellOfServersAndRequests(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	g.ask(t, "root", "POST", "/api/v1/servers", `{"name":"gone","url":"http://127.0.0.1:1/mcp"}`)
	g.ask(t, "root", "POST", "/api/v1/servers/gone/refresh", "")
	g.ask(t, "root", "POST", "/api/v1/servers", `{"name":"off","builtin":"demo-shop","disabled":true}`)
	g.ask(t, "root", "GET", "/api/v1/servers/nope", "")
	g.ask(t, "root", "GET", "/api/v1/nope/"+strings.Repeat("x", 20), "")
	g.ask(t, "", "GET", "/api/v1/keys", "")
	g.keys["wrong"] = "tf_nobody00_" + strings.Repeat("x", 40)
	g.ask(t, "wrong", "GET", "/api/v1/keys", "")
	g.ask(t, "wrong", "GET", "/metrics", "")
	text := g.metrics(t)
	for _, line := range []string{
		`toolfit_server_up{server="shop"} 1`,
		`toolfit_server_up{server="gone"} 0`,
		`toolfit_server_tools{server="gone"} 0`,
		`toolfit_records_dropped_total 0`,
		`toolfit_http_requests_total{code="404",route="GET /api/v1/servers/{id}"} 1`,
		`toolfit_http_requests_total{code="404",route="none"} 1`,
		`toolfit_http_requests_total{code="401",route="GET /api/v1/keys"} 2`,
		`toolfit_refused_total{reason="missing"} 1`,
		`toolfit_refused_total{reason="wrong"} 2`,
		`toolfit_refused_total{reason="rate"} 0`,
		`toolfit_server_queue{server="shop"} 0`,
		`toolfit_server_breaker_open{server="shop"} 0`,
		`toolfit_store_up 1`,
		`toolfit_replicas 1`,
		`toolfit_http_requests_total{code="201",route="POST /api/v1/servers"} 2`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is not there", line)
		}
	}
	if strings.Contains(text, `server="off"`) {
		t.Error("a server that is switched off is counted")
	}
}

func TestReadySaysWhenTheStoreCannotBeWrittenTo(t *testing.T) {
	g := newGateway(t)
	probe := func(path string) string {
		status, body := g.ask(t, "", "GET", path, "")
		return fmt.Sprint(status, " ", strings.TrimSpace(body))
	}
	if got := probe("/readyz"); got != "200 ready" {
		t.Errorf("got %s", got)
	}
	if text := g.metrics(t); !strings.Contains(text, "\ntoolfit_store_up 1\n") { // now the key is known without the store
		t.Error("the metrics do not say that the store works")
	}
	g.app.Store.Close()
	wait(t, "the probe says so", func() bool { return probe("/readyz") == "200 degraded: the store cannot be written to" })
	if text := g.metrics(t); !strings.Contains(text, "\ntoolfit_store_up 0\n") {
		t.Error("the metrics do not say so")
	}
	if got := probe("/healthz"); got != "200 ok" {
		t.Errorf("got %s", got)
	}
}
