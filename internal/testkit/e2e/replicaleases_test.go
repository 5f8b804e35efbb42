package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// stage is what the replicas of a test have before and behind them.
type stage struct {
	yaml  string
	key   string       // of an administrator
	lists atomic.Int32 // how often the server was listed
	web   *mcp.Server

	webURL string
}

// newStage has an agent that never finishes when it is told to wait, a browser that hangs at its first
// page, and a cloud whose environments a person picks.
func newStage(t *testing.T, dsn string) *stage {
	t.Helper()
	model := httptest.NewServer(script.New(func(r *script.Request) script.Answer {
		if !strings.Contains(r.Last().Text(), "wait") {
			return script.Answer{Text: "done"}
		}
		said := 0
		return script.Answer{Text: "I am waiting for you", Piece: 10, Wait: func(done <-chan struct{}) bool {
			if said++; said > 3 {
				select {
				case <-done:
				case <-t.Context().Done():
				}
			}
			return said <= 3
		}}
	}))
	t.Cleanup(func() {
		model.CloseClientConnections()
		model.Close()
	})
	s := &stage{web: mcp.NewServer(&mcp.Implementation{Name: "Playwright", Version: "1"}, nil)}
	for _, name := range []string{"browser_navigate", "browser_click", "browser_snapshot", "browser_close"} {
		s.add(name, func(ctx context.Context) {
			if name != "browser_navigate" {
				return
			}
			select {
			case <-ctx.Done():
			case <-t.Context().Done():
			}
		})
	}
	s.web.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				s.lists.Add(1)
			}
			return next(ctx, method, req)
		}
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.web }, nil))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		for left := range s.web.Sessions() { // of gateways that were killed
			left.Close()
		}
	})
	s.webURL = web.URL
	s.key = adminKey(t, dsn)
	s.yaml = lines("store: "+dsn, "mcpServers:", "  web: {url: "+web.URL+"}", "  cloud: {builtin: demo-cloud}",
		"models: {m: {url: '"+model.URL+"/v1'}}", "agents: {helper: {}}")
	return s
}

// adminKey makes a key in a store.
func adminKey(t *testing.T, dsn string) string {
	t.Helper()
	st, err := store.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	text, row, err := access.NewKey("root", access.AnyProfile, access.Admin, nil)
	if err == nil {
		row.CreatedAt = time.Now()
		err = st.CreateKey(t.Context(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// add adds a tool, of which all clients are told.
func (s *stage) add(name string, do func(ctx context.Context)) {
	s.web.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			do(ctx)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "### Page\n"}}}, nil
		})
}

// tools is how many tools of a server a gateway has.
func (s *stage) tools(t *testing.T, url, server string) int {
	t.Helper()
	var one struct{ Tools int }
	_, body := s.send(t, "GET", url+"/api/v1/servers/"+server, "")
	json.Unmarshal([]byte(body), &one) // else there are none yet
	return one.Tools
}

// replicas starts three, which know each other.
func (s *stage) replicas(t *testing.T) (urls []string) {
	t.Helper()
	for range 3 {
		urls = append(urls, replica(t, s.yaml, 0).url)
	}
	for _, url := range urls {
		eventually(t, "the servers are listed", func() bool {
			return s.tools(t, url, "web") > 0 && s.tools(t, url, "cloud") > 0
		})
	}
	time.Sleep(1100 * time.Millisecond) // until each has looked for the others again
	return urls
}

// send sends a request with the key and returns the status and the body of the answer.
func (s *stage) send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.key)
	if strings.Contains(url, "/pick/") { // as a browser does
		req.SetBasicAuth("", s.key)
	}
	resp, err := plainHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func said(text, session string) string {
	metadata := ""
	if session != "" {
		metadata = `"metadata":{"session":"` + session + `"},`
	}
	return `{"model":"helper",` + metadata + `"messages":[{"role":"user","content":"` + text + `"}]}`
}

// openChat is an answer that is being made.
type openChat struct {
	session string
	in      *bufio.Reader
}

// beginChat starts an answer that does not end by itself.
func (s *stage) beginChat(t *testing.T, url string) *openChat {
	t.Helper()
	body := strings.Replace(said("please wait", ""), "{", `{"stream":true,`, 1)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := plainStreams.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	c := &openChat{in: bufio.NewReader(resp.Body)}
	var first struct{ Toolfit struct{ Session string } }
	_, data := event(t, c.in)
	if err := json.Unmarshal([]byte(data), &first); err != nil || first.Toolfit.Session == "" {
		t.Fatalf("%s, %v", data, err)
	}
	c.session = first.Toolfit.Session
	event(t, c.in) // some text
	return c
}

func TestOneAnswersInASessionOverAllReplicas(t *testing.T) {
	onStores(t, func(t *testing.T, dsn string) {
		s := newStage(t, dsn)
		urls := s.replicas(t)
		c := s.beginChat(t, urls[0])
		for i, url := range urls {
			if status, body := s.send(t, "POST", url+"/v1/chat/completions", said("hello", c.session)); status != http.StatusConflict {
				t.Errorf("replica %d answers too: %d %s", i, status, body)
			}
			if _, body := s.send(t, "GET", url+"/api/v1/sessions/"+c.session, ""); !strings.Contains(body, `"answering":true`) {
				t.Errorf("replica %d does not know of it: %s", i, body)
			}
		}
		if status, body := s.send(t, "POST", urls[2]+"/api/v1/sessions/"+c.session+"/cancel", ""); status != http.StatusOK {
			t.Errorf("not canceled: %d %s", status, body)
		}
		for data := ""; !strings.Contains(data, "the answer was stopped"); {
			_, data = event(t, c.in)
		}
		if status, body := s.send(t, "POST", urls[1]+"/v1/chat/completions", said("hello", c.session)); status != http.StatusOK {
			t.Errorf("after the end: %d %s", status, body)
		}
		if status, body := s.send(t, "POST", urls[0]+"/api/v1/sessions/"+c.session+"/cancel", ""); status != http.StatusConflict {
			t.Errorf("canceled after the end: %d %s", status, body)
		}
		_, body := s.send(t, "GET", urls[0]+"/api/v1/sessions/"+c.session+"/messages", "")
		if strings.Count(body, `"role":"user"`) != 2 || !strings.Contains(body, `"stopped":"the answer was stopped"`) {
			t.Errorf("stored: %s", body)
		}
	})
}

func (s *stage) startRun(t *testing.T, url string) (id string) {
	t.Helper()
	status, body := s.send(t, "POST", url+"/api/v1/runs", `{"steps":"open http://127.0.0.1:1/"}`)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	return made.ID
}

func TestARunIsSeenAndCanceledAtAnyReplica(t *testing.T) {
	onStores(t, func(t *testing.T, dsn string) {
		s := newStage(t, dsn)
		urls := s.replicas(t)
		id := s.startRun(t, urls[0])
		for i, url := range urls {
			if _, body := s.send(t, "GET", url+"/api/v1/runs/"+id, ""); !strings.Contains(body, `"outcome":"running"`) {
				t.Errorf("at replica %d: %s", i, body)
			}
		}
		if status, body := s.send(t, "POST", urls[1]+"/api/v1/runs/"+id+"/cancel", ""); status != http.StatusOK {
			t.Errorf("not canceled: %d %s", status, body)
		}
		eventually(t, "the run ends", func() bool {
			_, body := s.send(t, "GET", urls[2]+"/api/v1/runs/"+id, "")
			return strings.Contains(body, `"outcome":"interrupted"`)
		})
		for i, url := range urls {
			if status, body := s.send(t, "GET", url+"/api/v1/runs/"+id+"/report", ""); status != http.StatusOK {
				t.Errorf("the report at replica %d: %d %s", i, status, body)
			}
		}
		if status, body := s.send(t, "POST", urls[1]+"/api/v1/runs/"+id+"/cancel", ""); status != http.StatusConflict {
			t.Errorf("canceled after the end: %d %s", status, body)
		}
	})
}

// TestWhatAKilledReplicaDidIsFreeAndSaysSo: at another replica, and at a single gateway that was started anew.
func TestWhatAKilledReplicaDidIsFreeAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		name  string
		alone bool
	}{{"another replica", false}, {"the same gateway, started again", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, filepath.Join(t.TempDir(), "shared.db"))
			path := write(t, s.yaml)
			start := func() *running {
				addr := freeAddress(t)
				cmd := exec.Command(program(t), "serve", "--config", path, "--listen", addr)
				cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey)
				if !c.alone {
					cmd.Env = append(cmd.Env, "TOOLFIT_REPLICA_URL=http://"+addr)
				}
				return runCommand(t, cmd)
			}
			first := start()
			second := first
			if !c.alone {
				second = start()
			}
			eventually(t, "the browser is listed", func() bool { return s.tools(t, first.url, "web") > 0 })
			talk := s.beginChat(t, first.url)
			run := s.startRun(t, first.url)
			first.kill(t)
			if c.alone {
				second = start()
			}
			if status, body := s.send(t, "POST", second.url+"/v1/chat/completions", said("hello", talk.session)); status != http.StatusConflict {
				t.Errorf("answered before the lease has ended: %d %s", status, body)
			}
			eventually(t, "the run is interrupted", func() bool {
				_, body := s.send(t, "GET", second.url+"/api/v1/runs/"+run, "")
				return strings.Contains(body, `"outcome":"interrupted"`)
			})
			eventually(t, "the session says what happened", func() bool {
				_, body := s.send(t, "GET", second.url+"/api/v1/sessions/"+talk.session+"/messages", "")
				return strings.Contains(body, `"stopped":"the gateway that was answering has died"`)
			})
			if status, body := s.send(t, "POST", second.url+"/v1/chat/completions", said("hello", talk.session)); status != http.StatusOK {
				t.Errorf("the session is not free: %d %s", status, body)
			}
			if _, body := s.send(t, "GET", second.url+"/api/v1/sessions/"+talk.session+"/messages", ""); strings.Count(body, "has died") != 1 {
				t.Errorf("stored: %s", body)
			}
		})
	}
}

func TestReplicasListAServerOncePerChange(t *testing.T) {
	onStores(t, func(t *testing.T, dsn string) {
		s := newStage(t, dsn)
		urls := s.replicas(t)
		if n := s.lists.Load(); n != 1 {
			t.Errorf("at first it was listed %d times", n)
		}
		for i, name := range []string{"more", "and_more", "most"} {
			for _, url := range urls { // so that each has a session, and hears of the change
				s.send(t, "POST", url+"/api/v1/tools/web__browser_snapshot/call", "{}")
			}
			before := s.lists.Load()
			s.add(name, func(context.Context) {})
			for _, url := range urls {
				eventually(t, "a replica has the new tool", func() bool { return s.tools(t, url, "web") == 5+i })
			}
			time.Sleep(1500 * time.Millisecond) // in which one could list it once more
			if n := s.lists.Load() - before; n != 1 {
				t.Errorf("after a change it was listed %d times", n)
			}
		}
	})
}

var pickSession = regexp.MustCompile(`data-session="([^"]+)"`)

func TestAPersonPicksAtAnyReplica(t *testing.T) {
	s := newStage(t, filepath.Join(t.TempDir(), "shared.db"))
	urls := s.replicas(t)
	call := func(url, args string) (said struct{ Status, URL, Wait, EnvID string }) {
		t.Helper()
		status, body := s.send(t, "POST", url+"/api/v1/tools/cloud__envPick/call", args)
		var out struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(body), &out); err != nil || len(out.Result.Content) == 0 {
			t.Fatalf("%d %s", status, body)
		}
		json.Unmarshal([]byte(out.Result.Content[0].Text), &said) // else all is empty
		if said.URL == "" && said.EnvID == "" {
			t.Fatalf("%d %s", status, body)
		}
		return said
	}
	for i, page := range urls {
		open := call(urls[0], `{}`)
		at := strings.Replace(open.URL, urls[0], page, 1)
		status, html := s.send(t, "GET", at, "")
		found := pickSession.FindStringSubmatch(html)
		if status != http.StatusOK || found == nil {
			t.Fatalf("the page at replica %d: %d %s", i, status, html)
		}
		socket := urls[(i+1)%3]
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(at, page, socket, 1)+"ws",
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {socket}}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"registerSession","sessionId":"`+found[1]+`"}`)); err != nil {
			t.Fatal(err)
		}
		_, rows, err := conn.Read(t.Context())
		env := regexp.MustCompile(`"EnvId":"([^"]+)"`).FindStringSubmatch(string(rows))
		if err != nil || env == nil {
			t.Fatalf("%s, %v", rows, err)
		}
		waiting := make(chan string, 1)
		go func() { waiting <- call(urls[2], `{"wait":"`+open.Wait+`"}`).EnvID }()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"envId","data":"`+env[1]+`"}`)); err != nil {
			t.Fatal(err)
		}
		if got := <-waiting; got != env[1] {
			t.Errorf("page at replica %d: picked %s, got %s", i, env[1], got)
		}
		if status, _ := s.send(t, "GET", at, ""); status != http.StatusNotFound {
			t.Errorf("the page is open after the end: %d", status)
		}
	}
	if status, _ := s.send(t, "GET", urls[0]+"/pick/gone.TOKEN/", ""); status != http.StatusNotFound {
		t.Errorf("a page of a replica that is gone: %d", status)
	}
	if status, _ := s.send(t, "GET", urls[0]+"/pick/of/replicas/x?for=1s", ""); status != http.StatusNotFound {
		t.Errorf("a client asks as a replica does: %d", status)
	}
}
