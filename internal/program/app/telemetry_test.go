//go:build unix

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

const echoTools = `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},` +
	`{"name":"fail","inputSchema":{"type":"object"}}]}`

// echoed answers a call with the params that it came with, as text.
func echoed(params json.RawMessage) []byte {
	if name, _ := rawjson.String(rawjson.Get(params, "name")); name == "fail" {
		return []byte(`{"content":[{"type":"text","text":"no"}],"isError":true}`)
	}
	return append(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), string(params)), "}]}"...)
}

// echo is a legacy server on a pipe whose tool says what it was sent.
func echo() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		m, err := mcp.Parse(in.Bytes())
		if err != nil {
			return
		}
		result := []byte("{}")
		switch m.Method {
		case "initialize":
			result = []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`)
		case "tools/list":
			result = []byte(echoTools)
		case "tools/call":
			result = echoed(m.Params)
		case "server/discover":
			os.Stdout.Write(append(mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeMethodNotFound, "no")), '\n'))
			continue
		}
		if m.ID != nil {
			os.Stdout.Write(append(mcp.AppendResult(nil, m.ID, result), '\n'))
		}
	}
}

// echoingHTTP is a server of both eras over HTTP; header has those of the last call.
func echoingHTTP(t *testing.T) (address string, header func() http.Header) {
	sessions := mcp.NewSessions(nil)
	front := mcp.NewFront(sessions, nil)
	entry := mcp.Entry{
		Owner: "gateway",
		Info: func() mcp.Info {
			return mcp.Info{Name: "echo", Version: "1", Capabilities: json.RawMessage(`{"tools":{}}`)}
		},
		Handler: mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) {
			result := []byte(echoTools)
			switch {
			case req.Method == "tools/call":
				result = echoed(req.Params)
			case req.Method != "tools/list":
				return nil, mcp.Errorf(mcp.CodeMethodNotFound, "no %s", req.Method)
			}
			if req.Meta != nil {
				result = mcp.With(result, "resultType", []byte(`"complete"`))
			}
			return result, nil
		}),
	}
	var mu sync.Mutex
	var last http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(mcp.MethodHeader) == "tools/call" {
			mu.Lock()
			last = r.Header.Clone()
			mu.Unlock()
		}
		front.Serve(w, r, entry)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(sessions.Close)
	return s.URL, func() http.Header {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// standIn is a collector.
type standIn struct {
	*httptest.Server
	mu      sync.Mutex
	raw     strings.Builder
	spans   []*tracepb.Span
	metrics map[string]*metricspb.Histogram
	about   []*commonpb.KeyValue
}

func newStandIn(t *testing.T) *standIn {
	c := &standIn{metrics: map[string]*metricspb.Histogram{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(body)
		switch r.URL.Path {
		case "/v1/traces":
			var data tracepb.TracesData
			if err := proto.Unmarshal(body, &data); err != nil || r.Header.Get("X-Key") != "collector-key-4711" {
				t.Errorf("spans: %v, %v", err, r.Header)
			}
			for _, of := range data.ResourceSpans {
				c.about = of.Resource.Attributes
				for _, scope := range of.ScopeSpans {
					c.spans = append(c.spans, scope.Spans...)
				}
			}
		case "/v1/metrics":
			var data metricspb.MetricsData
			if err := proto.Unmarshal(body, &data); err != nil {
				t.Error(err)
			}
			for _, m := range data.ResourceMetrics[0].ScopeMetrics[0].Metrics {
				c.metrics[m.Name] = m.GetHistogram()
			}
		default:
			t.Errorf("%s", r.URL)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// find is the span of a trace with the name and kind.
func (c *standIn) find(t *testing.T, traceID, name string, kind tracepb.Span_SpanKind) *tracepb.Span {
	t.Helper()
	i := slices.IndexFunc(c.spans, func(s *tracepb.Span) bool {
		return fmt.Sprintf("%x", s.TraceId) == traceID && s.Name == name && s.Kind == kind
	})
	if i < 0 {
		var all []string
		for _, s := range c.spans {
			all = append(all, fmt.Sprintf("%x %s %s", s.TraceId, s.Kind, s.Name))
		}
		t.Fatalf("trace %s has no span %s %s:\n%s", traceID, kind, name, strings.Join(all, "\n"))
	}
	return c.spans[i]
}

func attributes(all []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_IntValue:
			m[a.Key] = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		default:
			m[a.Key] = a.Value.String()
		}
	}
	return m
}

// expect compares some attributes.
func expect(t *testing.T, s *tracepb.Span, want map[string]string) {
	t.Helper()
	got := attributes(s.Attributes)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %s is %q, want %q", s.Name, name, got[name], value)
		}
	}
}

const (
	inMeta   = "0af7651916cd43dd8448eb211c80319c"
	inHeader = "4bf92f3577b34da6a3ce929d0e0e4736"
	inREST   = "11112222333344445555666677778888"
	inModern = "aaaabbbbccccddddeeeeffff00001111"
)

func parent(trace, span string) string { return "00-" + trace + "-" + span + "-01" }

// TestTracesReachACollector makes calls in both eras, to a pipe and over HTTP, and reads what a collector gets.
func TestTracesReachACollector(t *testing.T) {
	far, lastHeader := echoingHTTP(t)
	collector := newStandIn(t)
	text := fmt.Sprintf(`
mcpServers:
  near: {command: %q, env: {%s: echo, PASSWORD: "hush-4712-hush"}}
  far: {url: %q}
telemetry: {endpoint: %q, headers: {X-Key: collector-key-4711}, arguments: true, results: true}
`, os.Args[0], modeVariable, far+"/mcp", collector.URL)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), cfg, &Options{Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	closed := sync.OnceFunc(func() { a.Close() })
	defer closed()
	front := httptest.NewServer(a.Handler())
	defer front.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	post := func(path, body string, header ...string) (string, string) {
		t.Helper()
		req, _ := http.NewRequest("POST", front.URL+path, strings.NewReader(body)) // a valid address
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		return string(answer), resp.Header.Get("Mcp-Session-Id")
	}
	_, session := post("/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	legacy := []string{"Mcp-Session-Id", session, "traceparent", parent(inHeader, "00f067aa0ba902b7"), "baggage", "who=header"}

	// A legacy client, a pipe: _meta is the parent, the header a link; an argument is repaired, and has a secret.
	near, _ := post("/mcp", `{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"near__echo","arguments":{"n":"5","s":"hush-4712-hush"},`+
		`"_meta":{"traceparent":"`+parent(inMeta, "b7ad6b7169203331")+`","tracestate":"v=1","baggage":"who=meta","own":1}}}`, legacy...)
	// The header alone.
	failing, _ := post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"near__fail","arguments":{}}}`, legacy...)
	post("/mcp", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"near__nothing","arguments":{}}}`, legacy...)
	// A modern client, a modern server.
	modern, _ := post("/mcp", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"far__echo","arguments":{},"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{},"traceparent":"`+parent(inModern, "b7ad6b7169203331")+`"}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "far__echo")
	sentHeader := lastHeader()
	rest, _ := post("/api/v1/tools/far__echo/call", `{}`, "traceparent", parent(inREST, "b7ad6b7169203331"))
	var traces []string
	for began := time.Now(); len(traces) < 5 && time.Since(began) < 10*time.Second; {
		page, err := a.API(a.admit).ListCalls(t.Context(), access.Owner(), url.Values{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		traces = nil
		for _, c := range page.Calls {
			traces = append(traces, c.Trace)
		}
	}
	slices.Reverse(traces)
	if want := []string{inMeta, inHeader, inHeader, inModern, inREST}; !slices.Equal(traces, want) {
		t.Errorf("the records are of traces %v, want %v", traces, want)
	}
	closed()

	collector.mu.Lock()
	defer collector.mu.Unlock()
	server := collector.find(t, inMeta, "tools/call near__echo", tracepb.Span_SPAN_KIND_SERVER)
	if fmt.Sprintf("%x", server.ParentSpanId) != "b7ad6b7169203331" || len(server.Links) != 1 || fmt.Sprintf("%x", server.Links[0].TraceId) != inHeader {
		t.Errorf("parent %x, links %v", server.ParentSpanId, server.Links)
	}
	expect(t, server, map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "near__echo", "gen_ai.operation.name": "execute_tool",
		"mcp.protocol.version": "2025-06-18", "jsonrpc.request.id": "a-1", "network.transport": "tcp",
		"toolfit.server": "near", "toolfit.outcome": "ok", "gen_ai.tool.call.arguments": `{"n":"5","s":"***"}`, "error.type": "",
	})
	if id := attributes(server.Attributes)["mcp.session.id"]; id == "" || id == session { // its token is nobody's business
		t.Errorf("the session is called %q", id)
	}
	child := func(trace string, of *tracepb.Span, name string, kind tracepb.Span_SpanKind) *tracepb.Span {
		t.Helper()
		s := collector.find(t, trace, name, kind)
		if string(s.ParentSpanId) != string(of.SpanId) {
			t.Errorf("%s is not a child of %s", s.Name, of.Name)
		}
		return s
	}
	decide := child(inMeta, server, "decide", tracepb.Span_SPAN_KIND_INTERNAL)
	expect(t, decide, map[string]string{"toolfit.profile": "default", "toolfit.server": "near", "error.type": ""})
	fit := child(inMeta, server, "fit", tracepb.Span_SPAN_KIND_INTERNAL)
	expect(t, fit, map[string]string{"toolfit.repairs": "1"})
	send := child(inMeta, server, "send", tracepb.Span_SPAN_KIND_INTERNAL)
	request := child(inMeta, send, "tools/call echo", tracepb.Span_SPAN_KIND_CLIENT)
	expect(t, request, map[string]string{"network.transport": "pipe", "toolfit.server": "near", "mcp.protocol.version": "2025-06-18"})
	child(inMeta, server, "project", tracepb.Span_SPAN_KIND_INTERNAL)
	carried := parent(inMeta, fmt.Sprintf("%x", request.SpanId))
	for _, want := range []string{carried, `tracestate\":\"v=1`, `baggage\":\"who=meta`, `own\":1`} {
		if !strings.Contains(near, want) {
			t.Errorf("the server on a pipe did not get %s: %s", want, near)
		}
	}

	fails := collector.find(t, inHeader, "tools/call near__fail", tracepb.Span_SPAN_KIND_SERVER)
	expect(t, fails, map[string]string{"error.type": "tool_error"})
	if fails.Status.Code != tracepb.Status_STATUS_CODE_ERROR || len(fails.Links) != 0 || !strings.Contains(failing, "isError") {
		t.Errorf("%v %s", fails, failing)
	}
	unknown := collector.find(t, inHeader, "tools/call", tracepb.Span_SPAN_KIND_SERVER)
	expect(t, unknown, map[string]string{"error.type": "-32602", "rpc.response.status_code": "-32602", "gen_ai.tool.name": "near__nothing"})
	for _, s := range collector.spans {
		if string(s.ParentSpanId) == string(unknown.SpanId) {
			expect(t, s, map[string]string{"toolfit.server": "", "error.type": "unknown_tool"})
		}
	}

	modernServer := collector.find(t, inModern, "tools/call far__echo", tracepb.Span_SPAN_KIND_SERVER)
	expect(t, modernServer, map[string]string{"mcp.protocol.version": "2026-07-28", "mcp.session.id": ""})
	modernSend := child(inModern, modernServer, "send", tracepb.Span_SPAN_KIND_INTERNAL)
	modernRequest := child(inModern, modernSend, "tools/call echo", tracepb.Span_SPAN_KIND_CLIENT)
	carried = parent(inModern, fmt.Sprintf("%x", modernRequest.SpanId))
	if !strings.Contains(modern, carried) || sentHeader.Get("Traceparent") != carried {
		t.Errorf("the server got %s and %v, want %s", modern, sentHeader, carried)
	}

	route := collector.find(t, inREST, "POST /api/v1/tools/{name}/call", tracepb.Span_SPAN_KIND_SERVER)
	expect(t, route, map[string]string{"http.response.status_code": "200", "http.request.method": "POST"})
	child(inREST, route, "execute_tool far__echo", tracepb.Span_SPAN_KIND_INTERNAL)
	if !strings.Contains(rest, inREST) {
		t.Error(rest)
	}

	about := attributes(collector.about)
	if about["service.name"] != "toolfit" || about["service.version"] != "1.2" {
		t.Error(about)
	}
	for _, name := range []string{
		"mcp.server.operation.duration", "mcp.client.operation.duration", "mcp.server.session.duration", "mcp.client.session.duration",
	} {
		h := collector.metrics[name]
		if h == nil || len(h.DataPoints) == 0 || len(h.DataPoints[0].ExplicitBounds) != 14 {
			t.Errorf("%s: %v", name, h)
			continue
		}
		for _, p := range h.DataPoints {
			if attributes(p.Attributes)["gen_ai.tool.name"] == "near__nothing" {
				t.Error("a caller has made up a series")
			}
		}
	}
	if all := collector.raw.String(); strings.Contains(all, "hush-4712-hush") || strings.Contains(all, "collector-key-4711") {
		t.Error("a secret has left the gateway")
	}
}

// TestTheExampleIsObserved runs the configuration of the example with a stand-in for its collector.
func TestTheExampleIsObserved(t *testing.T) {
	text, err := os.ReadFile("../../../examples/observability/toolfit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	collector := newStandIn(t)
	a := startUnclosed(t, strings.ReplaceAll(string(text), "http://127.0.0.1:4318", "'"+collector.URL+"'\n  headers: {X-Key: collector-key-4711}"))
	front := httptest.NewServer(a.Handler())
	defer front.Close()
	resp, err := http.Post(front.URL+"/api/v1/tools/shop__list_orders/call", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	a.Close()
	collector.mu.Lock()
	defer collector.mu.Unlock()
	names := map[string]bool{}
	for _, s := range collector.spans {
		names[s.Name] = true
	}
	if !names["execute_tool shop__list_orders"] || !names["fit"] || !names["send"] || collector.metrics["mcp.client.operation.duration"] == nil {
		t.Errorf("%d: %v", resp.StatusCode, names)
	}
}

// TestACollectorThatHangsCostsNothing makes calls while the collector does not answer, and ends in time.
func TestACollectorThatHangsCostsNothing(t *testing.T) {
	hang := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer collector.Close()
	defer close(hang)
	far, _ := echoingHTTP(t)
	a := startUnclosed(t, fmt.Sprintf("mcpServers: {far: {url: '%s/mcp'}}\ntelemetry: {endpoint: '%s'}\n", far, collector.URL))
	front := httptest.NewServer(a.Handler())
	defer front.Close()
	client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for range 400 { // more spans than the queue holds
		resp, err := client.Post(front.URL+"/api/v1/tools/far__echo/call", "application/json", strings.NewReader("{}"))
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	began := time.Now()
	a.Close()
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("closing took %s", took)
	}
}

// startUnclosed is start for a test that closes the gateway itself.
func startUnclosed(t *testing.T, text string) *App {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	a, err := New(t.Context(), parse(t, path, text), &Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
