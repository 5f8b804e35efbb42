package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// onKeyStores runs a test on every kind of store, also where it does not tell of changes.
func onKeyStores(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("SQLite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "shared.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, testparts.NeedPostgres(t).Schema(t)) })
	t.Run("PgBouncer", func(t *testing.T) {
		pg := testparts.NeedPostgres(t)
		_, database, _ := strings.Cut(pg.Database(t), "/test_")
		database, _, _ = strings.Cut("test_"+database, "?")
		test(t, pg.Bouncer(t, database))
	})
}

// letIn is whether a replica lets the key in.
func (t *team) letIn(key string, i int) bool {
	t.Helper()
	status, text := t.askAs(key, i, "GET", "/tools", "")
	if status != 200 && status != 401 {
		t.Fatalf("HTTP %d: %s", status, text)
	}
	return status == 200
}

// refusedAfter waits until every replica refuses the key, and returns how long that took.
func (t *team) refusedAfter(key string, began time.Time) time.Duration {
	t.Helper()
	for i := range t.all {
		eventually(t.T, "the key is refused", func() bool { return !t.letIn(key, i) })
	}
	return time.Since(began)
}

func TestADeletedKeyIsRefusedEverywhereWithinASecond(t *testing.T) {
	onKeyStores(t, func(t *testing.T, dsn string) {
		tm := newTeam(t, dsn, time.Second, newCurious(t))
		st, err := store.Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var longest time.Duration
		for n := range 12 {
			key := tm.newKey(fmt.Sprintf("k%d", n), access.Caller)
			for i := range tm.all {
				eventually(t, "the key works", func() bool { return tm.letIn(key, i) })
			}
			time.Sleep(rand.N(time.Second)) // nobody knows when the others look
			id := strings.Split(key, "_")[1]
			began := time.Now()
			if n%2 == 0 {
				_, err = st.DeleteKey(t.Context(), id)
			} else {
				tm.change(n%3, "DELETE", "/keys/"+id, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, tm.refusedAfter(key, began))
		}
		t.Logf("the longest that a deleted key worked: %s", longest.Round(time.Millisecond))
		if longest > time.Second && *longCalls {
			t.Errorf("a deleted key worked for %s", longest)
		}
	})
}

// stream opens a stream of the session, or, for a client without one, of what it listens to. The channel is
// closed when it ends.
func stream(t *testing.T, req *http.Request) <-chan struct{} {
	t.Helper()
	resp, err := plainStreams.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("HTTP %d: %s", resp.StatusCode, text)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	return ended
}

func TestARotatedKeyIsTheSameKeyEverywhere(t *testing.T) {
	onKeyStores(t, func(t *testing.T, dsn string) {
		tm := newTeam(t, dsn, time.Second, newCurious(t))
		old := tm.newKey("ann", access.Caller)
		id := strings.Split(old, "_")[1]
		session, err := dialRaw(tm.all[1].url+"/mcp", old)
		if err != nil {
			t.Fatal(err)
		}
		_, answer := tm.askAs(old, 1, "POST", "/tools/up__plain/call", `{"arguments":{}}`)
		var called struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(answer), &called); err != nil || called.ID == "" {
			t.Fatal(answer, err)
		}
		get, err := http.NewRequestWithContext(t.Context(), "GET", tm.all[1].url+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		get.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {session.session}, "Authorization": {"Bearer " + old}}
		own := stream(t, get)
		listened := stream(t, modernListen(t, tm.all[2].url+"/mcp", old))

		rotate := func(i int, body string) string {
			t.Helper()
			var made struct{ ID, Key string }
			if err := json.Unmarshal([]byte(tm.change(i, "POST", "/keys/"+id+"/rotate", body)), &made); err != nil || made.ID != id {
				t.Fatal(made.ID, err)
			}
			return made.Key
		}
		second := rotate(0, `{"overlap":"1h"}`)
		tm.seen("the new secret works", func(i int) bool { return tm.letIn(second, i) })
		tm.seen("and the old one", func(i int) bool { return tm.letIn(old, i) })
		select {
		case <-own:
			t.Error("a stream ended though its secret works on")
		case <-listened:
			t.Error("a stream ended though its secret works on")
		case <-time.After(1500 * time.Millisecond):
		}

		third := rotate(2, `{"overlap":"0"}`)
		began := time.Now()
		took := max(tm.refusedAfter(old, began), tm.refusedAfter(second, began))
		for _, ended := range []<-chan struct{}{own, listened} {
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatal("a stream of the old secret goes on")
			}
		}
		t.Logf("the old secrets were refused after %s, their streams ended after %s", took.Round(time.Millisecond),
			time.Since(began).Round(time.Millisecond))
		if (took > time.Second || time.Since(began) > 2*time.Second) && *longCalls { // streams are looked at once a second
			t.Errorf("the old secrets worked for %s, their streams for %s", took, time.Since(began))
		}
		session.keyText = third
		if _, err := session.request("tools/list", "{}"); err != nil {
			t.Errorf("the session does not go on with the new secret: %v", err)
		}
		if status, text := tm.askAs(third, 0, "GET", "/calls/"+called.ID, ""); status != 200 {
			t.Errorf("the record of its call: HTTP %d %s", status, text)
		}
	})
}

func modernListen(t *testing.T, url, key string) *http.Request {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":` + modernMeta + `,"notifications":{"toolsListChanged":true}}}`
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + key},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}
	return req
}

func TestAnExpiredKeyIsRefusedEverywhereAtOnce(t *testing.T) {
	tm := newTeam(t, testparts.NeedPostgres(t).Schema(t), time.Second, newCurious(t))
	ends := time.Now().Add(3 * time.Second).Truncate(time.Second)
	var made struct{ ID, Key string }
	answer := tm.change(0, "POST", "/keys", `{"name":"short","expires":"`+ends.UTC().Format(time.RFC3339)+`"}`)
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		t.Fatal(err)
	}
	session, err := dialRaw(tm.all[1].url+"/mcp", made.Key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tm.all {
		if !tm.letIn(made.Key, i) {
			t.Fatalf("replica %d refuses it before its time", i)
		}
	}
	time.Sleep(time.Until(ends))
	for i := range tm.all {
		status, text := tm.askAs(made.Key, i, "GET", "/tools", "")
		if status != 401 || !strings.Contains(text, "the key short has expired") {
			t.Errorf("replica %d: HTTP %d %s", i, status, text)
		}
	}
	if _, err := session.request("tools/list", "{}"); err == nil {
		t.Error("its session goes on")
	}
}

func TestTheFirstKeyComesFromAVariable(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	path := write(t, lines("store: "+dsn, "listen: 0.0.0.0:0", "mcpServers:", "  shop: {builtin: demo-shop}"))
	first, err := access.NewText()
	if err != nil {
		t.Fatal(err)
	}
	second, err := access.NewText()
	if err != nil {
		t.Fatal(err)
	}
	var all []*running
	start := func(env ...string) (urls []string) {
		t.Helper()
		for _, r := range all {
			_ = r.Process.Signal(os.Interrupt)
			r.waitExit(t)
			for _, key := range []string{first, second} {
				if strings.Contains(r.said.String(), key[12:]) {
					t.Errorf("it says the key: %s", r.said)
				}
			}
		}
		all = nil
		for range 3 {
			cmd := exec.Command(program(t), "serve", "--config", path)
			cmd.Env = append(os.Environ(), env...)
			r := runCommand(t, cmd)
			all = append(all, r)
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(r.url, "http://"))
			urls = append(urls, "http://127.0.0.1:"+port)
		}
		return urls
	}
	status := func(url, key string) int {
		req, _ := http.NewRequest("GET", url+"/api/v1/keys", nil)
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := plainHTTP.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode == 200 && (strings.Count(string(text), `"name":"admin"`) != 1 || strings.Contains(string(text), key[12:])) {
			t.Errorf("the keys are %s", text)
		}
		return resp.StatusCode
	}
	for _, url := range start("TOOLFIT_ADMIN_KEY=" + first) {
		if status(url, first) != 200 {
			t.Error("the first key is refused")
		}
	}
	file := filepath.Join(t.TempDir(), "key")
	rewrite(t, file, second+"\n")
	for _, url := range start("TOOLFIT_ADMIN_KEY_FILE=" + file) {
		if status(url, second) != 200 || status(url, first) != 401 {
			t.Error("the second key did not replace the first")
		}
	}
	for _, url := range start() {
		if status(url, second) != 200 {
			t.Error("without the variable the key has gone")
		}
	}
	out, err := exec.Command(program(t), "keys", "list", "--config", path).Output() // what has ended has stored its last use
	if err != nil || !strings.Contains(string(out), "admin") || strings.HasSuffix(strings.TrimSpace(string(out)), "-") {
		t.Errorf("its last use is not shown: %v\n%s", err, out)
	}
	out, err = exec.Command(program(t), "keys", "rotate", "admin", "--config", path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the secret of key admin is in the variable TOOLFIT_ADMIN_KEY") {
		t.Errorf("it was rotated: %v\n%s", err, out)
	}
	out, err = exec.Command(program(t), "keys", "delete", "admin", "--config", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "remove TOOLFIT_ADMIN_KEY, too") {
		t.Errorf("%v\n%s", err, out)
	}
}
