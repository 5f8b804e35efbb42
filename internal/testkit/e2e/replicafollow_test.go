package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// team are replicas on one store, with an administrator's key.
type team struct {
	*testing.T
	store  string
	within time.Duration // how long the others may take to see a change
	key    string
	all    []*gateway
}

// newTeam starts three replicas with a server whose changed tools are held.
func newTeam(t *testing.T, store string, within time.Duration, server *curious) *team {
	t.Helper()
	tm := &team{T: t, store: store, within: within}
	tm.key = tm.newKey("root", access.Admin)
	yaml := lines("store: "+store, "approve: changed", "detach: 1s", "mcpServers:", "  up: {url: "+server.url+"}",
		`models: {m: {url: "http://127.0.0.1:1/v1"}}`)
	for range 3 {
		tm.all = append(tm.all, replica(t, yaml, 0))
	}
	for i := range tm.all {
		eventually(t, "the tools are listed", func() bool { return strings.Contains(tm.ask(i, "GET", "/tools", ""), "up__plain") })
	}
	return tm
}

// newKey stores a key, as another process would.
func (t *team) newKey(name string, role access.Role) string {
	t.Helper()
	st, err := store.Open(t.Context(), t.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	text, row, err := access.NewKey(name, "", role, nil)
	row.CreatedAt = time.Now()
	if err == nil {
		err = st.CreateKey(t.Context(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ask sends a request of the administrator to a replica.
func (t *team) ask(i int, method, path, body string) string {
	t.Helper()
	_, text := t.askAs(t.key, i, method, path, body)
	return text
}

func (t *team) askAs(key string, i int, method, path, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, t.all[i].url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := plainHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

// change sends a request that must succeed.
func (t *team) change(i int, method, path, body string) string {
	t.Helper()
	status, text := t.askAs(t.key, i, method, path, body)
	if status >= 300 {
		t.Fatalf("%s %s: HTTP %d %s", method, path, status, text)
	}
	return text
}

// seen waits until it is so at every replica, and complains if that takes too long.
func (t *team) seen(what string, so func(i int) bool) {
	t.Helper()
	began := time.Now()
	for i := range t.all {
		eventually(t.T, what, func() bool { return so(i) })
	}
	if took := time.Since(began); took > t.within && *longCalls {
		t.Errorf("%s: only after %s", what, took)
	} else {
		t.Logf("%s: after %s", what, took.Round(time.Millisecond))
	}
}

// onAllStores runs a test on every kind of store, with -long also where it does not tell of changes.
func onAllStores(t *testing.T, test func(t *testing.T, store string, within time.Duration)) {
	t.Run("SQLite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "shared.db"), 4*time.Second) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, testparts.NeedPostgres(t).Schema(t), time.Second) })
	if !*longCalls {
		return // what follows waits five seconds for each change
	}
	t.Run("PgBouncer", func(t *testing.T) {
		pg := testparts.NeedPostgres(t)
		_, database, _ := strings.Cut(pg.Database(t), "/test_")
		database, _, _ = strings.Cut("test_"+database, "?")
		test(t, pg.Bouncer(t, database), 7*time.Second)
	})
}

func TestWhatChangesAtOneReplicaChangesAtAll(t *testing.T) {
	onAllStores(t, func(t *testing.T, store string, within time.Duration) {
		server := newCurious(t)
		tm := newTeam(t, store, within, server)
		tm.T.Run("servers", func(t *testing.T) {
			tm := tm.in(t)
			tm.change(0, "POST", "/servers", `{"name":"extra","url":"`+newCurious(t).url+`"}`)
			called := func(i int) int {
				status, _ := tm.askAs(tm.key, i, "POST", "/tools/extra__plain/call", `{"arguments":{}}`)
				return status
			}
			tm.seen("the server that was added is called", func(i int) bool { return called(i) == 200 })
			tm.change(1, "DELETE", "/servers/extra", "")
			tm.seen("the server that was deleted is not", func(i int) bool { return called(i) == 404 })
		})
		tm.T.Run("tools that are held, and what is decided about them", func(t *testing.T) { tm.in(t).holds(server) })
		tm.T.Run("rules", func(t *testing.T) {
			tm := tm.in(t)
			tm.change(2, "PUT", "/rules/mine", `{"tool":"up__plain","keep":"a"}`)
			tm.seen("a rule", func(i int) bool { return strings.Contains(tm.ask(i, "GET", "/rules", ""), `"mine"`) })
			tm.change(0, "DELETE", "/rules/mine", "")
			tm.seen("no rule", func(i int) bool { return !strings.Contains(tm.ask(i, "GET", "/rules", ""), `"mine"`) })
		})
		tm.T.Run("agents", func(t *testing.T) {
			tm := tm.in(t)
			made := tm.change(1, "POST", "/agents", `{"model":"m"}`)
			var agent struct{ ID string }
			if err := json.Unmarshal([]byte(made), &agent); err != nil {
				t.Fatal(made, err)
			}
			tm.seen("an agent", func(i int) bool { return strings.Contains(tm.ask(i, "GET", "/agents", ""), agent.ID) })
			tm.change(2, "DELETE", "/agents/"+agent.ID, "")
			tm.seen("no agent", func(i int) bool { return !strings.Contains(tm.ask(i, "GET", "/agents", ""), agent.ID) })
		})
		tm.T.Run("keys", func(t *testing.T) {
			tm := tm.in(t)
			key := tm.newKey("ann", access.Caller)
			let := func(i int) int {
				status, _ := tm.askAs(key, i, "GET", "/tools", "")
				return status
			}
			tm.seen("a new key is let in", func(i int) bool { return let(i) == 200 })
			session, err := dialRaw(tm.all[1].url+"/mcp", key)
			if err != nil {
				t.Fatal(err)
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(key, "tf_"), "_")
			tm.change(0, "DELETE", "/keys/"+id, "")
			tm.seen("a revoked one is not", func(i int) bool { return let(i) == 401 })
			if _, err := session.request("tools/list", "{}"); err == nil {
				t.Error("its session goes on")
			}
		})
	})
}

// in is the team within a part of a test.
func (t *team) in(part *testing.T) *team {
	c := *t
	c.T = part
	return &c
}

// holds changes a tool, which is held until somebody decides at any replica.
func (t *team) holds(server *curious) {
	t.Helper()
	held := func(what string) func(i int) bool {
		return func(i int) bool { return strings.Contains(t.ask(i, "GET", "/servers/up", ""), what) }
	}
	shown := func(i int) bool { return strings.Contains(t.ask(i, "GET", "/tools", ""), "up__plain") }
	define := func(text string) {
		server.AddTool(&mcp.Tool{Name: "plain", Description: text, InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "plain"}}}, nil
			})
	}
	define("second")
	t.seenSoon("the changed tool is held", func(i int) bool { return held(`"held":["plain"]`)(i) && !shown(i) })
	t.change(0, "POST", "/servers/up/approve", `{"tools":["plain"]}`)
	t.seen("it was approved", func(i int) bool { return shown(i) && !held(`"held":["plain"]`)(i) })
	for i := range t.all { // a refresh never takes a decision back
		t.change(i, "POST", "/servers/up/refresh", "")
	}
	t.seen("it stays approved", shown)
	define("third")
	t.seenSoon("it is held again", func(i int) bool { return held(`"held":["plain"]`)(i) && !shown(i) })
	t.change(2, "POST", "/servers/up/keep-out", `{"tools":["plain"]}`)
	t.seen("it is kept out", func(i int) bool { return held(`"kept_out":["plain"]`)(i) && !shown(i) })
	for i := range t.all {
		t.change(i, "POST", "/servers/up/refresh", "")
	}
	t.seen("it stays out", func(i int) bool { return held(`"kept_out":["plain"]`)(i) && !shown(i) })
	t.change(1, "POST", "/servers/up/approve", `{"tools":["plain"]}`)
	t.seen("it is let in after all", shown)
}

// seenSoon is seen for what begins at a server, which each replica hears of by itself.
func (t *team) seenSoon(what string, so func(i int) bool) {
	t.Helper()
	for i := range t.all {
		eventually(t.T, what, func() bool { return so(i) })
	}
}

// listen opens a WebSocket for events at a replica.
func (t *team) listen(i int, topics ...string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), t.all[i].url+"/api/v1/events", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + t.key}}, HTTPClient: plainStreams,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	text, _ := json.Marshal(map[string]any{"type": "subscribe", "topics": topics})
	if err := conn.Write(t.Context(), websocket.MessageText, text); err != nil {
		t.Fatal(err)
	}
	if got := t.hear(conn); got.Type != "subscribed" {
		t.Fatalf("heard %+v", got)
	}
	return conn
}

type heardEvent struct {
	Type string
	Data struct {
		ID    string `json:"id"`
		Lost  int    `json:"lost"`
		Title string `json:"title"`
	}
}

func (t *team) hear(conn *websocket.Conn) (e heardEvent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// call calls a tool at a replica, and returns the id of the call.
func (t *team) call(i int) string {
	t.Helper()
	var done struct {
		Call string `json:"call"`
		ID   string `json:"id"`
	}
	text := t.change(i, "POST", "/tools/up__plain/call", `{"arguments":{}}`)
	if err := json.Unmarshal([]byte(text), &done); err != nil {
		t.Fatal(text, err)
	}
	return done.Call + done.ID
}

func TestListenersHearTheCallsOfAllReplicasOnce(t *testing.T) {
	onAllStores(t, func(t *testing.T, store string, within time.Duration) {
		tm := newTeam(t, store, within, newCurious(t))
		tm.call(1) // before anybody listens
		time.Sleep(time.Second)
		conns := []*websocket.Conn{tm.listen(0, "call.finished"), tm.listen(1, "call.finished")}
		want := map[string]bool{}
		for n := range 60 {
			want[tm.call(n%3)] = true
			if n%20 == 19 {
				time.Sleep(400 * time.Millisecond)
			}
		}
		began := time.Now()
		for i, conn := range conns {
			var heard []string
			for len(heard) < len(want) {
				e := tm.hear(conn)
				if e.Type != "call.finished" || !want[e.Data.ID] || slices.Contains(heard, e.Data.ID) {
					t.Fatalf("replica %d: after %d: %+v", i, len(heard), e)
				}
				heard = append(heard, e.Data.ID)
			}
		}
		t.Logf("all were heard after %s", time.Since(began).Round(time.Millisecond))
		if took := time.Since(began); took > within && *longCalls {
			t.Errorf("heard only after %s", took)
		}
	})
}

func TestListenersHearWhatIsInNoTable(t *testing.T) {
	tm := newTeam(t, testparts.NeedPostgres(t).Schema(t), time.Second, newCurious(t))
	conn := tm.listen(0, "call.started", "session.created", "session.deleted")
	time.Sleep(300 * time.Millisecond) // until the others know it
	tm.change(1, "POST", "/sessions", `{"id":"ses_x","title":"原来"}`)
	if e := tm.hear(conn); e.Type != "session.created" || e.Data.ID != "ses_x" || e.Data.Title != "原来" {
		t.Errorf("heard %+v", e)
	}
	tm.change(2, "DELETE", "/sessions/ses_x", "")
	if e := tm.hear(conn); e.Type != "session.deleted" || e.Data.ID != "ses_x" {
		t.Errorf("heard %+v", e)
	}
	for i := range 3 {
		id := tm.call(i)
		if e := tm.hear(conn); e.Type != "call.started" || e.Data.ID != id {
			t.Errorf("heard %+v, not %s", e, id)
		}
	}
	tm.change(1, "POST", "/sessions", fmt.Sprintf(`{"id":"ses_big","metadata":{"x":%q}}`, strings.Repeat("x", 9000)))
	tm.change(1, "POST", "/sessions", `{"id":"ses_y"}`)
	for _, want := range []string{"session.created", "gap"} {
		if e := tm.hear(conn); e.Type != want {
			t.Errorf("what is too large to be told: %+v", e)
		}
	}
}

func TestAListenerThatIsCutOffFromTheStoreMissesNothing(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	server := newCurious(t)
	tm := newTeam(t, pg.Schema(t), 5*time.Second, server)
	conn := tm.listen(0, "call.finished")
	const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolfit listener'"
	for round := range 3 {
		if err := pg.Exec("postgres", cut); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("extra", round)
		tm.change(1, "POST", "/servers", `{"name":"`+name+`","url":"`+server.url+`"}`)
		ids := []string{tm.call(1), tm.call(2)}
		tm.seen("the server is added", func(i int) bool { return strings.Contains(tm.ask(i, "GET", "/servers", ""), name) })
		for range ids {
			if e := tm.hear(conn); e.Type != "call.finished" || !slices.Contains(ids, e.Data.ID) {
				t.Errorf("heard %+v", e)
			}
		}
	}
}

func TestWhoWaitsAtAnotherReplicaHearsAtOnce(t *testing.T) {
	server := newCurious(t)
	release := make(chan struct{})
	server.AddTool(&mcp.Tool{Name: "later", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "at last"}}}, nil
		})
	yaml := lines("store: "+testparts.NeedPostgres(t).Schema(t), "detach: 1s") + bare(server.url)
	var clients []*httpClient
	for range 2 {
		c, err := dialRaw(replica(t, yaml, 0).url+"/mcp", "")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the tools are listed", func() bool {
			list, err := c.request("tools/list", "{}")
			return err == nil && strings.Contains(list, `"later"`)
		})
		clients = append(clients, c)
	}
	time.Sleep(500 * time.Millisecond) // until both listen
	for round := range 3 {
		result, err := clients[0].request("tools/call", `{"name":"later","arguments":{}}`)
		id := handle(t, result, err)
		var ended time.Time
		time.AfterFunc(300*time.Millisecond, func() {
			ended = time.Now()
			release <- struct{}{}
		})
		result, err = clients[1].request("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+id+`","wait":"20s"}}`)
		took := time.Since(ended)
		if err != nil || !strings.Contains(result, "at last") || took > 500*time.Millisecond && *longCalls {
			t.Errorf("round %d: after %s: %s, %v", round, took, result, err)
		}
		t.Logf("heard after %s", took.Round(time.Millisecond))
	}
}

func TestACallThatIsCanceledAtAnotherReplicaEndsAtOnce(t *testing.T) {
	server := newCurious(t)
	tm := newTeam(t, testparts.NeedPostgres(t).Schema(t), time.Second, server)
	for i := range tm.all {
		c, err := dialRaw(tm.all[i].url+"/mcp", tm.key)
		if err != nil {
			t.Fatal(err)
		}
		result, err := c.request("tools/call", `{"name":"up__wait","arguments":{}}`)
		id := handle(t, result, err)
		began := time.Now()
		tm.change((i+1)%3, "POST", "/calls/"+id+"/cancel", "")
		select {
		case <-server.canceled:
			t.Logf("canceled after %s", time.Since(began).Round(time.Millisecond))
		case <-time.After(patience):
			t.Fatal("not canceled")
		}
		if took := time.Since(began); took > time.Second && *longCalls {
			t.Errorf("canceled after %s", took)
		}
	}
}
