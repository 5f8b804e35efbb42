//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// web is a server over HTTP. It opens sessions as it should; call answers tools/call.
type web struct {
	*httptest.Server
	call func(w http.ResponseWriter, r *http.Request, m mcp.Message)
	end  chan struct{} // closed when the test ends, for handlers that hang

	mu      sync.Mutex
	opened  int
	calls   int
	heard   []string // notifications and answers
	deleted []string // sessions
}

func newWeb(t *testing.T, call func(w http.ResponseWriter, r *http.Request, m mcp.Message)) *web {
	s := &web{call: call, end: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(s.end) })
	return s
}

func (s *web) config() config.Server {
	return config.Server{ID: "bad", URL: s.URL, Timeout: patience, Start: patience, Idle: time.Hour}
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.Parse(body)
	s.mu.Lock()
	switch {
	case r.Method == http.MethodDelete:
		s.deleted = append(s.deleted, r.Header.Get("Mcp-Session-Id"))
	case m.Method == "initialize":
		s.opened++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", s.opened))
	case m.Method == "tools/call":
		s.calls++
	default:
		s.heard = append(s.heard, string(body))
	}
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
	case r.Method != http.MethodPost || err != nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "initialize":
		writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
	case m.Method == "tools/call":
		s.call(w, r, m)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *web) counts() (opened, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.calls
}

func (s *web) heardOf(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.heard, "\n"), text)
}

func writeJSON(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func writeEvents(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		io.WriteString(w, e)
		http.NewResponseController(w).Flush()
	}
}

func TestWebServerThatMisbehavesInACall(t *testing.T) {
	t.Parallel()
	answer := func(m mcp.Message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, okResult)
	}
	cases := []struct {
		name string
		call func(w http.ResponseWriter, r *http.Request, m mcp.Message)
		code fault.Code // "": the call works
		says string
	}{
		{"a page instead of JSON is a protocol error", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>\n<body>Log in, please")
		}, fault.UpstreamProtocol, "Log in, please"},
		{"an answer with another id is a protocol error", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			writeJSON(w, json.RawMessage("4711"), okResult)
		}, fault.UpstreamProtocol, "another request"},
		{"an id as text is another id", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeJSON(w, json.RawMessage(`"`+string(m.ID)+`"`), okResult)
		}, fault.UpstreamProtocol, "another request"},
		{"an empty body is a protocol error", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			w.Header().Set("Content-Type", "application/json")
		}, fault.UpstreamProtocol, "not a message"},
		{"an accepted call without an answer is a protocol error", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			w.WriteHeader(http.StatusAccepted)
		}, fault.UpstreamProtocol, "HTTP 202"},
		{"a body that is cut is a broken connection", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, answer(m))
		}, fault.UpstreamDown, "broke"},
		{"a stream that ends before the answer is a broken one", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeEvents(w, "data: "+answer(m)+"\n") // no blank line: the event is not complete
		}, fault.UpstreamDown, "ended its stream before the answer"},
		{"a stream of comments without end is a timeout", func(w http.ResponseWriter, r *http.Request, _ mcp.Message) {
			for r.Context().Err() == nil {
				writeEvents(w, ": still here\n\n", "event: ping\ndata: x\n\n")
			}
		}, fault.UpstreamTimeout, "within"},
		{"a body over the limit is too large", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeJSON(w, m.ID, `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
		}, fault.TooLarge, "over the limit"},
		{"an event over the limit is too large", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeEvents(w, "data: "+strings.Repeat("x", 2<<20)+"\n\n")
		}, fault.TooLarge, "over the limit"},
		{"an event of many lines over the limit is too large", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeEvents(w, strings.Repeat("data: 0123456789\n", 200_000)+"\n")
		}, fault.TooLarge, "over the limit"},
		{"an event that is no message is a protocol error", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			writeEvents(w, "data: hello\n\n")
		}, fault.UpstreamProtocol, "not a message"},
		{"a redirect is not followed", func(w http.ResponseWriter, r *http.Request, _ mcp.Message) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, fault.UpstreamProtocol, "HTTP 307"},
		{"401 speaks of credentials", status(http.StatusUnauthorized), fault.UpstreamDown, "requires credentials and has none (HTTP 401)"},
		{"403 says why", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			http.Error(w, "Access is only allowed at localhost:1", http.StatusForbidden)
		}, fault.UpstreamDown, "refused us (HTTP 403): Access is only allowed at localhost:1"},
		{"403 without a word", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			w.WriteHeader(http.StatusForbidden)
		}, fault.UpstreamDown, "refused us (HTTP 403): it does not say why"},
		{"503 is down", status(http.StatusServiceUnavailable), fault.UpstreamDown, "not available (HTTP 503)"},
		{"500 is a protocol error", status(http.StatusInternalServerError), fault.UpstreamProtocol, "HTTP 500"},
		{"headers that do not come are a timeout", func(w http.ResponseWriter, r *http.Request, _ mcp.Message) {
			<-r.Context().Done()
		}, fault.UpstreamTimeout, "within"},
		{"a connection that is cut is down", func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) {
			panic(http.ErrAbortHandler)
		}, fault.UpstreamDown, "cannot be reached"},
		{"other messages before the answer do no harm", func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			writeEvents(w, ":\n\n", "id: 1\n\n", `data: {"jsonrpc":"2.0","id":99,"result":{}}`+"\n\n",
				`data: {"jsonrpc":"2.0","id":"q","method":"ping"}`+"\n\n", "event: message\r\ndata: "+answer(m)+"\r\n\r\n", "data: junk\n\n")
		}, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var repaired atomic.Bool
			s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
				if !repaired.Load() {
					c.call(w, r, m)
					return
				}
				writeJSON(w, m.ID, okResult)
			})
			cfg := s.config()
			cfg.Timeouts = []config.ToolTimeout{{Glob: "short", Timeout: 2 * time.Second}} // to send the call; what comes back does not matter
			p, _ := newPool(t, &Options{MaxMessage: 1 << 20}, cfg)
			repaired.Store(true)
			mustCall(t, p, "bad", "echo", okResult) // the session is open
			repaired.Store(false)
			name := "echo"
			if c.code == fault.UpstreamTimeout {
				name = "short"
			}
			got, err := callTool(t.Context(), p, "bad", name)
			if c.code == "" {
				if err != nil || got != okResult {
					t.Fatalf("got %s, %v", got, err)
				}
			} else {
				wantFault(t, err, c.code, "server bad", c.says)
			}
			if _, calls := s.counts(); calls != 2 {
				t.Errorf("%d requests for two calls", calls)
			}
			repaired.Store(true)
			mustCall(t, p, "bad", "echo", okResult)
			if opened, calls := s.counts(); opened != 1 || calls != 3 {
				t.Errorf("%d sessions, %d requests for three calls", opened, calls)
			}
		})
	}
}

func status(code int) func(http.ResponseWriter, *http.Request, mcp.Message) {
	return func(w http.ResponseWriter, _ *http.Request, _ mcp.Message) { http.Error(w, "no", code) }
}

func TestLostSessionIsOpenedAgainAndTheCallSentOnceMore(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		code int
		text string
	}{
		{"404", http.StatusNotFound, "nothing here"},
		{"400 with the word session", http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid Session ID provided"},"id":null}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var acted atomic.Int64
			s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
				if r.Header.Get("Mcp-Session-Id") == "s1" {
					http.Error(w, c.text, c.code)
					return
				}
				acted.Add(1)
				writeJSON(w, m.ID, okResult)
			})
			p, _ := newPool(t, nil, s.config())
			mustCall(t, p, "bad", "echo", okResult)
			if opened, calls := s.counts(); opened != 2 || calls != 2 || acted.Load() != 1 {
				t.Errorf("%d sessions, %d requests, acted on %d times", opened, calls, acted.Load())
			}
		})
	}
	t.Run("a second loss is an error", func(t *testing.T) {
		s := newWeb(t, status(http.StatusNotFound))
		p, _ := newPool(t, nil, s.config())
		_, err := callTool(t.Context(), p, "bad", "echo")
		wantFault(t, err, fault.UpstreamDown, "server bad ends its sessions at once")
		if _, calls := s.counts(); calls != 2 {
			t.Errorf("%d requests", calls)
		}
	})
	t.Run("400 about something else is no loss", func(t *testing.T) {
		s := newWeb(t, status(http.StatusBadRequest))
		p, _ := newPool(t, nil, s.config())
		_, err := callTool(t.Context(), p, "bad", "echo")
		wantFault(t, err, fault.UpstreamProtocol, "HTTP 400")
		if _, calls := s.counts(); calls != 1 {
			t.Errorf("%d requests", calls)
		}
	})
	t.Run("an error of the server's own comes with any status", func(t *testing.T) {
		s := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no session parameter","x":1.0}}`, m.ID)
		})
		p, _ := newPool(t, nil, s.config())
		_, err := callTool(t.Context(), p, "bad", "echo")
		rpc, ok := err.(*mcp.Error)
		if !ok || string(rpc.Raw) != `{"code":-32602,"message":"no session parameter","x":1.0}` {
			t.Errorf("got %#v", err)
		}
	})
}

func TestCanceledCallIsCanceledAtTheWebServer(t *testing.T) {
	t.Parallel()
	began := make(chan json.RawMessage, 1)
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
		began <- m.ID
		<-r.Context().Done()
	})
	p, _ := newPool(t, nil, s.config())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := callTool(ctx, p, "bad", "echo")
		done <- err
	}()
	id := <-began
	cancel()
	wantFault(t, <-done, fault.Canceled)
	until(t, "the server hears of it", func() bool {
		return s.heardOf(`"method":"notifications/cancelled","params":{"requestId":` + string(id))
	})
}

func TestWebProgressComesUnderTheCallersToken(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		if !strings.Contains(string(m.Params), `"progressToken":`+string(m.ID)+`}`) {
			t.Errorf("params %s", m.Params)
		}
		writeEvents(w, fmt.Sprintf(`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`+"\n\n", m.ID),
			`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"foreign","progress":2}}`+"\n\n",
			fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":%s}`+"\n\n", m.ID, okResult))
	})
	p, _ := newPool(t, nil, s.config())
	params := `{"name":"x","_meta":{"progressToken":"my \u0074oken"}}`
	var got []string
	_, err := p.Call(t.Context(), Call{
		Server: "bad", Tool: "x", Params: json.RawMessage(params), Meta: mcp.FindMeta(json.RawMessage(params)),
		Peer: peer{func(params string) { got = append(got, params) }},
	})
	if want := `{"progressToken":"my \u0074oken","progress":1}`; err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWebSessionIsDeletedWhenItIsClosed(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, okResult) })
	p, _ := newPool(t, nil, s.config())
	mustCall(t, p, "bad", "echo", okResult)
	p.Close()
	if fmt.Sprint(s.deleted) != "[s1]" {
		t.Errorf("deleted %v", s.deleted)
	}
}

func TestWebServerThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	p, _ := newPool(t, nil, config.Server{ID: "bad", URL: s.URL + "/mcp?key=hush"}, badConfig("calm", "plain"))
	_, err := callTool(t.Context(), p, "bad", "echo")
	wantFault(t, err, fault.UpstreamDown, "server bad cannot be reached")
	mustCall(t, p, "calm", "echo", okResult)
}

func TestServerMayAskBeforeItHasAnsweredInitialize(t *testing.T) {
	var heard atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			writeEvents(w, `data: {"jsonrpc":"2.0","id":"p","method":"ping"}`+"\n\n",
				fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`+"\n\n", m.ID))
		case m.Method == "tools/call":
			writeJSON(w, m.ID, okResult)
		default:
			if m.IsResponse() {
				heard.Add(1)
			}
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	for range 5 {
		p, _ := newPool(t, nil, config.Server{ID: "bad", URL: s.URL})
		mustCall(t, p, "bad", "echo", okResult)
	}
	until(t, "the pings are answered", func() bool { return heard.Load() == 5 })
}

func TestToolsAreListedThoughTheOtherListsAreBroken(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"initialize":               `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}}}`,
		"tools/list":               `"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
		"prompts/list":             `"error":{"code":-32603,"message":"out of prompts"}`,
		"resources/list":           `"result":{}`,
		"resources/templates/list": `"result":{"resourceTemplates":[{"uriTemplate":"x://{n}"}]}`,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Parse(body)
		if err != nil || m.ID == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answers[m.Method])
	}))
	t.Cleanup(srv.Close)
	p, _ := newPool(t, nil, config.Server{ID: "half", URL: srv.URL, Timeout: patience, Start: patience})
	l, err := p.List(t.Context(), "half")
	if err != nil || len(l.Tools) != 1 || len(l.Templates) != 1 || len(l.Notes) != 2 {
		t.Fatalf("got %+v, %v", l, err)
	}
	if !strings.HasPrefix(l.Notes[0], "prompts were left out: out of prompts") || !strings.HasPrefix(l.Notes[1], "resources were left out: server half sent a list that is none") {
		t.Errorf("notes %q", l.Notes)
	}
}

func TestCredentialsOfARemoteServerDoNotFollowARedirect(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, transport := range []string{"http", "sse"} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}))
		p := New(nil)
		p.Apply([]config.Server{{ID: "s", URL: web.URL, Type: transport, Headers: map[string]string{"X-Api-Key": "s3cret"}}})
		if _, err := p.List(t.Context(), "s"); err == nil || reached.Load() != 0 {
			t.Errorf("%s: %v, and %d requests came", transport, err, reached.Load())
		}
		p.Close()
		web.Close()
	}
}

func TestWhatIsListedTwiceCountsOnce(t *testing.T) {
	var l Listing
	take := l.raw(&l.Templates, "resource template", "uriTemplate")
	for _, raw := range []string{`{"uriTemplate":"x:{n}","name":"one"}`, `{"uriTemplate":"x:{n}","name":"another"}`, `{"name":"none"}`} {
		take(json.RawMessage(raw))
	}
	if len(l.Templates) != 1 || !strings.Contains(string(l.Templates[0]), "one") || len(l.Notes) != 2 || l.Notes[0] != "resource template x:{n} is listed twice; the first one counts" {
		t.Errorf("%s, %q", l.Templates, l.Notes)
	}
}

// TestASubscriptionWaitsForTheSessionsStream: a server that has nowhere to send an update drops it.
func TestASubscriptionWaitsForTheSessionsStream(t *testing.T) {
	t.Parallel()
	var streams atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		switch {
		case r.Method == http.MethodGet:
			time.Sleep(100 * time.Millisecond) // it is slow to open
			streams.Add(1)
			writeEvents(w, ": here\n\n")
			<-r.Context().Done()
		case m.Method == "initialize":
			writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true}}}`)
		case m.Method == "resources/subscribe" && streams.Load() == 0:
			writeJSON(w, m.ID, `{"early":true}`)
		case m.ID != nil:
			writeJSON(w, m.ID, `{}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	p, _ := newPool(t, nil, config.Server{ID: "slow", URL: s.URL, Timeout: patience, Start: patience, Idle: time.Hour})
	result, err := p.Ask(t.Context(), "slow", "resources/subscribe", json.RawMessage(`{"uri":"x://1"}`))
	if err != nil || string(result) != "{}" {
		t.Errorf("got %s, %v", result, err)
	}
}
