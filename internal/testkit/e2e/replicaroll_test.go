//go:build unix

package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // a look into the store
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestAReplicaThatGoesDownEndsItsCalls: whose questions are answered through another one.
func TestAReplicaThatGoesDownEndsItsCalls(t *testing.T) {
	server := newCurious(t)
	all, _ := three(t, server, filepath.Join(t.TempDir(), "shared.db"))
	a, b, c := all[0].url, all[1].url, all[2].url
	client := &httpClient{http: plainHTTP, url: a + "/mcp"}
	if _, err := client.request("initialize", asking); err != nil {
		t.Fatal(err)
	}
	news := bufio.NewReader(client.streamed(t, a, "GET", "").Body)
	passed := bufio.NewReader(client.streamed(t, b, "GET", "").Body) // takes over, through b
	if _, err := io.ReadAll(news); err != nil {
		t.Fatal(err)
	}
	const ask = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask","arguments":{}}}`
	call := bufio.NewReader(client.streamed(t, a, "POST", ask).Body)
	_, question := event(t, call)
	asked := questionID.FindStringSubmatch(question)
	if asked == nil {
		t.Fatalf("no question: %s", question)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		all[0].stop()
	}()
	if _, err := io.ReadAll(passed); err != nil {
		t.Errorf("the session's stream ended with %v", err)
	}
	again := bufio.NewReader(client.streamed(t, c, "GET", "").Body)
	subscribe := `{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"test://watched"}}`
	if resp := client.streamed(t, a, "POST", subscribe); resp.StatusCode != http.StatusOK { // by one that has not noticed yet
		t.Errorf("status %d", resp.StatusCode)
	}
	server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test://watched"})
	if _, data := event(t, again); !strings.Contains(data, "test://watched") {
		t.Errorf("heard %s", data)
	}
	answer := `{"jsonrpc":"2.0","id":` + asked[1] + `,"result":{"action":"accept","content":{"name":"ann"}}}`
	if resp := client.streamed(t, b, "POST", answer); resp.StatusCode != http.StatusAccepted {
		t.Errorf("status %d", resp.StatusCode)
	}
	if _, result := event(t, call); !strings.Contains(result, "hello ann") {
		t.Errorf("the call ended with %s", result)
	}
	select {
	case <-stopped:
	case <-time.After(5 * time.Second):
		t.Error("it waits for something else than the call")
	}
}

// TestACallThatOutlastsItsReplicaIsNotLost: its caller gets a handle, and another one goes on with it if that is safe.
func TestACallThatOutlastsItsReplicaIsNotLost(t *testing.T) {
	server := newHeldServer(t, false)
	yaml := lines("store: "+filepath.Join(t.TempDir(), "shared.db")) + bare(server.URL)
	a := replica(t, yaml, 0)
	b := replica(t, yaml, 0)
	client, err := dialRaw(a.url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tools are listed", func() bool {
		list, err := client.request("tools/list", "{}")
		return err == nil && strings.Contains(list, `"hold"`)
	})
	var work sync.WaitGroup
	said := map[string]*string{"hold": new(string), "look": new(string)}
	for tool, result := range said {
		c, err := dialRaw(a.url+"/mcp", "")
		if err != nil {
			t.Fatal(err)
		}
		work.Go(func() {
			var err error
			*result, err = c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%q}}`, tool, tool))
			if err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "the calls are under way", func() bool { return server.saw("hold hold") == 1 && server.saw("look look") == 1 })
	a.stop()
	work.Wait()
	server.let("look")
	for tool, want := range map[string]string{"hold": maybe, "look": "done"} {
		if got := collect(t, b.url, handle(t, *said[tool], nil)); !strings.Contains(got, want) {
			t.Errorf("%s ended with %s", tool, got)
		}
	}
	if server.saw("hold hold") != 1 || server.saw("look look") != 2 {
		t.Errorf("sent: %v", server.seen)
	}
}

// TestAReplicaServesOnUntilBalancersHaveNoticed: and a second signal ends it at once.
func TestAReplicaServesOnUntilBalancersHaveNoticed(t *testing.T) {
	addr := freeAddress(t)
	store := filepath.Join(t.TempDir(), "shared.db")
	path := write(t, lines("store: "+store, "replica: {drain: 10s}", "mcpServers: {shop: {builtin: demo-shop}}"))
	cmd := exec.Command(program(t), "serve", "--config", path, "--listen", addr)
	cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey, "TOOLFIT_REPLICA_URL=http://"+addr)
	r := runCommand(t, cmd)
	client, err := dialRaw(r.url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{} // which uses connections again
	t.Cleanup(transport.CloseIdleConnections)
	get := func() (status int, closes bool) {
		resp, err := (&http.Client{Transport: transport}).Get(r.url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, resp.Close
	}
	if status, closes := get(); status != http.StatusOK || closes {
		t.Errorf("status %d", status)
	}
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it says that it goes down", func() bool {
		status, closes := get()
		return status == http.StatusServiceUnavailable && closes
	})
	if _, err := dialRaw(r.url+"/mcp", ""); err != nil {
		t.Errorf("a new session: %v", err)
	}
	if list, err := client.request("tools/list", "{}"); err != nil || !strings.Contains(list, "list_orders") {
		t.Errorf("%s, %v", list, err)
	}
	began := time.Now()
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the second signal took %s", took)
	}
}

func TestReplicasKeepToARateTogether(t *testing.T) {
	store := testparts.NeedPostgres(t).Schema(t)
	const rate, burst, all = 20, 40, 3
	yaml := lines("store: "+store, fmt.Sprintf("rate: {perKey: %d/s, burst: %d}", rate, burst), "mcpServers: {shop: {builtin: demo-shop}}")
	var urls []string
	for range all {
		urls = append(urls, replica(t, yaml, 0).url)
	}
	front := balancer(t, urls...)
	ask := func() int {
		resp, err := plainHTTP.Get(front.url + "/api/v1/agents")
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	var passed, tried atomic.Int64
	var work sync.WaitGroup
	began := time.Now()
	for range 8 {
		work.Go(func() {
			for time.Since(began) < 3*time.Second {
				tried.Add(1)
				switch status := ask(); status {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusTooManyRequests:
				default:
					t.Errorf("status %d", status)
				}
			}
		})
	}
	work.Wait()
	took := time.Since(began).Seconds()
	limit := burst + rate*took
	t.Logf("%d of %d pass in %.1f s, the limit is %.0f", passed.Load(), tried.Load(), took, limit)
	if n := float64(passed.Load()); n > limit+all*burst/10+1 || n < 0.8*min(limit, float64(tried.Load())) {
		t.Error("more pass, or less")
	}
	time.Sleep(time.Second)
	for i := range rate { // at half the rate, wherever it comes to
		if status := ask(); status != http.StatusOK {
			t.Errorf("request %d within the rate: status %d", i, status)
		}
		time.Sleep(2 * time.Second / rate)
	}
}

// deployment is gateways behind a balancer that asks each whether it is ready.
type deployment struct {
	*gateway
	mu    sync.Mutex
	all   []string
	ready []string
	next  int
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	f := &deployment{}
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(p *httputil.ProxyRequest) { p.Out.Host = "" },
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				http.Error(w, "balancer: "+err.Error(), http.StatusBadGateway)
			}
		},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			to, err := url.Parse(f.pick())
			if err != nil {
				return nil, err
			}
			r.URL.Scheme = to.Scheme
			r.URL.Host = to.Host
			return plainHTTP.Transport.RoundTrip(r)
		}),
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	f.gateway = &gateway{url: srv.URL}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			f.look()
			time.Sleep(100 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	return f
}

func (f *deployment) pick() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.ready) == 0 {
		return "http://127.0.0.1:1"
	}
	f.next++
	return f.ready[f.next%len(f.ready)]
}

// look asks each gateway whether it is ready.
func (f *deployment) look() {
	f.mu.Lock()
	all := f.all
	f.mu.Unlock()
	var ready []string
	for _, g := range all {
		resp, err := plainHTTP.Get(g + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			ready = append(ready, g)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ready = ready
}

// add starts a gateway and waits until the balancer uses it.
func (f *deployment) add(t *testing.T, program, config string) *running {
	t.Helper()
	addr := freeAddress(t)
	cmd := exec.Command(program, "serve", "--config", config, "--listen", addr)
	cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey, "TOOLFIT_REPLICA_URL=http://"+addr)
	r := runCommand(t, cmd)
	f.mu.Lock()
	f.all = append(f.all[:len(f.all):len(f.all)], r.url)
	f.mu.Unlock()
	eventually(t, "the balancer uses it", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return strings.Contains(strings.Join(f.ready, " "), r.url)
	})
	return r
}

// nextProgram builds the program with one more migration, which adds to a table that is in use.
func nextProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	folder, err := filepath.Abs("../../state/store/migrations")
	if err != nil {
		t.Fatal(err)
	}
	const added = "ALTER TABLE calls ADD COLUMN later TEXT NOT NULL DEFAULT '';\nCREATE TABLE later (id TEXT PRIMARY KEY);\n"
	rewrite(t, filepath.Join(dir, "next.sql"), added)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(folder, "9999_next.sql"): filepath.Join(dir, "next.sql")}})
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, "overlay.json"), string(overlay))
	path := filepath.Join(dir, "toolfit.exe")
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, "github.com/toolfit/toolfit/cmd/toolfit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the next toolfit: %v\n%s", err, out)
	}
	return path
}

// counter is a server that counts how often it gets each number.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
}

func newCounter(t *testing.T) (*counter, string) {
	t.Helper()
	c := &counter{seen: map[string]int{}}
	server := mcp.NewServer(&mcp.Implementation{Name: "counter", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "count", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ N string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			c.mu.Lock()
			c.seen[in.N]++
			n := len(c.seen)
			c.mu.Unlock()
			if n%50 == 0 {
				time.Sleep(500 * time.Millisecond) // some are under way when a gateway goes down
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "counted " + in.N}}}, nil
		})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true})) // gateways that are killed end no session
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return c, srv.URL
}

// TestGatewaysAreUpgradedOneByOneUnderLoad: to a version with a new schema. Nothing fails, and nothing is sent twice.
func TestGatewaysAreUpgradedOneByOneUnderLoad(t *testing.T) {
	store := testparts.NeedPostgres(t).Schema(t)
	next := nextProgram(t)
	counted, server := newCounter(t)
	config := write(t, lines("store: "+store, "replica: {drain: 1s}")+bare(server))
	f := newDeployment(t)
	var old []*running
	for range 3 {
		old = append(old, f.add(t, program(t), config))
	}
	var done atomic.Bool
	var calls, failed atomic.Int64
	var work sync.WaitGroup
	use := func(who int, call func(n string) (string, error)) {
		work.Go(func() {
			for i := 0; !done.Load(); i++ {
				n := fmt.Sprintf("%d-%d", who, i)
				said, err := call(n)
				calls.Add(1)
				if err != nil || !strings.Contains(said, "counted "+n) {
					failed.Add(1)
					t.Errorf("call %s: %s, %v", n, said, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	for who := range 4 {
		c, err := dialRaw(f.url+"/mcp", "")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the tools are listed", func() bool {
			list, err := c.request("tools/list", "{}")
			return err == nil && strings.Contains(list, `"count"`)
		})
		use(who, func(n string) (string, error) {
			return c.request("tools/call", fmt.Sprintf(`{"name":"count","arguments":{"n":%q}}`, n))
		})
	}
	who := 4
	for name, revision := range eras { // with streams of their own
		s := connectAs(t, overHTTP(f.gateway), revision, nil)
		use(who, func(n string) (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "count", Arguments: map[string]any{"n": n}})
			if err != nil {
				return "", fmt.Errorf("%s client: %w", name, err)
			}
			text, _ := json.Marshal(result.Content)
			return string(text), nil
		})
		who++
	}
	for _, g := range old {
		f.add(t, next, config)
		if err := g.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		g.waitExit(t)
		if code := g.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d: %s", code, g.said)
		}
	}
	f.add(t, program(t), config) // an old one that is started late
	before := calls.Load()
	eventually(t, "calls go on", func() bool { return calls.Load() > before+50 })
	done.Store(true)
	work.Wait()
	t.Logf("%d calls, %d failed", calls.Load(), failed.Load())
	for n, times := range counted.seen {
		if times != 1 {
			t.Errorf("call %s was sent %d times", n, times)
		}
	}
	checkRecords(t, store, calls.Load())
}

// checkRecords waits until every call has its record.
func checkRecords(t *testing.T, store string, want int64) {
	t.Helper()
	db, err := sql.Open("pgx", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var records, distinct int64
	eventually(t, "all calls are recorded", func() bool {
		if err := db.QueryRow("SELECT count(*), count(DISTINCT id) FROM calls").Scan(&records, &distinct); err != nil {
			t.Fatal(err)
		}
		return records == want
	})
	if distinct != want {
		t.Errorf("%d records of %d calls", distinct, want)
	}
	if _, err := db.Exec("SELECT later FROM calls LIMIT 1"); err != nil { // the migration was made
		t.Error(err)
	}
}
