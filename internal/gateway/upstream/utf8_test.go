//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	latinResult = "{\"content\":[{\"type\":\"text\",\"text\":\"caf\xe9 \xff\xfe\"}],\"_meta\":{\"k\":1,\"toolfit/replaced\":0}}"
	latinLog    = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"caf\xe9\"}}"
)

// latinServers are servers of every kind whose tool answers in bytes that are not UTF-8. An
// HTTP API names a charset that is not that of its bytes.
func latinServers(t *testing.T) map[string]config.Server {
	body := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, latinResult) })
	stream := newWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		writeEvents(w, "data: "+latinLog+"\n\n", fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, latinResult))
	})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "caf\xe9 \xff\xfe")
	}))
	t.Cleanup(api.Close)
	spec := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(spec, []byte(`{"openapi":"3.0.3","info":{"title":"x","version":"1"},"paths":{"/latin1":{"get":{"operationId":"latin1","responses":{"200":{"description":"ok"}}}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	servers := map[string]config.Server{
		"process":  badConfig("bad", "plain"),
		"body":     body.config(),
		"stream":   stream.config(),
		"builtin":  {Builtin: "latin1"},
		"HTTP API": {API: &config.API{Spec: spec, Base: api.URL, Layout: "flat"}},
	}
	for name, s := range servers {
		s.ID, s.Timeout, s.Start = "bad", patience, patience
		servers[name] = s
	}
	return servers
}

var latinBuiltin = map[string]Builtin{"latin1": func(config.Server) (mcp.Handler, error) {
	return mcp.HandlerFunc(func(context.Context, *mcp.Request) (json.RawMessage, error) { return json.RawMessage(latinResult), nil }), nil
}}

func TestResultsThatAreNotUTF8AreReplacedAndSaySo(t *testing.T) {
	t.Parallel()
	for name, cfg := range latinServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newPool(t, &Options{Builtins: latinBuiltin}, cfg)
			var said []string
			out, err := p.Call(t.Context(), Call{
				Server: "bad", Tool: "latin1", Params: json.RawMessage(`{"name":"latin1","arguments":{}}`),
				Peer: peer{func(params string) { said = append(said, params) }},
			})
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if items := rawjson.Array(rawjson.Get(out.Raw, "content")); items.Next() {
				text, _ = rawjson.String(rawjson.Get(items.Value, "text"))
			}
			if n := string(rawjson.Get(out.Raw, "_meta", "toolfit/replaced")); text != "caf� �" || n != "3" || !utf8.Valid(out.Raw) {
				t.Errorf("got %s", out.Raw)
			}
			for _, params := range said {
				if params != `{"_meta":{"toolfit/replaced":1},"level":"info","data":"caf�"}` {
					t.Errorf("the caller was told %q", params)
				}
			}
			if says := name == "process" || name == "stream"; says && len(said) != 1 {
				t.Errorf("the caller was told %q", said)
			}
		})
	}
}

func TestResultsThatAreNotUTF8AreRefusedWhereTheServerIsSetSo(t *testing.T) {
	t.Parallel()
	for name, cfg := range latinServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.UTF8 = "refuse"
			p, _ := newPool(t, &Options{Builtins: latinBuiltin}, cfg)
			_, err := callTool(t.Context(), p, "bad", "latin1")
			wantFault(t, err, fault.UpstreamProtocol, "server bad sent", "not UTF-8")
		})
	}
}

func TestEventsThatAreNotUTF8AreReplaced(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{}, 1)
	c, say := openEventLink(t, func(*http.Request) (*http.Response, error) {
		sent <- struct{}{}
		return response(202, "", http.NoBody), nil
	})
	defer c.close()
	go func() {
		<-sent
		fmt.Fprint(say, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"\xe9\"}}\n\n")
	}()
	got, err := c.request(t.Context(), pingOut)
	if want := `{"_meta":{"toolfit/replaced":1},"a":"�"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestEveryKindOfMessageThatIsNotUTF8IsReplaced(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"a question": {
			"{\"id\":7,\"method\":\"elicitation/create\",\"params\":{\"message\":\"caf\xe9?\"}}",
			`{"_meta":{"toolfit/replaced":1},"message":"caf�?"}`,
		},
		"a message whose _meta is no object": {
			"{\"id\":7,\"result\":{\"_meta\":null,\"a\":\"\xe9\"}}", `{"_meta":{"toolfit/replaced":1},"a":"�"}`,
		},
		"a key": {
			"{\"id\":7,\"result\":{\"caf\xe9\":1}}", `{"_meta":{"toolfit/replaced":1},"caf�":1}`,
		},
		"an error, which has no _meta": {
			"{\"id\":7,\"error\":{\"code\":1,\"message\":\"caf\xe9\"}}", `{"code":1,"message":"caf�"}`,
		},
		"a result that is no object": {"{\"id\":7,\"result\":\"\xe9\"}", `"�"`},
		"a surrogate written in bytes": {
			"{\"id\":7,\"result\":{\"a\":\"\xed\xa0\x80\"}}", `{"_meta":{"toolfit/replaced":3},"a":"�"}`,
		},
	} {
		m, err := hooks{}.parse([]byte(c.message))
		if got := string(m.Params) + string(m.Result) + string(m.Error); err != nil || got != c.want {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, c.want)
		}
		if _, err := (hooks{refuse: true}).parse([]byte(c.message)); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func TestAToolListThatIsNotUTF8IsReplacedAndTheServerNamed(t *testing.T) {
	t.Parallel()
	h := mcp.HandlerFunc(func(context.Context, *mcp.Request) (json.RawMessage, error) {
		return json.RawMessage("{\"tools\":[{\"name\":\"a\",\"description\":\"caf\xe9\",\"inputSchema\":{\"type\":\"object\"}}]}"), nil
	})
	p, _ := newPool(t, &Options{Builtins: map[string]Builtin{"x": func(config.Server) (mcp.Handler, error) { return h, nil }}}, config.Server{ID: "bad", Builtin: "x"})
	l, err := p.List(t.Context(), "bad")
	if err != nil || len(l.Tools) != 1 || !strings.Contains(string(l.Tools[0].Raw), `"caf�"`) {
		t.Fatalf("got %v, %v", l.Tools, err)
	}
	if want := "the server's tools: 1 bytes were not UTF-8 and have been replaced"; len(l.Notes) != 1 || l.Notes[0] != want {
		t.Errorf("notes %q", l.Notes)
	}
}

func FuzzMessagesAreUTF8(f *testing.F) {
	f.Add([]byte("{\"id\":7,\"result\":{\"a\":\"\xe9\",\"_meta\":{\"toolfit/replaced\":\"\xff\"}}}"))
	f.Add([]byte(`{"method":"x","params":{"a":"中文"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := hooks{}.parse(data)
		if err != nil {
			return
		}
		for _, part := range []json.RawMessage{m.ID, m.Params, m.Result, m.Error} {
			if part != nil && (!utf8.Valid(part) || rawjson.Check(part) != nil) {
				t.Fatalf("%q is read as %q", data, part)
			}
		}
	})
}
