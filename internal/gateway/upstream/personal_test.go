//go:build unix

package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// named are credentials that are the caller's name; those of bob cannot be had now.
type named struct{}

func (named) Header(_ context.Context, caller string) (*http.Header, error) {
	if caller == "bob" {
		return nil, fault.New(fault.UpstreamDown, "the token of bob cannot be renewed now")
	}
	return &http.Header{"X-Caller": {caller}}, nil
}

func (named) Refused(context.Context, string, *http.Header, http.Header) bool { return false }

// answerPersonal is what a personal server answers to those whom it lets in.
func answerPersonal(w http.ResponseWriter, m *mcp.Message) {
	switch m.Method {
	case "initialize":
		writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
	case "tools/call":
		writeJSON(w, m.ID, okResult)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// callsOf calls the tool of a personal server as somebody.
func callsOf(t *testing.T, p *Pool, caller string) error {
	t.Helper()
	_, err := p.Call(t.Context(), Call{Server: "s", Tool: "x", Caller: caller, Params: []byte(`{"name":"x"}`)})
	return err
}

// TestOnePersonsCredentialsDoNotPauseAServerForOthers: whoever is refused there, when the session is opened or later, or
// has no token now, is refused alone.
func TestOnePersonsCredentialsDoNotPauseAServerForOthers(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]string{
		"HTTP 401 to the greeting": "initialize", "HTTP 403 to the greeting": "initialize", "HTTP 401 to calls": "tools/call",
		"HTTP 403 to calls": "tools/call", "no token now": "",
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m, _ := mcp.Parse(body)
				status := 0
				if _, err := fmt.Sscanf(name, "HTTP %d", &status); err == nil && m.Method == refused && r.Header.Get("X-Caller") == "bob's friend" {
					w.WriteHeader(status)
					return
				}
				answerPersonal(w, &m)
			}))
			t.Cleanup(srv.Close)
			opts := &Options{Credentials: func(config.Server) httpapi.Credentials { return named{} }}
			p, _ := newPool(t, opts, config.Server{
				ID: "s", URL: srv.URL, Timeout: patience, Start: patience, Headers: map[string]string{"X-Caller": "${user:name}"},
				Breaker: config.Breaker{Failures: 3, Pause: time.Hour},
			})
			who := "bob's friend"
			if refused == "" {
				who = "bob"
			}
			for range 5 {
				if err := callsOf(t, p, who); err == nil || fault.As(err).Code == fault.Internal {
					t.Fatal(err)
				}
			}
			if err := callsOf(t, p, "ann"); err != nil {
				t.Error(err)
			}
		})
	}
}

// ours are credentials that everybody has but the gateway itself.
type ours struct{ named }

func (o ours) Header(ctx context.Context, caller string) (*http.Header, error) {
	if caller == "" {
		return nil, fault.New(fault.LoginRequired, "nobody has signed in")
	}
	return o.named.Header(ctx, caller)
}

// TestPeopleDoNotWaitForOurOwnSession: the gateway cannot list, because the token that it lists with is refused.
func TestPeopleDoNotWaitForOurOwnSession(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		answerPersonal(w, &m)
	}))
	t.Cleanup(srv.Close)
	opts := &Options{Credentials: func(config.Server) httpapi.Credentials { return ours{} }}
	p, _ := newPool(t, opts, config.Server{
		ID: "s", URL: srv.URL, Timeout: patience, Start: patience, Headers: map[string]string{"X-Caller": "${user:name}"},
	})
	for range 5 {
		if _, err := p.Ask(t.Context(), "s", "ping", nil); !fault.Is(err, fault.LoginRequired) {
			t.Fatal(err)
		}
	}
	if err := callsOf(t, p, "ann"); err != nil {
		t.Error(err)
	}
}

// late are credentials that come while the first session is being opened, which fails without them.
type late struct {
	named
	looked, came chan struct{}
}

func (l late) Header(ctx context.Context, caller string) (*http.Header, error) {
	select {
	case <-l.came:
		return l.named.Header(ctx, caller)
	default:
	}
	close(l.looked)
	<-l.came
	return nil, fault.New(fault.LoginRequired, "nobody has signed in")
}

// TestASignInDuringAFailingStartIsUsedAtOnce: the start that fails without it delays nothing.
func TestASignInDuringAFailingStartIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		answerPersonal(w, &m)
	}))
	t.Cleanup(srv.Close)
	l := late{looked: make(chan struct{}), came: make(chan struct{})}
	opts := &Options{Credentials: func(config.Server) httpapi.Credentials { return l }}
	p, _ := newPool(t, opts, config.Server{ID: "s", URL: srv.URL, Timeout: patience, Start: patience})
	first := make(chan error)
	go func() { first <- callsOf(t, p, "ann") }()
	<-l.looked
	p.Retry("s")
	close(l.came)
	if err := <-first; !fault.Is(err, fault.LoginRequired) {
		t.Fatal(err)
	}
	if err := callsOf(t, p, "ann"); err != nil {
		t.Error(err)
	}
}

// TestSessionsOfPeopleEndWhenIdle: two hundred people have one each, with a stream; none is left when nobody calls any more.
func TestSessionsOfPeopleEndWhenIdle(t *testing.T) {
	t.Parallel()
	var streams, deleted atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodDelete:
			deleted.Add(1)
			return
		case http.MethodGet:
			streams.Add(1)
			defer streams.Add(-1)
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		switch m, _ := mcp.Parse(body); m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "of "+r.Header.Get("X-Caller"))
			writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
		case "tools/call":
			writeJSON(w, m.ID, okResult)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	opts := &Options{Credentials: func(config.Server) httpapi.Credentials { return named{} }}
	p, c := newPool(t, opts, config.Server{
		ID: "s", URL: srv.URL, Timeout: patience, Start: patience, Idle: time.Minute, Headers: map[string]string{"X-Caller": "${user:name}"},
	})
	const people = 200
	for i := range people {
		if err := callsOf(t, p, fmt.Sprint("u_", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.Owners("s")); n != people {
		t.Fatalf("%d people have sessions", n)
	}
	c.advance(2 * time.Minute)
	until(t, "all are closed, here and there", func() bool {
		return len(p.Owners("s")) == 0 && streams.Load() == 0 && deleted.Load() == people
	})
}
