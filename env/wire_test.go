package env_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/env"
)

var update = flag.Bool("update", false, "write the generated files anew")

const published = "../docs/reference/env.schema.json"

func TestPublishedSchemaIsTheOneInForce(t *testing.T) {
	if *update {
		if err := os.WriteFile(published, env.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(published)
	if err != nil || !bytes.Equal(got, env.Schema()) {
		t.Errorf("%s is out of date (%v): run go test ./env -run Published -update", published, err)
	}
}

// session is a conversation over HTTP in the bytes of the protocol.
type session struct {
	t      *testing.T
	url    string
	header http.Header
	last   int
}

const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

// legacy serves the environment over HTTP and opens a session.
func legacy(t *testing.T, e env.Environment, opts *env.Options) *session {
	t.Helper()
	server, err := env.NewServer(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	t.Cleanup(server.Close)
	s := &session{t: t, url: web.URL, header: http.Header{"Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}}
	s.post("initialize", hello)
	return s
}

type message struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (s *session) post(method, params string) message {
	s.t.Helper()
	s.last++
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.last, method, params)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = s.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		s.header.Set("Mcp-Session-Id", id)
	}
	var m message
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil {
		s.t.Fatalf("%s: %v", body, err)
	}
	return m
}

// answer is the result of tools/call.
type answer struct {
	Content           []struct{ Type, Text string }
	StructuredContent json.RawMessage
	IsError           bool
}

func (s *session) call(tool, args string) answer {
	s.t.Helper()
	m := s.post("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	if m.Error != nil {
		s.t.Fatalf("%s %s: %s", tool, args, m.Error.Message)
	}
	var a answer
	if err := json.Unmarshal(m.Result, &a); err != nil {
		s.t.Fatal(err)
	}
	return a
}

// defs compiles the published schemas.
func defs(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(env.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("env.json", doc); err != nil {
		t.Fatal(err)
	}
	return func(name string) *jsonschema.Schema {
		schema, err := c.Compile("env.json#/$defs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, raw []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%s\n%v", raw, err)
	}
}

var everything = []string{
	"get_description", "list_profiles", "get_profile", "list_agents", "get_agent", "query_logs",
	"create_session", "get_session", "list_sessions", "update_session", "delete_session",
}

func TestAnswersFitThePublishedSchema(t *testing.T) {
	shop := &shop{logs: []env.LogEntry{{Timestamp: at(1), Level: env.LevelWarn, Message: "低库存", SessionID: "ses_1", AgentID: "clerk",
		ToolName: "price", Context: env.Metadata{"n": 1}}}}
	s := legacy(t, shop, nil)
	schema := defs(t)
	calls := []struct{ tool, args string }{
		{"get_description", `{}`}, {"list_profiles", `{}`}, {"get_profile", `{"id":"night"}`},
		{"list_agents", `{}`}, {"list_agents", `{"role":"sub","profileId":"day"}`}, {"get_agent", `{"id":"runner"}`},
		{"query_logs", `{}`}, {"query_logs", `{"level":"error","limit":1000,"since":"2026-01-01T00:00:00Z","until":"2026-01-01T00:00:00+08:00"}`},
		{"query_logs", `{"limit":1}`},
		{"create_session", `{"id":"ses_a","parentID":"ses_0","title":"题","directory":"/tmp","metadata":{"k":{"x":[1]}}}`}, {"create_session", `{}`},
		{"get_session", `{"id":"ses_a"}`}, {"list_sessions", `{"limit":1,"metadata":{"k":{"x":[1]}}}`}, {"list_sessions", `{"limit":1}`},
		{"update_session", `{"id":"ses_a","title":"other","metadata":{"k":null}}`}, {"delete_session", `{"id":"ses_a"}`}, {"delete_session",
			`{"id":"ses_a"}`},
	}
	for i, c := range calls {
		a := s.call([]string{"env/", "env_"}[i%2]+c.tool, c.args)
		switch {
		case c.tool == "query_logs" && strings.Contains(c.args, "since"): // since is after until
		case a.IsError || len(a.Content) != 1 || a.Content[0].Type != "text" || a.Content[0].Text != string(a.StructuredContent):
			t.Errorf("%s %s: want one text that is the structured content: got %+v", c.tool, c.args, a)
			continue
		default:
			validate(t, schema(c.tool+".output"), a.StructuredContent)
		}
		validate(t, schema(c.tool+".input"), []byte(c.args))
	}
}

func TestListedNames(t *testing.T) {
	for names, prefixes := range map[env.Names][]string{"": {"env/"}, env.NamesBoth: {"env/", "env_"}, env.NamesSlash: {"env/"},
		env.NamesUnderscore: {"env_"}} {
		s := legacy(t, &shop{}, &env.Options{Names: names})
		var want []string
		for _, name := range everything {
			for _, prefix := range prefixes {
				want = append(want, prefix+name)
			}
		}
		want = append(want, "price", "say", "raw", "fail", "panic")
		if got := s.listed(`{}`); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", names, got, want)
		}
		for _, name := range []string{"env/get_description", "env_get_description"} {
			if a := s.call(name, `{}`); a.IsError {
				t.Errorf("%s: %s cannot be called: %v", names, name, a)
			}
		}
	}
}

func (s *session) listed(params string) (names []string) {
	s.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	m := s.post("tools/list", params)
	if m.Error != nil {
		s.t.Fatal(m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, &list); err != nil {
		s.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestOnlyWhatAnEnvironmentCanServeIsOffered(t *testing.T) {
	got := legacy(t, plain{}, &env.Options{Names: env.NamesSlash}).listed(`{}`)
	want := []string{"env/get_description", "env/list_profiles", "env/get_profile", "env/list_agents", "env/get_agent"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestOwnToolsAreThoseOfTheAgent(t *testing.T) {
	own := func(s *session, params string) []string {
		return slices.DeleteFunc(s.listed(params), func(n string) bool { return strings.HasPrefix(n, "env") })
	}
	runner := []string{"price", "say"}
	fixed := legacy(t, &shop{}, &env.Options{Agent: "runner"})
	if got := own(fixed, `{}`); !slices.Equal(got, runner) {
		t.Errorf("agent of the options: got %v", got)
	}
	if got := own(fixed, `{"_meta":{"toolfit/agent":"clerk"}}`); !slices.Equal(got, runner) {
		t.Errorf("a request cannot have more than the options allow: got %v", got)
	}
	if m := fixed.post("tools/call", `{"name":"fail"}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("what is not shown cannot be called: got %+v", m)
	}
	open := legacy(t, &shop{}, nil)
	for params, want := range map[string][]string{
		`{}`:                                   {"price", "say", "raw", "fail", "panic"},
		`{"_meta":{"toolfit/agent":"clerk"}}`:  {"price", "say", "raw", "fail", "panic"},
		`{"_meta":{"toolfit/agent":"guard"}}`:  nil,
		`{"_meta":{"toolfit/agent":"runner"}}`: runner,
	} {
		if got := own(open, params); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", params, got, want)
		}
	}
	if m := open.post("tools/list", `{"_meta":{"toolfit/agent":"ghost"}}`); m.Error == nil || m.Error.Message != "Agent not found: ghost" {
		t.Errorf("got %+v", m)
	}
}

func TestOwnTools(t *testing.T) {
	s := legacy(t, &shop{}, nil)
	tests := []struct{ name, tool, args, want string }{
		{"an object goes as text and as structure", "price", `{"thing":"pen"}`,
			`{"content":[{"type":"text","text":"{\"asked\":{\"thing\":\"pen\"}}"}],"structuredContent":{"asked":{"thing":"pen"}}}`},
		{"what models get wrong is repaired", "price", `{"thing":"pen","n":"3"}`,
			`{"content":[{"type":"text","text":"{\"asked\":{\"thing\":\"pen\",\"n\":3}}"}],"structuredContent":{"asked":{"thing":"pen","n":3}}}`},
		{"a text goes as it is", "say", `{}`, `{"content":[{"type":"text","text":"hello <b>"}]}`},
		{"no arguments are none", "say", `null`, `{"content":[{"type":"text","text":"hello <b>"}]}`},
		{"a whole result goes byte for byte", "raw", `{}`, `{"content":[],"n":12345678901234567890}`},
		{"an error is told", "fail", `{}`, `{"content":[{"type":"text","text":"{\"error\":\"sold out\"}"}],"isError":true}`},
		{"a panic is not", "panic", `{}`, `{"content":[{"type":"text","text":"{\"error\":\"internal error\"}"}],"isError":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := s.post("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tt.tool, tt.args))
			if string(m.Result) != tt.want {
				t.Errorf("got  %s\nwant %s", m.Result, tt.want)
			}
		})
	}
	for _, args := range []string{`{}`, `{"thing":1e999}`, `{"thing":"a","n":10}`, `{"thing":"a","x":1}`, `[]`,
		`"` + strings.Repeat("x", 100) + `"`} {
		if a := s.call("price", args); !a.IsError {
			t.Errorf("%s was taken: %v", args, a)
		}
	}
}
