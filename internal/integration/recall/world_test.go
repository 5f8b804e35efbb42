package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// world is the service between fakes of both other services and of our own servers.
type world struct {
	*Service
	t        testing.TB
	upstream *httptest.Server
	registry *prometheus.Registry
	log      *bytes.Buffer
	clock    time.Time

	answers map[string]string // of the other services, by "METHOD path": status and body
	results map[string]string // of our own servers, by "server tool"

	mu      sync.Mutex
	sent    []string // requests to the other services and to our servers
	records []store.Call
	opened  int   // connections to the other services
	refuses error // why calls are not to be made
	unkept  error // why records are not taken
}

// ownTools are the servers of ours, by id: a list of definitions.
func newWorld(t testing.TB, text string, own map[string]string) *world {
	t.Helper()
	w := &world{t: t, log: &bytes.Buffer{}, registry: prometheus.NewRegistry(), answers: map[string]string{}, results: map[string]string{}}
	w.clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.upstream = httptest.NewUnstartedServer(http.HandlerFunc(w.serveUpstream))
	w.upstream.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			w.mu.Lock()
			w.opened++
			w.mu.Unlock()
		}
	}
	w.upstream.Start()
	t.Cleanup(w.upstream.Close)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	views := w.catalog(cfg, own)
	w.Service, err = New(Parts{
		Config: cfg, Catalog: views, Caller: call.New(views, sender{w: w}, recorder{w}, nil), Admit: admit, Key: []byte("test key"),
		Client: w.client(), Metrics: NewMetrics(w.registry), Logger: slog.New(slog.NewTextHandler(w, nil)), Now: w.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

// Write keeps the log, but not forever.
func (w *world) Write(line []byte) (int, error) {
	if w.log.Len() < 1<<20 {
		w.log.Write(line)
	}
	return len(line), nil
}

// client reaches the fake whatever host it is told to reach.
func (w *world) client() *http.Client {
	c := newClient()
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, w.upstream.Listener.Addr().String())
	}
	w.t.Cleanup(c.CloseIdleConnections)
	return c
}

func (w *world) catalog(cfg *config.Config, own map[string]string) *catalog.Catalog {
	var rows []store.Server
	for id, list := range own {
		row := store.Server{ID: tool.ServerID(id), ListedAt: w.clock}
		var defs []json.RawMessage
		if err := json.Unmarshal([]byte(list), &defs); err != nil {
			w.t.Fatalf("tools of %s: %v", id, err)
		}
		for _, def := range defs {
			d, err := tool.ParseDefinition(def)
			if err != nil {
				w.t.Fatal(err)
			}
			row.Tools = append(row.Tools, store.Tool{Name: d.Name, Definition: def})
		}
		rows = append(rows, row)
	}
	views, err := catalog.New(w.t.Context(), noLister{}, keeper{rows}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	views.Apply(cfg)
	return views
}

// serveUpstream answers as told. "hang" waits until the client leaves, "close" breaks off.
func (w *world) serveUpstream(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.EscapedPath()
	line := fmt.Sprintf("%s %s%s account=%s/%s", r.Method, r.Host, r.URL.EscapedPath(), r.Header.Get("X-Account-Id"),
		r.Header.Get("X-Account-Type"))
	if as := r.Header.Get("X-Http-Method-Override"); as != "" {
		line += " as=" + as
	}
	if len(body) > 0 {
		line += "\n" + string(body)
	}
	w.mu.Lock()
	w.sent = append(w.sent, line)
	told, ok := w.answers[key]
	w.mu.Unlock()
	if !ok {
		told = "404\n{\"error\":\"no such thing\"}"
	}
	status, text, _ := strings.Cut(told, "\n")
	switch status {
	case "hang":
		<-r.Context().Done()
	case "close":
		panic(http.ErrAbortHandler)
	default:
		var code int
		fmt.Sscan(status, &code)
		out.Header().Set("Content-Type", "application/json")
		out.WriteHeader(code)
		io.WriteString(out, strings.TrimSuffix(text, "\n"))
	}
}

// do serves one request: its first line, headers, an empty line, and the body.
func (w *world) do(text string) *httptest.ResponseRecorder {
	w.t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimRight(head, "\n"), "\n")
	method, target, ok := strings.Cut(lines[0], " ")
	if !ok {
		w.t.Fatalf("no request line in %q", text)
	}
	r := httptest.NewRequest(method, target, strings.NewReader(strings.TrimSuffix(body, "\n")))
	r.Host = "agent-retrieval:30779"
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Remote":
			r.RemoteAddr = value
		case "Host":
			r.Host = value
		default:
			r.Header.Add(name, value)
		}
	}
	res := httptest.NewRecorder()
	w.ServeHTTP(res, r.WithContext(w.t.Context()))
	return res
}

// takeSent gives what was sent since it was last asked.
func (w *world) takeSent() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// admit knows one key.
func admit(r *http.Request) (access.Principal, error) {
	switch r.Header.Get("Authorization") {
	case "Bearer tf_good":
		return access.Principal{ID: "k1", Name: "k1", Role: access.Caller, Profile: "default"}, nil
	case "Bearer tf_admin":
		return access.Principal{ID: "k3", Name: "k3", Role: access.Admin, Profile: access.AnyProfile}, nil
	case "Bearer tf_viewer":
		return access.Principal{ID: "k2", Name: "k2", Role: access.Viewer, Profile: "default"}, nil
	}
	return access.Principal{}, fault.New(fault.Unauthorized, "no key")
}

type sender struct {
	call.Tasks
	w *world
}

func (s sender) Curl(context.Context, upstream.Call) (string, error) { return "", nil }

func (s sender) Call(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.sent = append(s.w.sent, fmt.Sprintf("CALL %s %s\n%s", c.Server, c.Tool, c.Params))
	told, ok := s.w.results[string(c.Server)+" "+c.Tool]
	switch {
	case !ok:
		return upstream.Outcome{}, fault.New(fault.UpstreamDown, "server %s is down", c.Server)
	case strings.HasPrefix(told, "fault "):
		return upstream.Outcome{}, fault.New(fault.Code(strings.TrimSpace(told[6:])), "server %s: as told", c.Server)
	}
	return upstream.Outcome{Raw: json.RawMessage(strings.TrimSpace(told))}, nil
}

type recorder struct{ w *world }

func (recorder) NewID() string { return "c_1" }
func (r recorder) Refuses() error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.refuses
}
func (r recorder) Add(_ context.Context, c store.Call) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.records = append(r.w.records, c)
	return r.w.unkept
}

type keeper struct{ rows []store.Server }

func (k keeper) Servers(context.Context) ([]store.Server, error) { return k.rows, nil }
func (keeper) SaveTools(context.Context, store.Server) error     { return nil }
func (keeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (keeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (keeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

type noLister struct{}

func (noLister) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	return upstream.Listing{}, errors.New("not asked here")
}
func (noLister) Recognize(tool.ServerID, upstream.Listing) {}

// contextThatEndsWhenSent is that of a caller who leaves as soon as its request is on its way.
func contextThatEndsWhenSent(t *testing.T, w *world) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	inner := w.remote.client.Transport
	w.remote.client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		cancel()
		return inner.RoundTrip(r)
	})}
	return ctx, cancel
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
