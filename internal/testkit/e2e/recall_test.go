package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// badServices are ontology-query and agent-operator-integration in one, which do not work
// every tenth time: the call's own n says how.
type badServices struct {
	*httptest.Server
	open, peak atomic.Int64 // connections
}

func serveBadServices(t *testing.T) *badServices {
	b := &badServices{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/ontology-query/in/v1/knowledge-networks/{kn}/action-types/{at}", func(w http.ResponseWriter, r *http.Request) {
		source := `{"type":"mcp","mcp_id":"m1","tool_name":"scale"}`
		switch r.PathValue("at") {
		case "tool":
			source = `{"type":"tool","box_id":"b","tool_id":"t"}`
		case "bad":
			w.WriteHeader(http.StatusInternalServerError)
		}
		io.WriteString(w, `{"action_source":`+source+`,"actions":[{"parameters":{"ns":"default"}}]}`)
	})
	mux.HandleFunc("GET /api/agent-operator-integration/internal-v1/tool-box/b/tool/t", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"name":"t","metadata":{"api_spec":{"parameters":[{"name":"ns","in":"path","schema":{"type":"string"}}]}}}`)
	})
	mux.HandleFunc("GET /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tools", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"tools":[{"name":"scale","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}`)
	})
	mux.HandleFunc("POST /api/agent-operator-integration/internal-v1/mcp/proxy/m1/tool/call", answerBadly)
	b.Server = httptest.NewUnstartedServer(mux)
	b.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			now := b.open.Add(1)
			for was := b.peak.Load(); now > was && !b.peak.CompareAndSwap(was, now); was = b.peak.Load() {
			}
		case http.StateClosed:
			b.open.Add(-1)
		}
	}
	b.Start()
	t.Cleanup(b.Close)
	return b
}

var callNumber = regexp.MustCompile(`"n":(\d+)`)

// answerBadly answers a call as its n says.
func answerBadly(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := callNumber.FindSubmatch(body)
	if m == nil {
		http.Error(w, "no n", http.StatusTeapot)
		return
	}
	n, _ := strconv.Atoi(string(m[1]))
	good := fmt.Sprintf(`{"content":[],"isError":false,"structuredContent":{"n":%d}}`, n)
	switch n % 200 {
	case 0: // never
		<-r.Context().Done()
	case 10, 50, 90, 130, 170:
		w.WriteHeader(http.StatusServiceUnavailable)
	case 20, 60, 100, 140, 180:
		panic(http.ErrAbortHandler)
	case 30, 70, 110, 150, 190:
		io.WriteString(w, "<html>")
	case 40, 80, 120, 160: // half of it
		w.Header().Set("Content-Length", "500")
		io.WriteString(w, good)
	case 1:
		http.Error(w, "{}", http.StatusNotFound)
	default:
		io.WriteString(w, good)
	}
}

// TestSoakRecall has many callers of both routes, of a trusted network, while every tenth call
// is to a service that does not work: every answer has the right status, and nothing is left.
func TestSoakRecall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to see what is left")
	}
	services := serveBadServices(t)
	r := run(t, write(t, lines(
		"mcpServers:", "  shop: {builtin: demo-shop}",
		"recall:", "  trust: [127.0.0.0/8]",
		"  ontologyQuery: {url: '"+services.URL+"', timeout: 30s}", "  operatorIntegration: {url: '"+services.URL+"', timeout: 4s}",
		"  actions: [{kn_id: shop, at_id: orders, mcp_id: shop, tool_name: list_orders}]",
	)))
	before := look(t, r)
	const callers = 64
	tally := &statuses{}
	half := tally.ask(t, r, callers, *soakTime/2)
	end := tally.ask(t, r, callers, *soakTime/2)
	t.Logf("answers %v; memory %d MB half-way, %d MB at the end; at most %d connections", tally, half.rss>>20, end.rss>>20,
		services.peak.Load())
	if limit := half.rss + half.rss/3 + 16<<20; end.rss > limit {
		t.Errorf("memory grows: %d MB half-way, %d MB at the end", half.rss>>20, end.rss>>20)
	}
	if peak := services.peak.Load(); peak > 2*callers {
		t.Errorf("%d connections to the services at once, for %d callers", peak, callers)
	}
	tally.compare(t, r)
	reuse.CloseIdleConnections()
	eventually(t, "no goroutine and no descriptor is left but those of connections that are kept", func() bool {
		now := look(t, r)
		kept := int(services.open.Load())
		return now.goroutines <= before.goroutines+2*kept+20 && now.files <= before.files+kept+20
	})
}

// statuses counts answers.
type statuses struct {
	mu    sync.Mutex
	count map[string]int // by route and code
}

func (s *statuses) String() string { return fmt.Sprint(s.count) }

// ask has callers ask for a while, and tells what the gateway holds at the end.
func (s *statuses) ask(t *testing.T, r *running, callers int, d time.Duration) state {
	t.Helper()
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for n := i * 7; time.Now().Before(end) && !t.Failed(); n++ {
				s.one(t, r.url+"/api/agent-retrieval/in/v1", n)
			}
		})
	}
	wg.Wait()
	return look(t, r)
}

// one sends the nth request of a caller and checks the answer.
func (s *statuses) one(t *testing.T, base string, n int) {
	route := "proxy"
	path := "/mcp/proxy/m1/tools/scale/call"
	body := fmt.Sprintf(`{"n":%d}`, n)
	want := http.StatusOK
	holds := fmt.Sprintf(`"structuredContent":{"n":%d}`, n)
	switch {
	case n%10 == 0:
		want = http.StatusBadGateway
		holds = `"Public.BadGateway"`
	case n%200 == 1:
		want = http.StatusNotFound
		holds = "MCPInstanceNotFound"
	case n%10 == 3:
		path = "/mcp/proxy/shop/tools/list_orders/call"
		body = `{"limit":"2"}`
		holds = `"orders"`
	case n%10 == 4:
		path = "/mcp/proxy/shop/tools/list_orders/call"
		body = `{"limit":"many"}`
		want = http.StatusBadRequest
		holds = "MCPArgumentsInvalid"
	case n%20 == 5: // a tool's own error is an answer
		path = "/mcp/proxy/shop/tools/fail/call"
		body = `{"kind":"tool"}`
		holds = `"is_error":true`
	case n%20 == 15:
		path = "/mcp/proxy/shop/tools/fail/call"
		body = `{"kind":"protocol"}`
		want = http.StatusBadGateway
		holds = `"Public.BadGateway"`
	case n%10 >= 6:
		at := []string{"mcp", "tool", "bad", "orders"}[n%10-6]
		route = "get_action_info"
		path = "/kn/get_action_info"
		body = `{"kn_id":"shop","at_id":"` + at + `"}`
		holds = `"_dynamic_tools":[{`
		if at == "bad" {
			want = http.StatusBadGateway
			holds = `"Public.BadGateway"`
		}
	}
	resp, err := reuse.Post(base+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Errorf("%s %s: %v", path, body, err)
		return
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want || !strings.Contains(string(got), holds) {
		t.Errorf("%s %s: %d %.400s, %v; want %d", path, body, resp.StatusCode, got, err, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[route+" "+strconv.Itoa(resp.StatusCode)]++
}

// compare holds the gateway's own count to ours.
func (s *statuses) compare(t *testing.T, r *running) {
	t.Helper()
	resp, err := plainHTTP.Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, _ := io.ReadAll(resp.Body)
	counted := 0
	for _, m := range regexp.MustCompile(`(?m)^toolfit_recall_requests_total\{code="(\d+)",route="(\w+)"\} (\d+)`).FindAllSubmatch(metrics,
		-1) {
		key := string(m[2]) + " " + string(m[1])
		if n, _ := strconv.Atoi(string(m[3])); n != s.count[key] {
			t.Errorf("%s: the gateway counts %d, we %d", key, n, s.count[key])
		}
		counted++
	}
	if counted != len(s.count) {
		t.Errorf("the gateway counts %d kinds of answers, we %v", counted, s.count)
	}
}
