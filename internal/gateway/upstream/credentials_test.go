//go:build unix

package upstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// renewed are credentials whose token is refused until they are told so.
type renewed struct {
	mu     sync.Mutex
	header http.Header
	told   []string // callers of whose requests one was refused
	useful bool     // there is a better token
}

func (r *renewed) Header(_ context.Context, caller string) (*http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	header := r.header.Clone()
	header.Set("X-Caller", caller)
	return &header, nil
}

func (r *renewed) Refused(_ context.Context, caller string, sent *http.Header, challenge http.Header) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent.Get("X-Caller") == caller && challenge.Get("WWW-Authenticate") != "" {
		r.told = append(r.told, caller)
	}
	r.header.Set("Authorization", "Bearer new")
	return r.useful
}

func TestRefusedCredentialsAreRenewedOnce(t *testing.T) {
	t.Parallel()
	for name, useful := range map[string]bool{"they can be": true, "they cannot": false} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var callers []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m, _ := mcp.Parse(body)
				switch {
				case m.Method == "initialize":
					writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
				case m.Method != "tools/call":
					w.WriteHeader(http.StatusAccepted)
				case r.Header.Get("Authorization") != "Bearer new" || !useful:
					w.Header().Set("WWW-Authenticate", "Bearer")
					w.WriteHeader(http.StatusUnauthorized)
				default:
					mu.Lock()
					callers = append(callers, r.Header.Get("X-Caller"))
					mu.Unlock()
					writeJSON(w, m.ID, okResult)
				}
			}))
			t.Cleanup(srv.Close)
			creds := &renewed{header: http.Header{"Authorization": {"Bearer old"}}, useful: useful}
			opts := &Options{Credentials: func(config.Server) httpapi.Credentials { return creds }}
			p, _ := newPool(t, opts, config.Server{ID: "s", URL: srv.URL, Timeout: patience, Start: patience})
			_, err := p.Call(t.Context(), Call{Server: "s", Tool: "x", Caller: "ann", Params: []byte(`{"name":"x"}`)})
			if useful != (err == nil) || !useful && !fault.Is(err, fault.LoginRequired) {
				t.Error(err)
			}
			if !slices.Equal(creds.told, []string{"ann"}) {
				t.Errorf("told of %q", creds.told)
			}
			if useful && !slices.Equal(callers, []string{"ann"}) {
				t.Errorf("called as %q", callers)
			}
		})
	}
}
