package app

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// socketed is a gateway that serves a port and a socket.
type socketed struct {
	*App
	url  string       // over TCP
	http *http.Client // through the socket
}

func serveSocket(t *testing.T, text string) *socketed {
	t.Helper()
	a, _ := start(t, text)
	path := filepath.Join(t.TempDir(), "s")
	socket, err := inbound.ListenLocal(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l, socket) }()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return inbound.DialLocal(ctx, path) }
	client := &http.Client{Transport: &http.Transport{DialContext: dial}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &socketed{a, "http://" + l.Addr().String(), client}
}

// ask sends a request and returns status and body.
func (s *socketed) ask(t *testing.T, client *http.Client, path string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (s *socketed) addKey(t *testing.T, role access.Role) string {
	t.Helper()
	key, row, err := access.NewKey("k-"+string(role), "default", role, nil)
	if err != nil {
		t.Fatal(err)
	}
	row.CreatedAt = time.Now()
	if err := s.Store.CreateKey(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if err := s.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return string(key)
}

func TestWhoComesThroughTheSocketIsTheOwner(t *testing.T) {
	s := serveSocket(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	if status, _ := s.ask(t, http.DefaultClient, "/api/v1/keys"); status != http.StatusForbidden {
		t.Errorf("over TCP without the secret: %d", status)
	}
	if status, body := s.ask(t, s.http, "/api/v1/keys"); status != http.StatusOK {
		t.Errorf("through the socket: %d %s", status, body)
	}
	key := s.addKey(t, access.Caller)
	if status, _ := s.ask(t, http.DefaultClient, "/api/v1/keys"); status != http.StatusUnauthorized {
		t.Errorf("over TCP without a key: %d", status)
	}
	if status, body := s.ask(t, s.http, "/api/v1/keys"); status != http.StatusOK {
		t.Errorf("through the socket, with keys: %d %s", status, body)
	}
	if status, _ := s.ask(t, s.http, "/api/v1/keys", "Authorization", "Bearer "+key); status != http.StatusForbidden {
		t.Errorf("a caller's key through the socket: %d", status)
	}
}

func TestNothingIsPassedOnThroughTheSocket(t *testing.T) {
	s := serveSocket(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	for _, header := range [][]string{
		{"X-Forwarded-For", "10.0.0.1"}, {"Via", "1.1 x"}, {"Forwarded", "for=10.0.0.1"}, // a proxy
		{"Origin", "http://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Cookie", "a=b"}, // a page
	} {
		for _, path := range []string{"/api/v1/keys", "/mcp", GreetingPath, "/"} {
			if status, body := s.ask(t, s.http, path, header...); status != http.StatusForbidden {
				t.Errorf("%s with %v: %d %s", path, header, status, body)
			}
		}
	}
}

func TestASessionThroughTheSocketOutlivesTheFirstKey(t *testing.T) {
	s := serveSocket(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	post := func(session, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", session)
		resp, err := s.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return resp
	}
	session := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"t","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	s.addKey(t, access.Admin)
	s.sessions.EndOf(func(owner string) bool { return !s.letsIn(owner) }) // as once a second
	if resp := post(session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); resp.StatusCode != http.StatusOK {
		t.Errorf("the session: %s", resp.Status)
	}
}

func TestAGreetingComesWhenAChangedFileIsInForce(t *testing.T) {
	s := serveSocket(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	path := s.Config().Path
	ctx, stop := context.WithCancel(context.Background())
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		s.Watch(ctx, nil, func() (*config.Config, error) { return config.Load(path, nil) })
	}()
	defer func() { stop(); <-watching }()
	for _, servers := range []string{"{shop: {builtin: demo-shop}, more: {builtin: demo-shop}}", "{more: {builtin: demo-shop}}"} {
		put(t, path, "mcpServers: "+servers+"\n")
		status, body := s.ask(t, s.http, GreetingPath)
		var found Greeting
		if err := json.Unmarshal([]byte(body), &found); status != http.StatusOK || err != nil || found.URL != s.url {
			t.Fatalf("%d %s, %v", status, body, err)
		}
		if got := len(s.Config().Servers); got != strings.Count(servers, "builtin") {
			t.Errorf("%d servers are in force, want those of %s", got, servers)
		}
	}
	if status, body := s.ask(t, http.DefaultClient, GreetingPath); strings.Contains(body, `"url"`) {
		t.Errorf("over TCP: %d %s", status, body)
	}
}
