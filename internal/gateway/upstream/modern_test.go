//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// modernWeb is a server of the modern era over HTTP, written by hand. Call answers
// tools/call, prompts/get and resources/read.
type modernWeb struct {
	*httptest.Server
	call func(w http.ResponseWriter, r *http.Request, m mcp.Message)
	caps string        // what discover says it can
	down chan struct{} // closed when the test ends

	mu      sync.Mutex
	got     []string      // methods
	header  []http.Header // beside them
	bodies  []string
	filters []string
	streams map[chan string]bool // the open ones
}

func newModernWeb(t *testing.T, call func(w http.ResponseWriter, r *http.Request, m mcp.Message)) *modernWeb {
	s := &modernWeb{call: call, caps: `{"tools":{}}`, down: make(chan struct{}), streams: map[chan string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(s.down) })
	return s
}

func (s *modernWeb) config() config.Server {
	return config.Server{ID: "new", URL: s.URL, Headers: map[string]string{"Authorization": "Bearer x"}, Timeout: patience, Start: patience, Idle: time.Hour}
}

func (s *modernWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.Parse(body)
	s.mu.Lock()
	s.got, s.header, s.bodies = append(s.got, m.Method), append(s.header, r.Header), append(s.bodies, string(body))
	s.mu.Unlock()
	version, _ := rawjson.String(rawjson.Get(m.Params, "_meta", mcp.MetaVersion))
	switch {
	case err != nil || r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Header.Get("Mcp-Protocol-Version") != mcp.ModernVersion || version != mcp.ModernVersion || r.Header.Get(mcp.MethodHeader) != m.Method:
		writeError(w, http.StatusBadRequest, m.ID, -32020)
	case m.Method == "server/discover":
		writeJSON(w, m.ID, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+s.caps+`,"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}}}`)
	case m.Method == "tools/list":
		writeJSON(w, m.ID, `{"resultType":"complete","ttlMs":5000,"cacheScope":"private","tools":[`+
			`{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},`+
			`{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}`)
	case m.Method == "subscriptions/listen":
		s.listen(w, r, m)
	default:
		s.call(w, r, m)
	}
}

func (s *modernWeb) listen(w http.ResponseWriter, r *http.Request, m mcp.Message) {
	filter := string(rawjson.Get(m.Params, "notifications"))
	s.mu.Lock()
	s.filters = append(s.filters, filter)
	news := make(chan string, 10)
	s.streams[news] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, news)
		s.mu.Unlock()
	}()
	ack := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"` + mcp.MetaSubscriber + `":` + string(m.ID) + `},"notifications":` + strings.Replace(filter, `,"file:///deaf"`, "", 1) + `}}`
	writeEvents(w, "data: "+ack+"\n\n")
	for {
		select {
		case event := <-news:
			if event == "" {
				return
			}
			writeEvents(w, "data: "+event+"\n\n")
		case <-r.Context().Done():
			return
		case <-s.down:
			return
		}
	}
}

// say tells all who listen; "" ends their streams.
func (s *modernWeb) say(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for news := range s.streams {
		news <- event
	}
}

func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, id, code)
}

// last is the last request of the method.
func (s *modernWeb) last(method string) (http.Header, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.got) - 1; i >= 0; i-- {
		if s.got[i] == method {
			return s.header[i], s.bodies[i]
		}
	}
	return nil, ""
}

func (s *modernWeb) count(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.got {
		if m == method {
			n++
		}
	}
	return n
}

func done(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
	writeJSON(w, m.ID, `{"resultType":"complete","content":[]}`)
}

func TestModernServerIsToldAllWithEveryRequest(t *testing.T) {
	t.Parallel()
	s := newModernWeb(t, done)
	p, _ := newPool(t, &Options{Version: "9"}, s.config())
	legacy := mcp.Speaker{Era: mcp.Legacy, Info: json.RawMessage(`{"name":"old","version":"1"}`), Capabilities: json.RawMessage(`{"roots":{"listChanged":true},"sampling":{},"tasks":{}}`), Level: "info"}
	modern := mcp.Speaker{Era: mcp.Modern, Info: json.RawMessage(`{"name":"n"}`), Capabilities: json.RawMessage(`{"extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{"z":1.0}}}`)}
	const v = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":`
	for _, c := range []struct {
		name, params string
		from         mcp.Speaker
		want         string
	}{
		{"a caller that is nobody", `{"name":"good"}`, mcp.Speaker{},
			`{"_meta":{` + v + `{"name":"toolfit","version":"9"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"good"}`},
		{"a legacy client, with what it said when its session began", `{"name":"good","_meta":{"progressToken":"t","own":1.0}}`, legacy,
			`{"name":"good","_meta":{` + v + `{"name":"old","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{}},"io.modelcontextprotocol/logLevel":"info","progressToken":ID,"own":1.0}}`},
		{"a modern client, without the extension that we do not carry", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00","io.modelcontextprotocol/future":1},"name":"good"}`, modern,
			`{"_meta":{` + v + `{"name":"n"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"x/y":{"z":1.0}}},"traceparent":"00","io.modelcontextprotocol/future":1},"name":"good"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			params := json.RawMessage(c.params)
			out, err := p.Call(t.Context(), Call{Server: "new", Tool: "good", Params: params, Meta: mcp.FindMeta(params), From: c.from})
			if err != nil || out.Era != mcp.Modern || out.Kind != Complete {
				t.Fatalf("%+v, %v", out, err)
			}
			_, body := s.last("tools/call")
			m, _ := mcp.Parse([]byte(body))
			if want := strings.Replace(c.want, "ID", string(m.ID), 1); string(m.Params) != want {
				t.Errorf("got  %s\nwant %s", m.Params, want)
			}
		})
	}
}

func TestModernServerSeesNamesAndArgumentsInHeaders(t *testing.T) {
	t.Parallel()
	s := newModernWeb(t, done)
	p, _ := newPool(t, nil, s.config())
	_, err := p.Call(t.Context(), Call{Server: "new", Tool: "工具", Params: json.RawMessage(`{"name":"工具"}`), Header: http.Header{"Mcp-Param-A": {"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := s.last("tools/call")
	if h.Get("Mcp-Name") != mcp.EncodeHeader("工具") || h.Get("Mcp-Param-A") != "x" || h.Get("Authorization") != "Bearer x" || h.Get("Mcp-Session-Id") != "" {
		t.Errorf("%v", h)
	}
	for method, params := range map[string]string{"prompts/get": `{"name":"p"}`, "resources/read": `{"uri":"p"}`} {
		if _, err := p.Call(t.Context(), Call{Server: "new", Method: method, Params: json.RawMessage(params)}); err != nil {
			t.Fatal(err)
		}
		if h, _ := s.last(method); h.Get("Mcp-Name") != "p" || h.Get("Mcp-Method") != method {
			t.Errorf("%s: %v", method, h)
		}
	}
	if s.count("initialize") != 0 {
		t.Error("a modern server was asked for a session")
	}
}

func TestLegacyServerIsNotToldWhatOnlyModernOnesKnow(t *testing.T) {
	t.Parallel()
	var got []string
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
		got = append(got, string(m.Params))
		writeJSON(w, m.ID, okResult)
	})
	p, _ := newPool(t, nil, s.config())
	params := json.RawMessage(`{"name":"x","inputResponses":{"a":{}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00","io.modelcontextprotocol/clientCapabilities":{}},"requestState":"s"}`)
	out, err := p.Call(t.Context(), Call{Server: "bad", Tool: "x", Params: params, Meta: mcp.FindMeta(params), From: mcp.Speaker{Era: mcp.Modern, Capabilities: nothing}})
	if want := `{"name":"x","_meta":{"traceparent":"00"}}`; err != nil || out.Era != mcp.Legacy || got[0] != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestModernListing(t *testing.T) {
	t.Parallel()
	s := newModernWeb(t, done)
	p, _ := newPool(t, nil, s.config())
	l, err := p.List(t.Context(), "new")
	if err != nil || l.Era != mcp.Modern || l.TTL != 5*time.Second || !l.Private || string(l.Info) != `{"name":"new","version":"1"}` {
		t.Fatalf("%+v, %v", l, err)
	}
	if len(l.Tools) != 1 || l.Tools[0].Name != "good" || len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "tool bad was left out") {
		t.Errorf("a tool whose headers cannot be said must go: %v %v", l.Tools, l.Notes)
	}
}

func TestCanceledCallHangsUpOnAModernServer(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	s := newModernWeb(t, func(_ http.ResponseWriter, r *http.Request, _ mcp.Message) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	p, _ := newPool(t, nil, s.config())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	_, err := callTool(ctx, p, "new", "good")
	wantFault(t, err, fault.Canceled)
	<-ended
	if s.count(cancelMethod) != 0 {
		t.Error("a modern server is told by the closed connection alone")
	}
}

func TestModernServersNews(t *testing.T) {
	t.Parallel()
	changed, updated := make(chan string, 10), make(chan string, 10)
	s := newModernWeb(t, done)
	s.caps = `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`
	p, _ := newPool(t, &Options{
		Changed: func(id tool.ServerID) { changed <- string(id) },
		Updated: func(_ tool.ServerID, params json.RawMessage) {
			uri, _ := rawjson.String(rawjson.Get(params, "uri"))
			updated <- uri
		},
	}, s.config())
	if _, err := p.List(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.streams) == 1 })
	s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`)
	<-changed
	for _, uri := range []string{"file:///a", "file:///b"} {
		if _, err := p.Ask(t.Context(), "new", "resources/subscribe", json.RawMessage(`{"uri":"`+uri+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	s.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`)
	if got := <-updated; got != "file:///a" {
		t.Error(got)
	}
	if _, err := p.Ask(t.Context(), "new", "resources/subscribe", json.RawMessage(`{"uri":"file:///deaf"}`)); err == nil {
		t.Error("what the server will not tell of was promised")
	}
	if _, err := p.Ask(t.Context(), "new", "resources/unsubscribe", json.RawMessage(`{"uri":"file:///a"}`)); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	filters := slices.Clone(s.filters)
	s.mu.Unlock()
	want := []string{
		`{"toolsListChanged":true}`,
		`{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}`,
		`{"toolsListChanged":true,"resourceSubscriptions":["file:///a","file:///b"]}`,
		`{"toolsListChanged":true,"resourceSubscriptions":["file:///a","file:///b","file:///deaf"]}`,
	}
	if len(filters) < len(want) || !slices.Equal(filters[:len(want)], want) {
		t.Errorf("got  %v\nwant %v", filters, want)
	}
	if s.count("resources/subscribe") != 0 {
		t.Error("a modern server has no such method")
	}
	waitUntil(t, func() bool { // only what is still wanted is listened to
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.filters[len(s.filters)-1] == `{"toolsListChanged":true,"resourceSubscriptions":["file:///b"]}` && len(s.streams) == 1
	})
	before := s.count("subscriptions/listen")
	s.say("") // the stream ends, and nobody knows what was missed meanwhile
	<-changed
	waitUntil(t, func() bool { return s.count("subscriptions/listen") > before })
}
