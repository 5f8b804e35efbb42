package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
)

func TestStoreThatGoesAwayTakesNoRightsAway(t *testing.T) {
	a, _ := start(t, "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l, nil) }()
	get := func(path string) int {
		resp, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := get("/healthz"); got != http.StatusOK {
		t.Fatalf("HTTP %d", got)
	}
	if err := a.Store.Close(); err != nil { // before anybody has come in
		t.Fatal(err)
	}
	if got := get("/api/v1/tools"); got != http.StatusOK {
		t.Errorf("HTTP %d for a caller on this machine, though there is no key", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestServerThatDoesNotAnswerHoldsUpNoEnd(t *testing.T) {
	end := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Parse(body)
		if err != nil || m.ID == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
		case "resources/list":
			result = `{"resources":[]}`
		case "resources/templates/list":
			result = `{"resourceTemplates":[{"uriTemplate":"x://{n}"}]}`
		case "resources/unsubscribe":
			<-end
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(end) })
	a, _ := start(t, "mcpServers:\n  hangs: {url: "+hangs.URL+"}\n")
	srv := httptest.NewServer(a.Handler())
	t.Cleanup(srv.Close)
	for i := range 3 {
		session := initialize(t, srv.URL)
		if n := countTools(t, srv.URL, session); n != 2 { // and fetch_result
			t.Fatalf("%d tools", n)
		}
		resp := post(t, srv.URL, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"x://%d"}}`, i))
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(answer) != `{"jsonrpc":"2.0","id":3,"result":{}}` {
			t.Fatalf("got %s", answer)
		}
	}
	began := time.Now()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took >= 10*time.Second { // which is what goodbyes are given while the gateway runs
		t.Errorf("it took %s to end", took)
	}
}
