package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// galleryTools are listed by the gallery's servers: each has an app, whose page no list has, and a tool for it. One of them
// has an extension that nobody knows.
type galleryTools struct{}

func (galleryTools) List(_ context.Context, id tool.ServerID) (upstream.Listing, error) {
	l := upstream.Listing{Capabilities: json.RawMessage(`{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`)}
	if id == "a" || id == "twin" {
		l.Capabilities = json.RawMessage(`{"resources":{},"extensions":{"com.example/moon":{"phase":"full"}}}`)
	}
	for _, def := range []string{
		`{"name":"show","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://page"}}}`,
		`{"name":"only_` + string(id) + `","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`,
	} {
		parsed, err := tool.ParseDefinition(json.RawMessage(def))
		if err != nil {
			return l, err
		}
		l.Tools = append(l.Tools, parsed)
	}
	return l, nil
}
func (galleryTools) Recognize(tool.ServerID, upstream.Listing) {}

// newGallery is a gateway whose servers answer each request with their name and the params that they got.
func newGallery(t *testing.T, servers ...tool.ServerID) *door {
	cfg := &config.Config{}
	builtins := map[string]upstream.Builtin{}
	for _, id := range servers {
		cfg.Servers = append(cfg.Servers, config.Server{ID: id, Builtin: string(id)})
		builtins[string(id)] = func(config.Server) (mcp.Handler, error) {
			return mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) {
				params := mcp.Without(req.Params, "_meta")
				return rawjson.Encode(map[string]any{"server": id, "method": req.Method, "params": params, "content": []any{}}), nil
			}), nil
		}
	}
	return openGallery(t, cfg, builtins)
}

func openGallery(t *testing.T, cfg *config.Config, builtins map[string]upstream.Builtin) *door {
	cfg.Detach = config.DetachOff
	cfg.Profiles = []config.Profile{{Name: "default", All: true}}
	cfg.Policy = []policy.Rule{{Name: "no", Tools: []string{"a__moon/*"}, When: "args.n > 1", Then: policy.Deny}}
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := upstream.New(&upstream.Options{Builtins: builtins})
	cat, err := catalog.New(t.Context(), galleryTools{}, noKeeper{}, &catalog.Options{Own: call.OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	pool.Apply(cfg.Servers)
	cat.Apply(cfg)
	for _, server := range cfg.Servers {
		if err := cat.Refresh(t.Context(), server.ID); err != nil {
			t.Fatal(err)
		}
	}
	log := record.New(st, nil)
	s := New(cat, call.New(cat, pool, log, nil), pool, nil)
	t.Cleanup(func() {
		s.Close()
		pool.Close()
		log.Close(context.Background())
		st.Close()
	})
	return newDoor(t, func(who string) mcp.Entry {
		return s.Entry(access.Principal{ID: who, Role: access.Caller}, "default")
	}, func(session *mcp.Session) { s.SessionEnded(context.Background(), session) })
}

func TestUnknownNotificationsGoToServersWithASessionForTheClient(t *testing.T) {
	var mu sync.Mutex
	var notes []string
	noted := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(notes, " ")
	}
	listens := func(id tool.ServerID) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			m, err := mcp.Parse(body)
			switch {
			case err != nil:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case m.ID == nil:
				mu.Lock()
				defer mu.Unlock()
				notes = append(notes, string(id)+":"+m.Method+string(m.Params))
				w.WriteHeader(http.StatusAccepted)
			case m.Method == "server/discover":
				w.Write(mcp.AppendError(nil, m.ID, mcp.Errorf(mcp.CodeMethodNotFound, "unknown")))
			default:
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"content":[]}}`, m.ID)
			}
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	limit := 10 * time.Second
	d := openGallery(t, &config.Config{Servers: []config.Server{
		{ID: "a", URL: listens("a"), Start: limit, Timeout: limit}, {ID: "b", URL: listens("b"), Start: limit, Timeout: limit, Isolation: "session"},
	}}, nil)
	s := d.open("ann", mcp.Latest, "{}")
	for _, name := range []string{"a__show", "b__show"} {
		if _, err := s.request(t.Context(), "tools/call", `{"name":"`+name+`","arguments":{}}`); err != nil {
			t.Fatal(err)
		}
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/moon/rose","params":{"x":1.0}}`)
	soon(t, "the server of this client hears it", func() bool { return strings.Contains(noted(), `b:notifications/moon/rose{"x":1.0}`) })
	if text := noted(); strings.Contains(text, "a:notifications/moon") || strings.Contains(text, "progress") {
		t.Error(text)
	}
	if answer, err := s.request(t.Context(), "notifications/moon/rose", "{}"); err == nil {
		t.Errorf("a request of that name is answered: %s", answer)
	}
}

const rendersApps = `{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}`

// inBothEras asks as clients of both eras do, with the capabilities.
func (d *door) inBothEras(capabilities, method, params string) (answers []string) {
	d.t.Helper()
	for _, ask := range []func() (string, error){
		func() (string, error) { return d.modern(d.t.Context(), "ann", capabilities, method, params) },
		func() (string, error) {
			return d.open("ann", mcp.Latest, capabilities).request(d.t.Context(), method, params)
		},
	} {
		answer, err := ask()
		if err != nil {
			answer = err.Error()
		}
		answers = append(answers, answer)
	}
	return answers
}

func TestClientsSeeTheExtensionsOfServers(t *testing.T) {
	d := newGallery(t, "a", "b")
	hello := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`
	legacy, err := d.post(t.Context(), "ann", d.request("initialize", hello), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer legacy.Body.Close()
	var first string
	read(legacy, func(m mcp.Message) bool { first, err = answered(m); return true })
	modern, failed := d.modern(t.Context(), "ann", "{}", "server/discover", "{}")
	for _, answer := range []string{first, modern} {
		extensions := string(rawjson.Get(json.RawMessage(answer), "capabilities", "extensions"))
		if err != nil || failed != nil || !strings.Contains(extensions, `"com.example/moon":{"phase":"full"}`) || !strings.Contains(extensions, mcp.ExtensionApps) {
			t.Errorf("%s, %v, %v", answer, err, failed)
		}
	}
}

func TestAnAppsPageIsReadFromItsServerUnderItsOwnName(t *testing.T) {
	d := newGallery(t, "a", "b")
	for uri, server := range map[string]string{"ui://page": "a", "ui://b/page": "b"} {
		for _, answer := range d.inBothEras(rendersApps, "resources/read", `{"uri":"`+uri+`"}`) {
			got := json.RawMessage(answer)
			if string(rawjson.Get(got, "server")) != `"`+server+`"` || string(rawjson.Get(got, "params", "uri")) != `"ui://page"` {
				t.Errorf("%s: %s", uri, answer)
			}
		}
	}
	for _, answer := range d.inBothEras(rendersApps, "resources/read", `{"uri":"ui://c/page"}`) {
		if !strings.Contains(answer, "unknown resource") {
			t.Error(answer)
		}
	}
}

func TestToolsForAppsAreListedToClientsThatRenderThem(t *testing.T) {
	d := newGallery(t, "a", "b")
	for capabilities, want := range map[string]bool{rendersApps: true, "{}": false} {
		for _, answer := range d.inBothEras(capabilities, "tools/list", "{}") {
			if strings.Contains(answer, "b__only_b") != want || !strings.Contains(answer, "a__show") {
				t.Errorf("%s: %s", capabilities, answer)
			}
		}
		for _, answer := range d.inBothEras(capabilities, "tools/call", `{"name":"only_b","arguments":{}}`) {
			if strings.Contains(answer, `"server":"b"`) != want {
				t.Errorf("%s: %s", capabilities, answer)
			}
		}
	}
}

func TestAnUnknownMethodGoesToTheOneServerThatCanKnowIt(t *testing.T) {
	d := newGallery(t, "a", "b")
	for _, answer := range d.inBothEras("{}", "moon/rise", `{"n":1,"x":{"y":[1.0]}}`) {
		got := json.RawMessage(answer)
		if string(rawjson.Get(got, "server")) != `"a"` || string(rawjson.Get(got, "params")) != `{"n":1,"x":{"y":[1.0]}}` {
			t.Error(answer)
		}
	}
	for name, c := range map[string]struct{ method, params, want string }{
		"the policy denies it":    {"moon/rise", `{"n":2}`, "the policy does not permit"},
		"the protocol's own":      {"tools/eat", `{}`, "unknown method tools/eat"},
		"what servers ask":        {"sampling/createMessage", `{}`, "unknown method"},
		"without its argument":    {"moon/rise", `{}`, "the policy does not permit"},
		"a method without a name": {"", `{}`, ""},
	} {
		for _, answer := range d.inBothEras("{}", c.method, c.params) {
			if !strings.Contains(answer, c.want) || strings.Contains(answer, `"server"`) {
				t.Errorf("%s: %s", name, answer)
			}
		}
	}
	for _, answer := range newGallery(t, "b").inBothEras("{}", "moon/rise", `{"n":1}`) {
		if !strings.Contains(answer, "unknown method moon/rise") {
			t.Error(answer)
		}
	}
	for _, answer := range newGallery(t, "a", "twin").inBothEras("{}", "moon/rise", `{"n":1}`) {
		if !strings.Contains(answer, "it could be for any of the servers a, twin") {
			t.Error(answer)
		}
	}
	for _, answer := range newGallery(t, "a", "twin").inBothEras("{}", "moon/rise", `{"uri":"ui://twin/page"}`) {
		if !strings.Contains(answer, `"server":"twin"`) || !strings.Contains(answer, `"uri":"ui://page"`) { // as the server has it
			t.Error(answer)
		}
	}
}
