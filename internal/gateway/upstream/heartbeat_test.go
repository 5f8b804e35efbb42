//go:build unix

package upstream

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// TestSessionOfOneCallerAnswersWhetherItLives holds that a server which asks so on the
// session's own stream, and ends sessions that do not answer, keeps those of callers who
// cannot be asked anything.
func TestSessionOfOneCallerAnswersWhetherItLives(t *testing.T) {
	t.Parallel()
	var streams sync.Map            // the streams by session
	lives := make(chan struct{}, 1) // a session has answered
	ended := make(chan struct{})    // the test has
	defer func() { close(ended) }()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		id := r.Header.Get("Mcp-Session-Id")
		switch {
		case r.Method == http.MethodGet:
			pings := make(chan struct{}, 1)
			streams.Store(id, pings)
			writeEvents(w, ":\n\n")
			select {
			case <-pings:
				writeEvents(w, `data: {"jsonrpc":"2.0","id":"alive","method":"ping"}`+"\n\n")
			case <-ended:
			}
			<-ended
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
		case m.Method == "tools/call":
			if pings, ok := streams.Load(id); ok {
				pings.(chan struct{}) <- struct{}{}
			}
			select {
			case <-lives:
				writeJSON(w, m.ID, okResult)
			case <-time.After(patience):
				w.WriteHeader(http.StatusNotFound)
			}
		case strings.Contains(string(body), `"alive"`):
			lives <- struct{}{}
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(srv.Close)
	p, _ := newPool(t, nil, config.Server{ID: "s", URL: srv.URL, Isolation: "session", Timeout: 2 * patience, Start: patience, Idle: time.Hour})
	if _, err := p.Call(t.Context(), Call{Server: "s", Tool: "x", Session: "caller", Params: []byte(`{"name":"x"}`)}); err != nil {
		t.Error(err)
	}
}
