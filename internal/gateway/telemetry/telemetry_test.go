package telemetry

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// variables is an environment.
func variables(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := set[name]
		return value, ok
	}
}

func TestItIsOffUnlessACollectorIsNamed(t *testing.T) {
	const at = "http://127.0.0.1:9"
	for _, c := range []struct {
		name string
		cfg  config.Telemetry
		env  map[string]string
		on   bool
	}{
		{name: "nothing"},
		{"other settings alone", config.Telemetry{Arguments: true}, map[string]string{"OTEL_SERVICE_NAME": "x"}, false},
		{"the file", config.Telemetry{Endpoint: at}, nil, true},
		{"the environment", config.Telemetry{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": at}, true},
		{"metrics alone", config.Telemetry{}, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": at}, true},
		{"disabled", config.Telemetry{Endpoint: at}, map[string]string{"OTEL_SDK_DISABLED": "TRUE"}, false},
		{"no exporter", config.Telemetry{Endpoint: at}, map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tel, err := New(c.cfg, &Options{Env: variables(c.env)})
			if err != nil || (tel != nil) != c.on {
				t.Errorf("%v, %v", tel, err)
			}
			tel.Close()
		})
	}
}

func TestWhereASignalGoes(t *testing.T) {
	for _, c := range []struct{ configured, all, own, want string }{
		{"http://a:4318", "", "", "http://a:4318/v1/traces"},
		{"http://a/otlp/?k=v", "http://b", "http://c/x", "http://a/otlp/v1/traces?k=v"},
		{"", "http://b/", "", "http://b/v1/traces"},
		{"", "http://b", "http://c/x", "http://c/x"},
		{"", "", "", ""},
	} {
		env := environment(variables(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.all, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.own}))
		if got := env.address(c.configured, "traces"); got != c.want {
			t.Errorf("%v: %q, want %q", c, got, c.want)
		}
	}
	headers := environment(variables(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "api-key = a%20b,x=1=2,,bad%zz=1%zz"})).headers("traces")
	if len(headers) != 2 || headers["api-key"] != "a b" || headers["x"] != "1=2" {
		t.Errorf("%q", headers)
	}
}

func TestOffCostsNothing(t *testing.T) {
	var tel *Telemetry
	ctx := t.Context()
	req := &mcp.Request{ID: json.RawMessage("1"), Method: "tools/call"}
	record := &store.Call{}
	if n := testing.AllocsPerRun(100, func() {
		ctx, served := tel.Serve(ctx, req)
		ctx, call := tel.Call(ctx)
		_, decided := tel.Begin(ctx, "decide")
		decided.Decided("p", "s", nil)
		_, part := tel.Begin(ctx, "fit")
		part.Sent(1, 2, nil)
		call.Called(record, nil, nil)
		call.Return()
		_, sent := tel.Request(ctx, "tools/call", "x", Upstream{})
		sent.Answered(nil, nil)
		served.Answered(nil, nil)
		if call.Trace() != "" || call.Parent() != "" {
			t.Error("there is a trace")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// collect starts a Telemetry whose spans spans returns, after it has been closed.
func collect(t *testing.T, cfg config.Telemetry) (tel *Telemetry, spans func() []*tracepb.Span) {
	var mu sync.Mutex
	var got []*tracepb.Span
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &data) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, data.ResourceSpans[0].ScopeSpans[0].Spans...)
	}))
	t.Cleanup(s.Close)
	cfg.Endpoint = s.URL
	tel, err := New(cfg, &Options{Env: variables(nil), Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "***") }})
	if err != nil {
		t.Fatal(err)
	}
	return tel, func() []*tracepb.Span {
		tel.Close()
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

func TestServersGetTheContextInPlaceOfTheCallers(t *testing.T) {
	tel, spans := collect(t, config.Telemetry{})
	ctx, span := tel.Request(t.Context(), "tools/call", "x", Upstream{Server: "s"})
	own := span.Parent()
	for params, want := range map[string]string{
		``:                     `{"_meta":{"traceparent":"OWN"}}`,
		`{}`:                   `{"_meta":{"traceparent":"OWN"}}`,
		`{"name":"x"}`:         `{"_meta":{"traceparent":"OWN"},"name":"x"}`,
		`{"_meta":{},"a":1}`:   `{"_meta":{"traceparent":"OWN"},"a":1}`,
		`{"_meta":null}`:       `{"_meta":null}`,
		`{"_meta":{"k":"工具"}}`: `{"_meta":{"traceparent":"OWN","k":"工具"}}`,
		`{"_meta":{"traceparent":"t","k":1,"tracestate":2,"traceparent":"u","baggage":"b"}}`: `{"_meta":{"traceparent":"OWN","k":1}}`,
	} {
		if got := string(span.Meta(json.RawMessage(params))); got != strings.ReplaceAll(want, "OWN", own) {
			t.Errorf("%s: %s", params, got)
		}
	}
	header := http.Header{}
	tel.Outgoing(ctx, header)
	if header.Get("Traceparent") != own {
		t.Error(header)
	}
	span.End(nil)
	spans()
}

func TestARequestWithoutAValidContextBeginsATrace(t *testing.T) {
	for _, meta := range []string{
		``, `,"_meta":5`, `,"_meta":{"traceparent":7}`, `,"_meta":{"traceparent":"00-0-0-00"}`, `,"_meta":{"baggage":"` + strings.Repeat("a=b,", 10_000) + `"}`,
	} {
		tel, spans := collect(t, config.Telemetry{})
		_, span := tel.Serve(t.Context(), &mcp.Request{
			ID: json.RawMessage(`"hush"`), Method: "made/up", Params: json.RawMessage(`{"name":"x"` + meta + `}`),
		})
		span.Answered(nil, mcp.Errorf(mcp.CodeMethodNotFound, "no"))
		got := spans()
		if len(got) != 1 || got[0].Name != "_OTHER" || len(got[0].ParentSpanId) != 0 || strings.Contains(got[0].String(), "hush") {
			t.Errorf("%s: %v", meta, got)
		}
	}
}

func TestContentIsOptInCutAndRedacted(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("a", maxContent-3) + `hush and more"`)
	for _, cfg := range []config.Telemetry{{}, {Arguments: true}, {Results: true}} {
		tel, spans := collect(t, cfg)
		_, span := tel.Call(t.Context())
		span.Called(&store.Call{Outcome: "tool_error", Message: "what the tool said", Tool: "t"}, json.RawMessage(`{"secret":"arg"}`), long)
		span.Return()
		text := spans()[0].String()
		if strings.Contains(text, "hus") || strings.Contains(text, "what the tool said") || strings.Contains(text, "and more") ||
			strings.Contains(text, "arg\\") != cfg.Arguments || strings.Contains(text, "aaaa") != cfg.Results {
			t.Errorf("%+v: %.300s", cfg, text)
		}
	}
}

func TestASampleOfNoneStillCarriesTheContextOn(t *testing.T) {
	tel, spans := collect(t, config.Telemetry{Sample: new(0.0)})
	_, span := tel.Call(t.Context())
	if len(span.Trace()) != 32 || !strings.HasSuffix(span.Parent(), "-00") {
		t.Errorf("%q %q", span.Trace(), span.Parent())
	}
	span.Return()
	if got := spans(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestAResumedCallIsLinkedToItsFirstSpan(t *testing.T) {
	tel, spans := collect(t, config.Telemetry{})
	_, first := tel.Call(t.Context())
	_, again := tel.Resume(t.Context(), first.Parent())
	_, stray := tel.Resume(t.Context(), "not a parent")
	if again.Trace() == first.Trace() {
		t.Error("it is the same trace")
	}
	for _, s := range []*Span{stray, again, first} {
		s.Return()
	}
	got := spans()
	if len(got) != 3 || len(got[0].Links) != 0 || len(got[1].Links) != 1 || string(got[1].Links[0].SpanId) != string(got[2].SpanId) {
		t.Errorf("%v", got)
	}
}

func TestACollectorThatRefusesIsLoggedOnceAndTriedAgain(t *testing.T) {
	var busy atomic.Int32
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(busy.Load()))
	}))
	defer s.Close()
	var log strings.Builder
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tel := &Telemetry{opts: Options{
		Env: variables(map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}), Logger: slog.New(slog.NewTextHandler(&log, nil)),
	}}
	c := tel.collector(ctx, s.URL, "traces", map[string]string{"X": "y"})
	defer c.close()
	busy.Store(http.StatusMovedPermanently)
	c.send(t.Context(), &tracepb.TracesData{})
	c.send(t.Context(), &tracepb.TracesData{})
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times: what is refused is not tried again", n)
	}
	busy.Store(http.StatusOK)
	c.send(t.Context(), &tracepb.TracesData{})
	if text := log.String(); strings.Count(text, "telemetry is not sent") != 1 || strings.Count(text, "telemetry is sent again") != 1 {
		t.Error(text)
	}
	busy.Store(http.StatusServiceUnavailable)
	began := time.Now()
	time.AfterFunc(50*time.Millisecond, stop)
	c.send(t.Context(), &tracepb.TracesData{})
	if time.Since(began) > 5*time.Second {
		t.Error("Close does not end what is being sent")
	}
}

func TestACollectorSaysWhatItRefusesAndWhenToTryAgain(t *testing.T) {
	partial := func(rejected uint64, why string) []byte {
		in := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), rejected)
		in = protowire.AppendString(protowire.AppendTag(in, 2, protowire.BytesType), why)
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), in)
	}
	for _, c := range []struct {
		answer []byte
		want   string
	}{
		{nil, ""}, {[]byte(`{"partialSuccess":{}}`), ""}, {[]byte{0xff, 0xff}, ""}, {protowire.AppendBytes([]byte{0x0a}, nil), ""}, {partial(0, ""), ""},
		{partial(3, "too old"), `the collector refuses 3 of what it got: "too old"`},
		{append([]byte{0x10, 5}, partial(1, "")...), `the collector refuses 1 of what it got: ""`},
	} {
		err := refusal(c.answer)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: %v", c.answer, err)
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "99999": time.Hour, now.Add(time.Minute).Format(http.TimeFormat): time.Minute,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	tel := &Telemetry{opts: Options{Env: variables(nil), Logger: slog.New(slog.DiscardHandler)}}
	c := tel.collector(t.Context(), s.URL, "traces", nil)
	defer c.close()
	again, after, err := c.post(t.Context(), nil)
	if !again || after != time.Hour || err == nil {
		t.Error(again, after, err)
	}
}

func TestCertificatesOfTheEnvironment(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(roots, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env    map[string]string
		taken  bool
		warned string
	}{
		{nil, false, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": roots}, true, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": roots}, true, ""},
		{map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem"}, false, "none.pem"},
		{map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": roots, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": roots}, false, "without the certificates"},
	} {
		var text strings.Builder
		tel := &Telemetry{opts: Options{Env: variables(c.env), Logger: slog.New(slog.NewTextHandler(&text, nil))}}
		to := tel.collector(t.Context(), s.URL, "traces", nil)
		asked.Store(0)
		_, _, err := to.post(t.Context(), nil)
		if (err == nil) != c.taken || (asked.Load() > 0) != c.taken || !strings.Contains(text.String(), c.warned) {
			t.Errorf("%v: %v, %s", c.env, err, text.String())
		}
		to.close()
	}
}
