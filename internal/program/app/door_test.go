package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	listen = `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// serve starts a gateway on a port of its own and gives its address.
func serve(t *testing.T, text string) (a *app.App, address string) {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = app.New(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, l.Addr().String()
}

// TestHostAndPageAreCheckedBeforeABodyIsRead sends the beginning of requests whose bodies
// never come: the refusal comes all the same, long before the deadline of a body.
func TestHostAndPageAreCheckedBeforeABodyIsRead(t *testing.T) {
	_, address := serve(t, "mcpServers: {shop: {builtin: demo-shop}}\nrecall: {}\n")
	for _, path := range []string{"/mcp", "/mcp/default/env", "/api/v1/servers", "/api/v1/tools/x/call", "/v1/chat/completions",
		"/api/agent-retrieval/in/v1/kn/get_action_info", "/sign-in", "/settings", "/keys", "/pick/x/"} {
		for _, wrong := range []string{"Host: evil.example\r\n", "Host: " + address + "\r\nOrigin: http://localhost:1\r\n"} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%sContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: 100\r\n\r\n{",
				path, wrong)
			conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.Contains(line, " 403 ") {
				t.Errorf("%s with %q: %q, %v", path, wrong, line, err)
			}
			conn.Close()
		}
	}
}

// TestOpenStreamsEndWithTheRightToThem holds that nobody goes on listening who would not be
// let in any more.
func TestOpenStreamsEndWithTheRightToThem(t *testing.T) {
	t.Run("the first key", func(t *testing.T) {
		openStreamsEnd(t, func(a *app.App) {
			_, row, err := access.NewKey("first", "*", access.Admin, nil)
			row.CreatedAt = time.Now()
			if err == nil {
				err = a.Store.CreateKey(t.Context(), row) // as another process does
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("the first identity provider", func(t *testing.T) {
		openStreamsEnd(t, func(a *app.App) {
			next := *a.Config()
			next.PublicURL = "http://localhost:1"
			next.Identity = []config.Identity{{Issuer: "http://localhost:2", Map: []config.Mapping{{Groups: []string{"eng"}}}}}
			a.Reload(&next)
		})
	})
}

func openStreamsEnd(t *testing.T, closeDoor func(*app.App)) {
	a, address := serve(t, "mcpServers: {shop: {builtin: demo-shop}}\n")
	base := "http://" + address
	ask := func(method, body string, headers ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequest(method, base+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(resp.Body)
			t.Fatalf("%s: HTTP %d %s", method, resp.StatusCode, text)
		}
		return resp
	}
	hello := ask("POST", initialize)
	hello.Body.Close()
	legacy := ask("GET", "", "Mcp-Session-Id", hello.Header.Get("Mcp-Session-Id"))
	modern := ask("POST", listen, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	socket, _, err := websocket.Dial(t.Context(), base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()

	closeDoor(a)
	for name, stream := range map[string]io.ReadCloser{"a session's stream": legacy.Body, "a modern client's stream": modern.Body} {
		ended := make(chan struct{})
		go func() { defer close(ended); io.Copy(io.Discard, stream) }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s goes on", name)
			stream.Close()
			<-ended
		}
	}
	late, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err == nil {
		_, _, err = socket.Read(late)
	}
	if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("the events end with %v", err)
	}
}
