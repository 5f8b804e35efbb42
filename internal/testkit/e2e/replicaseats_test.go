package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counting is a server that counts: its state is one number.
func counting(legacy bool, opened func()) *mcp.Server {
	opts := &mcp.ServerOptions{InitializedHandler: func(context.Context, *mcp.InitializedRequest) { opened() }}
	if legacy {
		opts.SupportedProtocolVersions = []string{eras["legacy"]}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "counting", Version: "1"}, opts)
	var n atomic.Int64
	tool := func(name string, do func(ctx context.Context, r *mcp.CallToolRequest) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				text, err := do(ctx, r)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, err
			})
	}
	tool("next", func(context.Context, *mcp.CallToolRequest) (string, error) {
		return strconv.FormatInt(n.Add(1), 10), nil
	})
	tool("ask", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		said, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}})
		if err != nil {
			return "", err
		}
		return fmt.Sprint("hello ", said.Content["name"], " ", n.Load()), nil
	})
	return s
}

// countAsChild is a process of the counting server. It adds itself to a list.
func countAsChild() {
	list, err := os.OpenFile(os.Getenv("COUNTING_LIST"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(list, os.Getpid())
	list.Close()
	counting(os.Getenv("COUNTING_LEGACY") != "", func() {}).Run(context.Background(), &mcp.StdioTransport{})
}

// counters are an isolated process and an isolated server over HTTP.
type counters struct {
	yaml     string
	list     string       // of processes
	sessions atomic.Int64 // over HTTP
	handler  atomic.Pointer[http.Handler]

	mu      sync.Mutex
	servers []*mcp.Server
}

func newCounters(t *testing.T, store string) *counters {
	t.Helper()
	c := &counters{list: filepath.Join(t.TempDir(), "processes")}
	c.forget()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*c.handler.Load()).ServeHTTP(w, r) }))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		for _, one := range c.servers {
			for s := range one.Sessions() {
				s.Close()
			}
		}
	})
	process := func(legacy string) string {
		one := entry([]string{os.Args[0]}, childEnv, "counting", "COUNTING_LIST", c.list+legacy, "COUNTING_LEGACY", legacy,
			"GORACE", "atexit_sleep_ms=0")
		return strings.TrimSuffix(one, "}") + `,"isolation":"session"}`
	}
	c.yaml = lines("store: "+store, "mcpServers:", "  pipe: "+process("legacy"), "  modern: "+process(""),
		"  web: {url: "+srv.URL+", isolation: session}")
	c.list += "legacy"
	return c
}

// forget makes the server over HTTP one that knows no session.
func (c *counters) forget() {
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		s := counting(true, func() { c.sessions.Add(1) })
		c.mu.Lock()
		defer c.mu.Unlock()
		c.servers = append(c.servers, s)
		return s
	}, nil)
	c.handler.Store(&h)
}

// processes are those that were started.
func (c *counters) processes(t *testing.T) (all []int) {
	t.Helper()
	data, err := os.ReadFile(c.list)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for text := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// alive are those that still run.
func (c *counters) alive(t *testing.T) int {
	return len(slices.DeleteFunc(c.processes(t), func(pid int) bool { return syscall.Kill(pid, 0) != nil }))
}

// replicasOf starts gateways in this process, which know of the tools and of each other.
func (c *counters) replicasOf(t *testing.T, n int) (all []*gateway, front *gateway) {
	t.Helper()
	var urls []string
	for range n {
		g := replica(t, c.yaml, 0)
		all = append(all, g)
		urls = append(urls, g.url)
	}
	for _, url := range urls {
		listsCounters(t, url)
	}
	return all, balancer(t, urls...)
}

func listsCounters(t *testing.T, url string) {
	t.Helper()
	r, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tools are listed", func() bool {
		list, err := r.request("tools/list", "{}")
		return err == nil && strings.Count(list, "__next") == 3
	})
}

// call calls a tool in a session that a modern client names, and returns the text, of an error too.
func callIn(t *testing.T, s *mcp.ClientSession, session, tool string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	params := &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}
	if session != "" {
		params.Meta = mcp.Meta{"toolfit/session": session}
	}
	res, err := s.CallTool(ctx, params)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return ""
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func TestASeatIsOneOverAllReplicas(t *testing.T) {
	onStores(t, func(t *testing.T, store string) {
		c := newCounters(t, store)
		_, front := c.replicasOf(t, 3)
		for era, revision := range eras {
			t.Run(era, func(t *testing.T) {
				before := len(c.processes(t))
				sessions := c.sessions.Load()
				s := connectAs(t, overHTTP(front), revision, answering())
				session := ""
				if era == "modern" {
					session = "names itself"
				}
				for _, server := range []string{"pipe", "modern", "web"} {
					var mu sync.Mutex
					var got []string
					var wg sync.WaitGroup
					for range 50 { // the first calls, all at once
						wg.Go(func() {
							text := callIn(t, s, session, server+"__next")
							mu.Lock()
							defer mu.Unlock()
							got = append(got, text)
						})
					}
					wg.Wait()
					for i := 1; i <= 50; i++ {
						if !slices.Contains(got, strconv.Itoa(i)) {
							t.Fatalf("%s: %d is missing: %v", server, i, got)
						}
					}
					for i := 51; i <= 80; i++ {
						if text := callIn(t, s, session, server+"__next"); text != strconv.Itoa(i) {
							t.Fatalf("%s counts %s, not %d", server, text, i)
						}
					}
					for range 3 {
						if server == "modern" {
							break // it would ask in another way
						}
						if text := callIn(t, s, session, server+"__ask"); text != "hello ann 80" {
							t.Errorf("%s hears %q", server, text)
						}
					}
				}
				if n := len(c.processes(t)) - before; n != 1 {
					t.Errorf("%d processes were started", n)
				}
				if n := c.sessions.Load() - sessions; n != 1 {
					t.Errorf("%d sessions were opened", n)
				}
			})
		}
	})
}

// TestASeatIsReachedFromEveryEntrance: the caller's own, by REST and for a modern client that names no session, and a
// session's in a batch.
func TestASeatIsReachedFromEveryEntrance(t *testing.T) {
	c := newCounters(t, filepath.Join(t.TempDir(), "shared.db"))
	all, front := c.replicasOf(t, 3)
	n := 0
	counts := func(how, text string, err error) {
		t.Helper()
		n++
		if err != nil || !strings.Contains(text, `"text":"`+strconv.Itoa(n)+`"`) {
			t.Errorf("%s: %s, %v, want %d", how, text, err, n)
		}
	}
	for _, g := range append(all, all...) {
		resp, err := plainHTTP.Post(g.url+"/api/v1/tools/pipe__next/call", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		counts("REST", string(said), err)
		text, err := modernCall(g.url, "pipe__next", "{}", "")
		counts("modern", text, err)
	}
	n = 0
	client := &httpClient{http: plainHTTP, url: front.url + "/mcp"}
	if _, err := client.request("initialize", strings.Replace(asking, "2025-11-25", "2025-03-26", 1)); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		one := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pipe__next","arguments":{}}}`
		resp := client.streamed(t, front.url, "POST", "["+one+"]")
		said, err := io.ReadAll(resp.Body)
		counts("batch", string(said), err)
	}
}

func TestASeatEndsWithItsSessionAtAnyReplica(t *testing.T) {
	c := newCounters(t, filepath.Join(t.TempDir(), "shared.db"))
	all, _ := c.replicasOf(t, 3)
	before := c.alive(t)
	client := &httpClient{http: plainHTTP, url: all[0].url + "/mcp"}
	if _, err := client.request("initialize", asking); err != nil {
		t.Fatal(err)
	}
	for i, g := range all {
		client.url = g.url + "/mcp"
		text, err := client.request("tools/call", `{"name":"pipe__next","arguments":{}}`)
		if err != nil || !strings.Contains(text, strconv.Itoa(i+1)) {
			t.Fatalf("%s, %v", text, err)
		}
	}
	if n := c.alive(t) - before; n != 1 {
		t.Errorf("%d processes", n)
	}
	if resp := client.streamed(t, all[2].url, "DELETE", ""); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("status %d", resp.StatusCode)
	}
	eventually(t, "the process ends", func() bool { return c.alive(t) == before })
	for _, g := range all {
		g.stop()
	}
	again := replica(t, c.yaml, 0)
	client.url = again.url + "/mcp"
	if list, err := client.request("tools/list", "{}"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("after all were started again: %s, %v", list, err)
	}
}

// serveAt runs the built program as a replica at an address.
func (c *counters) serveAt(t *testing.T, path, addr string, alone bool) *running {
	t.Helper()
	cmd := exec.Command(program(t), "serve", "--config", path, "--listen", addr)
	cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey)
	if !alone {
		cmd.Env = append(cmd.Env, "TOOLFIT_REPLICA_URL=http://"+addr)
	}
	r := runCommand(t, cmd)
	listsCounters(t, r.url)
	return r
}

const isGone = "is gone, and the call was not sent"

func TestASeatWhoseReplicaIsKilled(t *testing.T) {
	onStores(t, func(t *testing.T, store string) {
		c := newCounters(t, store)
		path := write(t, c.yaml)
		all := map[string]*running{}
		var urls []string
		for range 3 {
			r := c.serveAt(t, path, freeAddress(t), false)
			all[r.url] = r
			urls = append(urls, r.url)
		}
		front := balancer(t, urls...)
		s := connectAs(t, overHTTP(&gateway{url: urls[0]}), eras["legacy"], nil) // here are its seats
		id := s.ID()
		for i := 1; i <= 3; i++ {
			for _, server := range []string{"pipe", "web"} {
				if text := callIn(t, s, "", server+"__next"); text != strconv.Itoa(i) {
					t.Fatalf("%s counts %s, not %d", server, text, i)
				}
			}
		}
		client := &httpClient{http: plainHTTP, url: front.url + "/mcp", session: id}
		next := func(server string) string {
			text, err := client.request("tools/call", `{"name":"`+server+`__next","arguments":{}}`)
			if err != nil {
				t.Errorf("%s: %v", server, err)
			}
			return text
		}
		for i := 4; i <= 9; i++ { // through the others as well
			for _, server := range []string{"pipe", "web"} {
				if text := next(server); !strings.Contains(text, `"text":"`+strconv.Itoa(i)+`"`) {
					t.Fatalf("%s counts %s, not %d", server, text, i)
				}
			}
		}
		all[urls[0]].Process.Kill()
		all[urls[0]].waitExit(t)
		for i := 10; i <= 15; i++ {
			if text := next("web"); !strings.Contains(text, `"text":"`+strconv.Itoa(i)+`"`) {
				t.Errorf("the server over HTTP counts %s, not %d", text, i)
			}
		}
		if text := next("pipe"); !strings.Contains(text, isGone) {
			t.Errorf("the first call after the end of the process: %s", text)
		}
		for i := 1; i <= 6; i++ {
			if text := next("pipe"); !strings.Contains(text, `"text":"`+strconv.Itoa(i)+`"`) {
				t.Errorf("then the process counts %s, not %d", text, i)
			}
		}
		if n := c.sessions.Load(); n > 4 { // three replicas have one of their own each
			t.Errorf("%d sessions were opened", n)
		}
		c.forget()
		if text := next("web"); !strings.Contains(text, isGone) {
			t.Errorf("the first call after the server has forgotten the session: %s", text)
		}
		for i := 1; i <= 6; i++ {
			if text := next("web"); !strings.Contains(text, `"text":"`+strconv.Itoa(i)+`"`) {
				t.Errorf("then the server over HTTP counts %s, not %d", text, i)
			}
		}
	})
}

// TestASeatOfAGatewayThatIsRestarted: there is only one, and its clients' sessions survive it.
func TestASeatOfAGatewayThatIsRestarted(t *testing.T) {
	for name, how := range map[string]os.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			c := newCounters(t, filepath.Join(t.TempDir(), "own.db"))
			path := write(t, c.yaml)
			addr := freeAddress(t)
			first := c.serveAt(t, path, addr, true)
			s := connectAs(t, &mcp.StreamableClientTransport{Endpoint: first.url + "/mcp", HTTPClient: plainStreams, MaxRetries: -1},
				eras["legacy"], nil)
			for i := 1; i <= 3; i++ {
				for _, server := range []string{"pipe", "web"} {
					if text := callIn(t, s, "", server+"__next"); text != strconv.Itoa(i) {
						t.Fatalf("%s counts %s, not %d", server, text, i)
					}
				}
			}
			client := &httpClient{http: plainHTTP, url: first.url + "/mcp", session: s.ID()}
			if err := first.Process.Signal(how); err != nil {
				t.Fatal(err)
			}
			first.waitExit(t)
			c.serveAt(t, path, addr, true)
			for _, want := range []string{"pipe gone", "pipe 1", "web 4", "pipe 2", "web 5"} {
				server, text, _ := strings.Cut(want, " ")
				got, err := client.request("tools/call", `{"name":"`+server+`__next","arguments":{}}`)
				if text == "gone" && !strings.Contains(got, isGone) || text != "gone" && !strings.Contains(got, `"text":"`+text+`"`) || err != nil {
					t.Errorf("got %s, %v, want %s", got, err, want)
				}
			}
		})
	}
}
