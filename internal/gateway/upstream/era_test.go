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
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// waitUntil waits for what happens beside the test.
func waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("it did not happen")
		}
	}
}

// TestEraIsFoundOut holds that a server is greeted in the way that it understands, however
// it says that it does not understand the other.
func TestEraIsFoundOut(t *testing.T) {
	t.Parallel()
	discovered := `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{}}`
	cases := []struct {
		name     string
		discover func(w http.ResponseWriter, id json.RawMessage, n int)
		want     mcp.Era
	}{
		{"it says what it is", func(w http.ResponseWriter, id json.RawMessage, _ int) { writeJSON(w, id, discovered) }, mcp.Modern},
		{"it does not know the method", func(w http.ResponseWriter, id json.RawMessage, _ int) { writeError(w, 200, id, -32601) }, mcp.Legacy},
		{"it wants a session", func(w http.ResponseWriter, _ json.RawMessage, _ int) {
			writeError(w, 400, json.RawMessage("null"), -32000)
		}, mcp.Legacy},
		{"it answers with a page", func(w http.ResponseWriter, _ json.RawMessage, _ int) {
			w.WriteHeader(400)
			io.WriteString(w, "<html>Bad Request</html>")
		}, mcp.Legacy},
		{"it breaks", func(w http.ResponseWriter, _ json.RawMessage, _ int) { w.WriteHeader(500) }, mcp.Legacy},
		{"it takes it and says nothing", func(w http.ResponseWriter, _ json.RawMessage, _ int) { w.WriteHeader(202) }, mcp.Legacy},
		{"it serves only legacy revisions", func(w http.ResponseWriter, id json.RawMessage, _ int) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}`, id)
		}, mcp.Legacy},
		{"it answers as if it were modern and serves only legacy revisions", func(w http.ResponseWriter, id json.RawMessage, _ int) {
			writeJSON(w, id, `{"supportedVersions":["2025-11-25"],"capabilities":{}}`)
		}, mcp.Legacy},
		{"it refuses the first time and names the same revision", func(w http.ResponseWriter, id json.RawMessage, n int) {
			if n > 1 {
				writeJSON(w, id, discovered)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`, id)
		}, mcp.Modern},
		{"it never answers", func(w http.ResponseWriter, _ json.RawMessage, _ int) {}, mcp.Legacy},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			hang := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				m, err := mcp.Parse(body)
				switch {
				case err != nil:
					w.WriteHeader(405)
				case m.Method == "server/discover" && c.name == "it never answers":
					<-hang
				case m.Method == "server/discover":
					c.discover(w, m.ID, int(n.Add(1)))
				case m.Method == "initialize":
					writeJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{}}`)
				case m.Method == "tools/call":
					writeJSON(w, m.ID, okResult)
				default:
					w.WriteHeader(202)
				}
			}))
			t.Cleanup(srv.Close)
			t.Cleanup(func() { close(hang) })
			p, _ := newPool(t, nil)
			if c.name == "it never answers" { // the others may be slow to
				p.quiet = 50 * time.Millisecond
			}
			p.Apply([]config.Server{{ID: "s", URL: srv.URL, Timeout: patience, Start: patience}})
			for range 2 { // what was found out once is not asked again
				out, err := p.Call(t.Context(), Call{Server: "s", Tool: "x", Params: json.RawMessage(`{"name":"x"}`)})
				if err != nil || out.Era != c.want {
					t.Fatalf("got %q, %v; want %s", out.Era, err, c.want)
				}
			}
			if asked := n.Load(); asked > 2 {
				t.Errorf("it was asked %d times what it is", asked)
			}
		})
	}
}

func TestEraOfAProcess(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]string{
		"it does not know the question": "plain", "it passes over the question": "passes over", "it dies of the question": "dies of a question",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newPool(t, nil)
			if mode == "passes over" {
				p.quiet = 50 * time.Millisecond
			}
			p.Apply([]config.Server{badConfig("bad", mode)})
			mustCall(t, p, "bad", "echo", okResult)
			if s, _ := p.server("bad"); s.knownEra() != mcp.Legacy {
				t.Errorf("it counts as %q", s.knownEra())
			}
		})
	}
}

func TestRememberedEraIsNotAskedFor(t *testing.T) {
	t.Parallel()
	legacy := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, okResult) })
	p, _ := newPool(t, nil, legacy.config())
	p.Recognize("bad", Listing{Era: mcp.Legacy})
	mustCall(t, p, "bad", "x", okResult)
	if legacy.heardOf("server/discover") {
		t.Error("a server that is known to be legacy was asked")
	}
}

// TestEraIsLearnedAnew holds that a server behind the same URL may change its era, and that
// the call which finds out is still answered.
func TestEraIsLearnedAnew(t *testing.T) {
	t.Parallel()
	old := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, okResult) })
	renewed := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, okResult) })
	var now atomic.Pointer[http.Handler]
	serve := func(h http.Handler) { now.Store(&h) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := *now.Load()
		if h == http.Handler(old) && r.Header.Get("Mcp-Protocol-Version") == mcp.ModernVersion {
			writeError(w, 400, json.RawMessage("null"), -32000) // as servers of the TypeScript SDK do
			return
		}
		if h == http.Handler(renewed) && r.Header.Get("Mcp-Session-Id") != "" {
			w.WriteHeader(404)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	cfg := old.config()
	cfg.URL = srv.URL
	serve(old)
	p, _ := newPool(t, nil, cfg)
	s, _ := p.server("bad")
	for _, c := range []struct {
		h    http.Handler
		want mcp.Era
	}{{old, mcp.Legacy}, {renewed, mcp.Modern}, {old, mcp.Legacy}, {renewed, mcp.Modern}} {
		serve(c.h)
		mustCall(t, p, "bad", "x", okResult)
		if s.knownEra() != c.want {
			t.Fatalf("it counts as %q, want %s", s.knownEra(), c.want)
		}
	}
}

func TestServerThatCannotBeReachedIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	p, _ := newPool(t, nil, config.Server{ID: "s", URL: srv.URL, Timeout: patience, Start: patience})
	_, err := callTool(t.Context(), p, "s", "x")
	wantFault(t, err, fault.UpstreamDown, "cannot be reached")
}

// asking is a caller that is asked.
type asking struct {
	ask  func(method string, params string) (string, error)
	told func(method, params string)
}

func (a asking) Notify(_ context.Context, method string, params json.RawMessage) error {
	if a.told != nil {
		a.told(method, string(params))
	}
	return nil
}

func (a asking) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	out, err := a.ask(method, string(params))
	return json.RawMessage(out), err
}

// able is a legacy client that can be asked everything.
var able = mcp.Speaker{Era: mcp.Legacy, Info: json.RawMessage(`{"name":"c"}`), Capabilities: json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)}

// TestLegacyClientIsAskedWhatAModernServerAsks holds that questions become requests, and
// that the call is made again with what was said and exactly the server's own state.
func TestLegacyClientIsAskedWhatAModernServerAsks(t *testing.T) {
	t.Parallel()
	var ids []string
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		ids = append(ids, string(m.ID))
		switch params := string(m.Params); {
		case !strings.Contains(params, "inputResponses"):
			writeJSON(w, m.ID, `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"?"}},"r":{"method":"roots/list"}},"requestState":"s\u0031 \"x\""}`)
		case strings.Contains(params, `"inputResponses":{"who":{"action":"accept","content":{"n":1.0}},"r":{"roots":[]}},"requestState":"s\u0031 \"x\"",`):
			writeJSON(w, m.ID, `{"resultType":"input_required","inputRequests":{"page":{"method":"elicitation/create","params":{"mode":"url","url":"http://x"}}}}`)
		case strings.Contains(params, `"inputResponses":{"page":{"action":"accept"}},"name":"x","arguments":{"big":9007199254740993}`) && !strings.Contains(params, "requestState"):
			writeJSON(w, m.ID, `{"resultType":"complete","content":[]}`)
		default:
			t.Errorf("params %s", params)
			writeError(w, 400, m.ID, -32602)
		}
	})
	p, _ := newPool(t, nil, s.config())
	var asked, told []string
	peer := asking{
		ask: func(method, params string) (string, error) {
			asked = append(asked, method+" "+params)
			switch {
			case method == "roots/list":
				return `{"roots":[]}`, nil
			case strings.Contains(params, "url"):
				return `{"action":"accept"}`, nil
			}
			return `{"action":"accept","content":{"n":1.0}}`, nil
		},
		told: func(method, params string) { told = append(told, method+params) },
	}
	params := json.RawMessage(`{"name":"x","arguments":{"big":9007199254740993}}`)
	out, err := p.Call(t.Context(), Call{Server: "new", Tool: "x", Params: params, From: able, Peer: peer})
	if err != nil || out.Kind != Complete {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(asked) != 3 || asked[0] != `elicitation/create {"message":"[server new] ?"}` || asked[1] != "roots/list " || !strings.HasPrefix(asked[2], `elicitation/create {"message":"[server new]","elicitationId":"`) {
		t.Errorf("asked %q", asked)
	}
	if len(told) != 1 || !strings.Contains(told[0], "notifications/elicitation/complete") {
		t.Errorf("told %q", told)
	}
	if len(ids) != 3 || ids[0] == ids[1] || ids[1] == ids[2] {
		t.Errorf("each round needs an id of its own: %v", ids)
	}
}

func TestModernServerThatAsksBadly(t *testing.T) {
	t.Parallel()
	question := func(method string) string {
		return `{"resultType":"input_required","inputRequests":{"a":{"method":"` + method + `","params":{}}},"requestState":"s"}`
	}
	for _, c := range []struct {
		name, result string
		from         mcp.Speaker
		want         string
	}{
		{"without end", question("elicitation/create"), able, "server new asked for more 10 times"},
		{"for another call without end", `{"resultType":"input_required","requestState":"s"}`, able, "server new wanted to be called again 3 times"},
		{"for nothing", `{"resultType":"input_required"}`, able, "did not say for what"},
		{"for what nobody can be asked", question("files/delete"), able, "which no client can be asked"},
		{"with questions that are none", `{"resultType":"input_required","inputRequests":[1]}`, able, "invalid questions"},
		{"a client that cannot be asked", question("sampling/createMessage"), mcp.Speaker{}, "code -32021"},
		{"a client that has no answer", question("sampling/createMessage"), able, "the client answered: no model"},
		{"by a task", `{"resultType":"task","taskId":"1"}`, able, `result of type "task"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, c.result) })
			p, _ := newPool(t, nil, s.config())
			peer := asking{ask: func(method, _ string) (string, error) {
				if method == "sampling/createMessage" {
					return "", mcp.Errorf(-1, "no model")
				}
				return `{"action":"decline"}`, nil
			}}
			_, err := p.Call(t.Context(), Call{Server: "new", Tool: "x", Params: json.RawMessage(`{"name":"x"}`), From: c.from, Peer: peer})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestModernClientGetsAModernServersQuestionAsItIs(t *testing.T) {
	t.Parallel()
	const question = `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}`
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, question) })
	p, _ := newPool(t, nil, s.config())
	out, err := p.Call(t.Context(), Call{Server: "new", Tool: "x", Params: json.RawMessage(`{"name":"x"}`), From: mcp.Speaker{Era: mcp.Modern, Capabilities: nothing}})
	if err != nil || out.Kind != InputRequired || string(out.Raw) != question {
		t.Errorf("%d %s, %v", out.Kind, out.Raw, err)
	}
}
