package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// logged is the log of a gateway.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// wait waits until the log holds the text n times.
func (l *logged) wait(t *testing.T, text string, n int) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for strings.Count(l.String(), text) < n {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the log does not hold %q %d times:\n%s", text, n, l)
		}
	}
}

func variable(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "first-s3cret", "OTHER": "other-s3cret"}[name]
	return v, ok
}

func parse(t *testing.T, path, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(path, []byte(text), variable)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// start runs a gateway from the text, in a folder of its own.
func start(t *testing.T, text string) (*App, *logged) {
	t.Helper()
	log := &logged{}
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	put(t, path, text)
	a, err := New(t.Context(), parse(t, path, text), &Options{Version: "test", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, log
}

// put makes a file in a single step: whoever looks sees the old text or the new one.
func put(t *testing.T, path, text string) {
	t.Helper()
	rewrite(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// rewrite writes into a file, which holds nothing for a moment.
func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// watch follows the gateway's file until the test ends.
func watch(t *testing.T, a *App) chan<- os.Signal {
	t.Helper()
	return watchBy(t, a, func() (*config.Config, error) { return config.Load(a.Config().Path, variable) })
}

// watchBy follows the file, which is loaded so.
func watchBy(t *testing.T, a *App, load func() (*config.Config, error)) chan<- os.Signal {
	t.Helper()
	again := make(chan os.Signal)
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	ready := make(chan struct{})
	first := sync.OnceFunc(func() { close(ready) })
	watching.Go(func() {
		a.Watch(ctx, again, func() (*config.Config, error) {
			defer first()
			return load()
		})
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	<-ready // it listens before it loads
	return again
}

// The file is also looked at now and then, so that only this test shows that changes are heard of.
func TestChangesOfTheFileAreHeardOf(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path, text string){"replaced": put, "rewritten": rewrite} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "toolfit.yaml")
			put(t, path, one)
			f := newFileWatch(path)
			defer f.close()
			f.changed()
			change(t, path, two)
			for late := time.After(patience); ; {
				select {
				case e := <-f.events:
					if f.isAbout(e.Name) && f.changed() {
						return
					}
				case <-late:
					t.Fatal("nothing was heard")
				}
			}
		})
	}
}

const (
	one = "store: t.db\nmcpServers: {shop: {builtin: demo-shop}}\n"
	two = "store: t.db\nmcpServers: {shop: {builtin: demo-shop}, cloud: {builtin: demo-cloud}}\n"
)

func ids(list ...tool.ServerID) []tool.ServerID { return list }

func TestReloadSaysWhatChanged(t *testing.T) {
	const base = "mcpServers: {a: {command: x}, b: {command: y}}\n"
	cases := []struct {
		name, text string
		want       Change
	}{
		{"the same text", base, Change{}},
		{"another layout", "# new\n\nmcpServers:\n  a: {command: x}\n  b: {command: y}\n", Change{}},
		{"a server more", "mcpServers: {a: {command: x}, c: {command: z}, b: {command: y}}\n", Change{Added: ids("c")}},
		{"a server less", "mcpServers: {b: {command: y}}\n", Change{Removed: ids("a")}},
		{"another command", "mcpServers: {a: {command: x}, b: {command: z}}\n", Change{Changed: ids("b")}},
		{"another order", "mcpServers: {b: {command: y}, a: {command: x}}\n", Change{Settings: []string{"mcpServers"}}},
		{"hosts and proxies", base + "hosts: [a.b]\nproxies: [10.0.0.0/8]\n", Change{Settings: []string{"hosts", "proxies"}}},
		{"profiles, rate and records", base + "profiles: {p: {servers: [a]}}\nrate: {perKey: 1/s}\nrecords: {retain: 1d}\n",
			Change{Settings: []string{"rate", "profiles", "records"}}},
		{"when calls detach", "detach: off\nmcpServers: {a: {command: x, detach: 5s}, b: {command: y}}\n",
			Change{Changed: ids("a"), Settings: []string{"detach"}}},
		{"what needs a restart", base + "listen: 127.0.0.1:1\nstore: b.db\nbasePath: /x\nrecords: {durable: true}\nlimits: {body: 1MB}\n",
			Change{Restart: []string{"listen", "store", "basePath", "records.durable", "limits"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			started := parse(t, "toolfit.yaml", base)
			next := parse(t, "toolfit.yaml", c.text)
			got := Change{Restart: keepFixed(next, started), Settings: changedSettings(started, next)}
			got.compare(started.Servers, next.Servers)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if next.Listen != started.Listen || next.Limits != started.Limits || next.Records.Durable {
				t.Errorf("what needs a restart is in force: %+v", next)
			}
		})
	}
}

func TestReloadKeepsSessionsAndServesTheNewList(t *testing.T) {
	a, _ := start(t, one)
	srv := httptest.NewServer(a.Handler())
	defer srv.Close()
	session := initialize(t, srv.URL)
	if n := countTools(t, srv.URL, session); n == 0 {
		t.Fatal("no tools before the reload")
	}
	before := countTools(t, srv.URL, session)

	change := a.Reload(parse(t, a.Config().Path, two))
	if !slices.Equal(change.Added, ids("cloud")) {
		t.Errorf("change: %+v", change)
	}
	a.Catalog.Ready(t.Context(), "default")
	if n := countTools(t, srv.URL, session); n <= before {
		t.Errorf("%d tools after a server was added, %d before", n, before)
	}
	a.Reload(parse(t, a.Config().Path, one))
	if n := countTools(t, srv.URL, session); n != before {
		t.Errorf("%d tools after the server was removed, want %d", n, before)
	}
}

// post sends one MCP message and returns the answer.
func post(t *testing.T, url, session, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func initialize(t *testing.T, url string) (session string) {
	t.Helper()
	resp := post(t, url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if session = resp.Header.Get("Mcp-Session-Id"); session == "" {
		t.Fatalf("no session: %s", resp.Status)
	}
	return session
}

func countTools(t *testing.T, url, session string) int {
	t.Helper()
	resp := post(t, url, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", resp.Status, data, err)
	}
	var answer struct{ Result struct{ Tools []any } }
	if i := bytes.Index(data, []byte("{")); i < 0 || json.NewDecoder(bytes.NewReader(data[i:])).Decode(&answer) != nil {
		t.Fatalf("no list: %s", data)
	}
	return len(answer.Result.Tools)
}

func TestCallsGoOnWhileTheConfigurationChanges(t *testing.T) {
	a, _ := start(t, one)
	a.Catalog.Ready(t.Context(), "default")
	h := a.Handler()
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := httptest.NewRequest("POST", "/api/v1/tools/shop__list_orders/call", strings.NewReader(`{"limit":1}`))
				r.Host = "localhost"
				r.RemoteAddr = "127.0.0.1:5"
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusOK {
					t.Errorf("a call during a reload: %d %s", w.Code, w.Body)
					return
				}
			}
		})
	}
	for i := range 40 {
		a.Reload(parse(t, a.Config().Path, []string{two, one, one + "hosts: [a.b]\nrate: {perKey: 1000000/s}\n"}[i%3]))
	}
	close(stop)
	callers.Wait()
}

func TestReloadedHostsDecideWhoComesIn(t *testing.T) {
	a, _ := start(t, one)
	h := a.Handler()
	status := func() int {
		r := httptest.NewRequest("GET", "/api/v1/servers", nil)
		r.Host = "tools.example.com"
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if got := status(); got != http.StatusForbidden {
		t.Errorf("an unknown host: %d", got)
	}
	a.Reload(parse(t, a.Config().Path, one+"hosts: [tools.example.com]\n"))
	if got := status(); got != http.StatusUnauthorized { // it comes as far as the key
		t.Errorf("a host of the new file: %d", got)
	}
	a.Reload(parse(t, a.Config().Path, one))
	if got := status(); got != http.StatusForbidden {
		t.Errorf("a host that was taken out: %d", got)
	}
}

func TestSecretsOfOldAndNewFilesAreRedacted(t *testing.T) {
	a, log := start(t, "mcpServers: {w: {url: 'http://127.0.0.1:1', headers: {X: '${TOKEN}'}, disabled: true}}\n")
	a.Reload(parse(t, a.Config().Path, "mcpServers: {w: {url: 'http://127.0.0.1:1', headers: {X: '${OTHER}'}, disabled: true}}\n"))
	a.log.With("more", "other-s3cret").Info("first-s3cret", "then", "other-s3cret")
	if text := log.String(); strings.Contains(text, "s3cret") || strings.Count(text, "***") != 3 {
		t.Errorf("the log holds %s", text)
	}
}

func TestRememberedSecretsAreBounded(t *testing.T) {
	var s secrets
	for i := range 2 * maxSecrets / 100 {
		var more []string
		for j := range 100 {
			more = append(more, fmt.Sprintf("secret-%04d-%02d", i, j))
		}
		s.add(more)
	}
	if len(s.all) > maxSecrets+maxSecrets/4 || s.redact("secret-0080-99") != "***" || s.redact("secret-0001-00") == "***" {
		t.Errorf("%d are kept; the last is shown as %s", len(s.all), s.redact("secret-0080-99"))
	}
}

// TestTokensDriveOutNoOtherSecret: new ones come all the time, and the configuration stays.
func TestTokensDriveOutNoOtherSecret(t *testing.T) {
	var s secrets
	s.add([]string{"of-the-configuration"})
	var tokens []string
	for i := range 3 * maxSecrets / 2 {
		tokens = append(tokens, fmt.Sprintf("token-%05d", i))
	}
	for some := range slices.Chunk(tokens, 512) {
		s.addTokens(some...)
	}
	for text, want := range map[string]string{
		"of-the-configuration": "***", tokens[len(tokens)-1]: "***", tokens[len(tokens)-maxSecrets]: "***", tokens[0]: tokens[0],
	} {
		if got := s.redact(text); got != want {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	before := s.finder.Load()
	if s.addTokens(tokens[len(tokens)-1]); s.finder.Load() != before {
		t.Error("a token that is known costs as much as a new one")
	}
}

func TestTheRateTurnsCallersAwayForNow(t *testing.T) {
	a, _ := start(t, one+"rate: {perKey: 1/h, burst: 2}\n")
	h := a.Handler()
	ask := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for range 2 {
		if w := ask("/api/v1/servers"); w.Code != http.StatusOK {
			t.Fatalf("within the burst: %d %s", w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/v1/servers", "/mcp", "/"} {
		w := ask(path)
		var answer struct{ Error fault.Error }
		err := json.Unmarshal(w.Body.Bytes(), &answer)
		if w.Code != http.StatusTooManyRequests || !withinAnHour(w) || err != nil || answer.Error.Code != fault.RateLimited ||
			answer.Error.Hint == "" {
			t.Errorf("%s over the rate: %d, Retry-After %q, %s", path, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if w := ask(path); w.Code != http.StatusOK {
			t.Errorf("%s is limited too: %d", path, w.Code)
		}
	}
	a.Reload(parse(t, a.Config().Path, two+"rate: {perKey: 1/h, burst: 2}\n"))
	if w := ask("/api/v1/servers"); w.Code != http.StatusTooManyRequests {
		t.Errorf("a reload with the same rate forgets what was used: %d", w.Code)
	}
	a.Reload(parse(t, a.Config().Path, one))
	if w := ask("/api/v1/servers"); w.Code != http.StatusOK {
		t.Errorf("a reload without a rate still limits: %d", w.Code)
	}
}

// withinAnHour tells whether an answer says that one may come again within an hour. How much
// of it is left when the answer is made, the machine decides.
func withinAnHour(w *httptest.ResponseRecorder) bool {
	seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
	return err == nil && seconds > 3000 && seconds <= 3600
}

func TestStrangersDoNotUseUpTheRate(t *testing.T) {
	a, _ := start(t, one+"rate: {perKey: 1/h, burst: 1}\n")
	h := a.Handler()
	for range 3 {
		r := httptest.NewRequest("GET", "/api/v1/servers", nil)
		r.Host = "localhost"
		r.RemoteAddr = "192.0.2.1:5"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("a stranger gets %d", w.Code)
		}
	}
}

func TestAFileThatIsRewrittenIsReloaded(t *testing.T) {
	a, log := start(t, one)
	watch(t, a)
	rewrite(t, a.Config().Path, two)
	log.wait(t, `msg="configuration reloaded" added=cloud`, 1)
	rewrite(t, a.Config().Path, one)
	log.wait(t, `msg="configuration reloaded" removed=cloud`, 1)
}

func TestAFileThatIsEmptiedChangesNothing(t *testing.T) {
	a, log := start(t, one)
	again := watch(t, a)
	put(t, a.Config().Path, "")
	again <- nil
	log.wait(t, `configuration refused, the old one stays in force" error="`+a.Config().Path+` is empty"`, 1)
	if got := a.Config().Servers; len(got) != 1 {
		t.Errorf("in force: %+v", got)
	}
	put(t, a.Config().Path, two)
	log.wait(t, `msg="configuration reloaded" added=cloud`, 1)
}

func TestAFileThatIsEmptyFromTheBeginningIsNoMistake(t *testing.T) {
	a, log := start(t, "")
	again := watch(t, a)
	again <- nil
	put(t, a.Config().Path, one)
	log.wait(t, `msg="configuration reloaded" added=shop`, 1)
	if strings.Contains(log.String(), "refused") {
		t.Errorf("the log holds %s", log)
	}
}

func TestAFileThatIsWrittenWhileItIsReadIsReadAgain(t *testing.T) {
	a, log := start(t, two)
	half := sync.OnceFunc(func() { put(t, a.Config().Path, one) })
	whole := sync.OnceFunc(func() { put(t, a.Config().Path, two+"hosts: [a.b]\n") })
	watchBy(t, a, func() (*config.Config, error) {
		half() // whoever writes the file has come so far
		cfg, err := config.Load(a.Config().Path, variable)
		whole()
		return cfg, err
	})
	log.wait(t, `msg="configuration reloaded" settings=hosts`, 1)
	if strings.Contains(log.String(), "removed=cloud") {
		t.Errorf("half of the file was in force: %s", log)
	}
}

func TestAFileThatAnEditorReplacesIsReloaded(t *testing.T) {
	a, log := start(t, one)
	watch(t, a)
	for i, text := range []string{two, one} {
		path := a.Config().Path
		put(t, path+".new", text)
		if err := os.Rename(path, path+"~"); err != nil { // some move the old one away first
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		log.wait(t, "configuration reloaded", i+1)
	}
}

func TestALinkThatAConfigMapSwapsIsReloaded(t *testing.T) {
	a, log := start(t, one)
	path := a.Config().Path
	dir := filepath.Dir(path)
	mount := func(version, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, version, "toolfit.yaml"), text)
		if err := os.Symlink(version, filepath.Join(dir, "..data_tmp")); err != nil {
			t.Skipf("no links here: %v", err)
		}
		if err := os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	mount("..2026_01", one)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..data", "toolfit.yaml"), path); err != nil {
		t.Fatal(err)
	}
	watch(t, a)
	mount("..2026_02", two)
	log.wait(t, "configuration reloaded", 1)
	if err := os.RemoveAll(filepath.Join(dir, "..2026_01")); err != nil {
		t.Fatal(err)
	}
	mount("..2026_03", one)
	log.wait(t, "configuration reloaded", 2)
}

func TestAFileBehindALinkElsewhereIsReloaded(t *testing.T) {
	a, log := start(t, one)
	real := filepath.Join(t.TempDir(), "real.yaml")
	put(t, real, one)
	if err := os.Remove(a.Config().Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, a.Config().Path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	watch(t, a)
	put(t, real, two)
	log.wait(t, "configuration reloaded", 1)
}

func TestAWrongFileIsRefusedInOneLineAndTheOldOneStays(t *testing.T) {
	a, log := start(t, one)
	watch(t, a)
	path := a.Config().Path
	put(t, path, "mcpServers:\n  shop: {biultin: demo-shop}\nzzz: 1\n")
	log.wait(t, "configuration refused", 1)
	want := path + `:2: mcpServers.shop.biultin: unknown key; did you mean \"builtin\"? (and 1 more; see: toolfit doctor)`
	line, _, _ := strings.Cut(log.String()[strings.Index(log.String(), "level=ERROR"):], "\n")
	if !strings.Contains(line, want) {
		t.Errorf("the log holds %s, want %s", line, want)
	}
	if got := a.Config().Servers; len(got) != 1 || got[0].Builtin != "demo-shop" {
		t.Errorf("in force: %+v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	log.wait(t, "configuration refused", 2)
	put(t, path, two)
	log.wait(t, "configuration reloaded", 1)
}

func TestASignalReloadsWhatTheFileNames(t *testing.T) {
	a, log := start(t, one)
	token := filepath.Join(filepath.Dir(a.Config().Path), "token")
	put(t, token, "first-t0ken")
	put(t, a.Config().Path, "store: t.db\nmcpServers: {w: {url: 'http://127.0.0.1:1', headers: {X: '${file:token}'}, disabled: true}}\n")
	again := watch(t, a)
	log.wait(t, "configuration reloaded", 1)
	put(t, token, "second-t0ken")
	again <- syscall.SIGHUP
	log.wait(t, "configuration reloaded\" changed=w", 1)
	if got := a.Config().Servers[0].Headers["X"]; got != "second-t0ken" {
		t.Errorf("in force: %s", got)
	}
}

func TestWhatNeedsARestartIsNamed(t *testing.T) {
	a, log := start(t, one)
	watch(t, a)
	put(t, a.Config().Path, one+"listen: 127.0.0.1:1\nbasePath: /x\n")
	log.wait(t, `level=WARN msg="restart to change these settings" settings="listen basePath"`, 1)
	if strings.Contains(log.String(), "configuration reloaded") {
		t.Errorf("something else is said to have changed: %s", log)
	}
}
