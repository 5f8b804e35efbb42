package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const replicaKey = "one key for all the replicas"

// replica serves on the listener as one of several gateways.
func replica(t *testing.T, yaml string, lease time.Duration) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOOLFIT_SECRET_KEY": replicaKey, "TOOLFIT_REPLICA_URL": "http://" + l.Addr().String()}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, err := config.Load(write(t, yaml+"replica: {drain: 0s}\n"), lookup)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, &app.Options{Version: "test", Env: lookup, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l, nil) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(stop)
	return &gateway{url: "http://" + l.Addr().String(), stop: stop}
}

// balancer sends each request to the next gateway. One that did not answer is left out for half a second: a process
// that is being killed still accepts connections for a moment.
func balancer(t *testing.T, gateways ...string) *gateway {
	t.Helper()
	var next atomic.Int64
	failed := make([]atomic.Int64, len(gateways)) // when each last did not answer, as Unix milliseconds
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Rewrite:       func(p *httputil.ProxyRequest) { p.Out.Host = "" },
		Transport: roundTrip(func(r *http.Request) (resp *http.Response, err error) {
			var body []byte
			if r.Body != nil {
				body, _ = io.ReadAll(r.Body)
			}
			first := int(next.Add(1))
			for try := range 2 * len(gateways) { // those that did not answer come last
				i := (first + try) % len(gateways)
				if time.Now().UnixMilli() < failed[i].Load()+500 && try < len(gateways) {
					continue
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				to, _ := url.Parse(gateways[i])
				r.URL.Scheme = to.Scheme
				r.URL.Host = to.Host
				if resp, err = plainHTTP.Transport.RoundTrip(r); err == nil || r.Context().Err() != nil {
					return resp, err
				}
				failed[i].Store(time.Now().UnixMilli())
				if !strings.Contains(err.Error(), "connection refused") {
					return nil, err
				}
			}
			return nil, err
		}),
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return &gateway{url: srv.URL}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// curious is a server that asks, tells and waits.
type curious struct {
	*mcp.Server
	url      string
	canceled chan string // tools whose calls were canceled
}

func newCurious(t *testing.T) *curious {
	t.Helper()
	c := &curious{canceled: make(chan string, 10)}
	c.Server = mcp.NewServer(&mcp.Implementation{Name: "curious", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	over, end := context.WithCancel(context.Background()) // the SDK waits for calls before it ends their session
	tool := func(name string, do func(ctx context.Context, r *mcp.CallToolRequest) (string, error)) {
		c.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				ctx, cancel := context.WithCancel(ctx)
				defer context.AfterFunc(over, cancel)()
				defer cancel()
				text, err := do(ctx, r)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, err
			})
	}
	tool("plain", func(context.Context, *mcp.CallToolRequest) (string, error) { return "plain", nil })
	tool("ask", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		said, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
		if err != nil {
			return "", err
		}
		return fmt.Sprint("hello ", said.Content["name"]), nil
	})
	tool("sample", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) { return sampled(ctx, r.Session) })
	tool("count", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		for i := range 3 {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1)})
		}
		return "counted", nil
	})
	tool("big", func(context.Context, *mcp.CallToolRequest) (string, error) {
		return `{"items":[{"id":0,"note":"note 0"},{"id":1,"note":"note 1"},{"id":2,"note":"note 2"}]}`, nil
	})
	tool("touch", func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
		return "touched", c.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://watched"})
	})
	tool("wait", func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
		select {
		case <-ctx.Done():
			c.canceled <- "wait"
			return "", ctx.Err()
		case <-time.After(patience):
			return "not canceled", nil
		}
	})
	c.AddResource(&mcp.Resource{URI: "test://watched", Name: "watched"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://watched", Text: "x"}}}, nil
		})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return c.Server }, nil))
	t.Cleanup(func() {
		end()
		srv.CloseClientConnections()
		srv.Close()
		for s := range c.Sessions() { // of gateways that were killed
			s.Close()
		}
	})
	c.url = srv.URL
	return c
}

// onStores runs a test with replicas on each kind of store.
func onStores(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("SQLite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "shared.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, testparts.NeedPostgres(t).Schema(t)) })
}

// three starts three replicas on one store, behind a balancer.
func three(t *testing.T, server *curious, store string) (all []*gateway, front *gateway) {
	t.Helper()
	yaml := lines("store: "+store) + bare(server.url)
	var urls []string
	for range 3 {
		g := replica(t, yaml, 0)
		all = append(all, g)
		urls = append(urls, g.url)
	}
	for _, g := range all {
		c, err := dialRaw(g.url+"/mcp", "")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the tools are listed", func() bool {
			list, err := c.request("tools/list", "{}")
			return err == nil && strings.Contains(list, `"wait"`)
		})
	}
	time.Sleep(1100 * time.Millisecond) // until each has looked for the others again
	return all, balancer(t, urls...)
}

func TestAnyReplicaServesAnyClient(t *testing.T) {
	onStores(t, func(t *testing.T, store string) {
		server := newCurious(t)
		all, front := three(t, server, store)
		for name, revision := range eras {
			t.Run(name+" client of the Go SDK", func(t *testing.T) { useAll(t, server, front, revision) })
		}
		t.Run("one that goes down", func(t *testing.T) {
			heard := make(chan string, 100)
			s := connectAs(t, overHTTP(front), eras["legacy"], hearing(heard))
			all[0].stop()
			for range 6 {
				if text := callText(t, s, "ask", map[string]any{}); text != "hello ann" {
					t.Errorf("%q", text)
				}
			}
			hears(t, server, s, heard)
		})
	})
}

func hearing(heard chan string) *mcp.ClientOptions {
	opts := answering()
	opts.ResourceUpdatedHandler = func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }
	opts.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		heard <- fmt.Sprint("progress ", r.Params.Progress)
	}
	return opts
}

// hears subscribes and waits until the client hears of a change.
func hears(t *testing.T, server *curious, s *mcp.ClientSession, heard chan string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: "test://watched"}); err != nil {
		t.Fatal(err)
	}
	server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://watched"})
	for {
		select {
		case what := <-heard:
			if what == "test://watched" {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the client never heard that the resource has changed")
		}
	}
}

// useAll does everything several times, so that it meets every replica.
func useAll(t *testing.T, server *curious, front *gateway, revision string) {
	heard := make(chan string, 100)
	s := connectAs(t, overHTTP(front), revision, hearing(heard))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 4 {
		if all := names(t, s); len(all) < 5 {
			t.Fatalf("listed: %v", all)
		}
		for tool, want := range map[string]string{"plain": "plain", "ask": "hello ann", "sample": "Paris"} {
			if text := callText(t, s, tool, map[string]any{}); text != want {
				t.Errorf("%s: %q", tool, text)
			}
		}
		params := &mcp.CallToolParams{Name: "count", Arguments: map[string]any{}}
		params.SetProgressToken("p")
		if _, err := s.CallTool(ctx, params); err != nil {
			t.Error(err)
		}
		for range 3 {
			if what := <-heard; !strings.HasPrefix(what, "progress") {
				t.Error(what)
			}
		}
		call, stop := context.WithCancel(ctx)
		time.AfterFunc(100*time.Millisecond, stop)
		s.CallTool(call, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{}})
		select {
		case <-server.canceled:
		case <-time.After(10 * time.Second):
			t.Error("the server never heard that the call was canceled")
		}
	}
	if revision != eras["modern"] {
		hears(t, server, s, heard)
		if err := s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
			t.Error(err)
		}
	}
}

// streamed sends a request of the session and returns its answer, a stream.
func (c *httpClient) streamed(t *testing.T, url, method, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", c.session)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := plainStreams.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// event reads the next event that has data.
func event(t *testing.T, in *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		line = strings.TrimSpace(line)
		if after, ok := strings.CutPrefix(line, "id: "); ok {
			id = after
		}
		if after, ok := strings.CutPrefix(line, "data: "); ok && after != "" {
			return id, after
		}
	}
}

// questionID finds the id of a question.
var questionID = regexp.MustCompile(`"id":("[^"]+"|\d+),"method":"elicitation/create"`)

const asking = `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}`

// TestWhatIsAtOneReplicaIsReachedThroughAnother goes to a certain replica with each message.
func TestWhatIsAtOneReplicaIsReachedThroughAnother(t *testing.T) {
	onStores(t, func(t *testing.T, store string) {
		server := newCurious(t)
		all, _ := three(t, server, store)
		a, b, c := all[0].url, all[1].url, all[2].url
		client := &httpClient{http: plainHTTP, url: a + "/mcp"}
		if _, err := client.request("initialize", asking); err != nil {
			t.Fatal(err)
		}
		call := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask","arguments":{}}}`

		t.Run("the rest of a broken stream, and an answer", func(t *testing.T) {
			resp := client.streamed(t, a, "POST", call)
			id, question := event(t, bufio.NewReader(resp.Body))
			resp.Body.Close()
			asked := questionID.FindStringSubmatch(question)
			if asked == nil {
				t.Fatalf("no question: %s", question)
			}
			answer := `{"jsonrpc":"2.0","id":` + asked[1] + `,"result":{"action":"accept","content":{"name":"ann"}}}`
			if resp := client.streamed(t, b, "POST", answer); resp.StatusCode != http.StatusAccepted {
				t.Fatalf("status %d", resp.StatusCode)
			}
			resp = client.streamed(t, c, "GET", "", "Last-Event-ID", id)
			if _, result := event(t, bufio.NewReader(resp.Body)); !strings.Contains(result, "hello ann") {
				t.Errorf("the rest: %s", result)
			}
		})
		t.Run("subscriptions go where the session's stream is, and it is found again", func(t *testing.T) {
			stream := client.streamed(t, a, "GET", "")
			in := bufio.NewReader(stream.Body)
			subscribe := `{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"test://watched"}}`
			if resp := client.streamed(t, b, "POST", subscribe); resp.StatusCode != http.StatusOK {
				t.Fatalf("status %d", resp.StatusCode)
			}
			update := func() {
				server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test://watched"})
			}
			update()
			id, data := event(t, in)
			if !strings.Contains(data, "test://watched") {
				t.Errorf("heard %s", data)
			}
			stream.Body.Close()
			update()
			stream = client.streamed(t, c, "GET", "", "Last-Event-ID", id)
			if _, data := event(t, bufio.NewReader(stream.Body)); !strings.Contains(data, "test://watched") {
				t.Errorf("heard %s", data)
			}
			stream.Body.Close()
		})
		t.Run("answers for a parked call of a modern client", func(t *testing.T) {
			interim, err := modernCall(a, "ask", `{}`, "")
			if err != nil {
				t.Fatal(err)
			}
			done, err := modernCall(b, "ask", `{}`, answers(interim, `{"action":"accept","content":{"name":"eve"}}`))
			if err != nil || !strings.Contains(done, "hello eve") {
				t.Errorf("%s, %v", done, err)
			}
		})
		t.Run("a session that was deleted is gone everywhere", func(t *testing.T) {
			if resp := client.streamed(t, b, "DELETE", ""); resp.StatusCode != http.StatusNoContent {
				t.Fatalf("status %d", resp.StatusCode)
			}
			for _, g := range all {
				client.url = g.url + "/mcp"
				if _, err := client.request("tools/list", "{}"); err == nil || !strings.Contains(err.Error(), "404") {
					t.Errorf("listed after the end: %v", err)
				}
			}
		})
		t.Run("a client that says too much about itself for its token", func(t *testing.T) {
			long := &httpClient{http: plainHTTP, url: a + "/mcp"}
			if _, err := long.request("initialize", strings.Replace(asking, "raw", strings.Repeat("长", 1000), 1)); err != nil {
				t.Fatal(err)
			}
			for _, g := range all {
				long.url = g.url + "/mcp"
				if text, err := long.request("tools/call", `{"name":"plain","arguments":{}}`); err != nil || !strings.Contains(text, "plain") {
					t.Errorf("%s, %v", text, err)
				}
			}
		})
		t.Run("a pass that nobody gave", func(t *testing.T) {
			resp := client.streamed(t, a, "POST", call, "Toolfit-Pass", "AAAA")
			if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%d %s", resp.StatusCode, said)
			}
		})
	})
}

func TestWhatIsPassedOnIsCountedOnce(t *testing.T) {
	store := filepath.Join(t.TempDir(), "shared.db")
	yaml := lines("store: "+store, "rate: {perKey: 1/h, burst: 5}") + bare(newCurious(t).url)
	a := replica(t, yaml, 0)
	b := replica(t, yaml, 0)
	client := &httpClient{http: plainHTTP, url: a.url + "/mcp"}
	if _, err := client.request("initialize", asking); err != nil {
		t.Fatal(err)
	}
	client.streamed(t, a.url, "GET", "")
	subscribe := `{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"test://watched"}}`
	for i := range 4 {
		want := http.StatusOK
		if i == 3 {
			want = http.StatusTooManyRequests // by the one that it came to
		}
		if resp := client.streamed(t, b.url, "POST", subscribe); resp.StatusCode != want {
			t.Errorf("%d: status %d", i, resp.StatusCode)
		}
	}
}
