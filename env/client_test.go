package env_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/env"
)

// foreign is an environment server that somebody else wrote: names with a slash, answers
// that are text only.
func foreign() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "env-mcp", Version: "0"}, nil)
	add := func(name, text string, isError bool) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: isError}, nil
			})
	}
	add("env/get_description", `{"id":"theirs","displayName":"Theirs","capabilities":{"logs":true,"mcpTools":["a"],"custom":{"n":12345678901234567890}},"metadata":{"x":1.0}}`, false)
	add("env/list_profiles", `{"profiles":[{"id":"p","displayName":"P","primaryAgents":[]}]}`, false)
	add("env/get_profile", `{"error":"Profile not found: q"}`, true)
	add("env/list_agents", `not JSON`, false)
	add("env/get_agent", `out of order`, true)
	add("env/query_logs", `{"logs":[{"timestamp":"2026-01-02T03:04:05.678Z","level":"info","message":"m","context":null}]}`, false)
	return s
}

func asksForeign(t *testing.T, c *env.Client) {
	t.Helper()
	d, err := c.Description(t.Context())
	if err != nil || d.ID != "theirs" || !d.Capabilities.Logs || !d.Capabilities.MCPTools || d.Capabilities.Events {
		t.Errorf("got %+v, %v", d, err)
	}
	if got := asJSON(t, d.Capabilities.More); got != `{"custom":{"n":12345678901234567890},"mcpTools":["a"]}` {
		t.Errorf("what is not known is kept: got %s", got)
	}
	if p, err := c.Profiles(t.Context()); err != nil || len(p) != 1 || p[0].ID != "p" {
		t.Errorf("got %v, %v", p, err)
	}
	var none *env.NotFoundError
	if _, err := c.Profile(t.Context(), "q"); !errors.As(err, &none) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Agents(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "read the answer") {
		t.Errorf("got %v", err)
	}
	var told *env.ToolError
	if _, err := c.Agent(t.Context(), "a", ""); !errors.As(err, &told) || told.Message != "out of order" {
		t.Errorf("got %v", err)
	}
	if logs, err := c.Logs(t.Context(), env.LogQuery{}); err != nil || len(logs) != 1 || logs[0].Timestamp.Nanosecond() != 678_000_000 {
		t.Errorf("got %v, %v", logs, err)
	}
	if _, err := c.GetSession(t.Context(), "ses_1"); !errors.Is(err, env.ErrNotOffered) {
		t.Errorf("got %v", err)
	}
}

func TestServersOfOthersOverPipes(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go foreign().Run(t.Context(), &mcp.IOTransport{Reader: fromClient, Writer: toClient})
	c, err := env.NewClient(t.Context(), fromServer, toServer)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	asksForeign(t, c)
}

func TestServersOfOthersOverHTTP(t *testing.T) {
	theirs := foreign()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return theirs }, nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := httptest.NewServer(mux)
	defer web.Close()
	for _, address := range []string{web.URL, web.URL + "/", web.URL + "/mcp"} {
		c, err := env.Dial(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		asksForeign(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOurServerServesTheOfficialClient(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != len(everything)+5 {
		t.Fatalf("got %v, %v", list, err)
	}
	for _, name := range []string{"env/create_session", "env_list_sessions", "env/list_profiles", "say"} {
		if res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}}); err != nil || res.IsError {
			t.Errorf("%s: got %v, %v", name, res, err)
		}
	}
	if p, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "system"}); err != nil || len(p.Messages) != 1 {
		t.Errorf("got %v, %v", p, err)
	}
}

// modernOnly hides from a server what came before the modern era.
type modernOnly struct{ http.Handler }

func (m modernOnly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if bytes.Contains(body, []byte(`"initialize"`)) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version"}}`)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.Handler.ServeHTTP(w, r)
}

func TestBothErasAreSpoken(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, handler := range map[string]http.Handler{"legacy": server, "modern": modernOnly{server}} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(handler)
			defer web.Close()
			c, err := env.Dial(t.Context(), web.URL, &env.DialOptions{HTTP: web.Client()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if d, err := c.Description(t.Context()); err != nil || d.DisplayName != "商店" {
				t.Errorf("got %v, %v", d, err)
			}
			var none *env.NotFoundError
			if _, err := c.Profile(t.Context(), "无"); !errors.As(err, &none) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestModernAnswersSayWhatTheyAre(t *testing.T) {
	s := legacy(t, &shop{}, nil)
	s.header.Del("Mcp-Session-Id")
	s.header.Set("Mcp-Protocol-Version", "2026-07-28")
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for method, params := range map[string]string{
		"tools/list": `{` + meta + `}`, "prompts/list": `{` + meta + `}`, "server/discover": `{` + meta + `}`,
		"tools/call":  `{"name":"raw",` + meta + `}`,
		"prompts/get": `{"name":"system",` + meta + `}`,
	} {
		s.header.Set("Mcp-Method", method)
		s.header.Del("Mcp-Name")
		if _, name, named := strings.Cut(params, `"name":"`); named {
			s.header.Set("Mcp-Name", name[:strings.IndexByte(name, '"')])
		}
		m := s.post(method, params)
		var got struct {
			ResultType string
			TTL        *int           `json:"ttlMs"`
			Meta       map[string]any `json:"_meta"`
		}
		if m.Error != nil || json.Unmarshal(m.Result, &got) != nil {
			t.Errorf("%s: got %+v", method, m.Error)
			continue
		}
		isList := strings.HasSuffix(method, "/list") || method == "server/discover"
		if got.ResultType != "complete" || got.Meta["io.modelcontextprotocol/serverInfo"] == nil || (got.TTL != nil) != isList {
			t.Errorf("%s: got %s", method, m.Result)
		}
	}
}

func TestAForgottenSessionIsOpenedAgain(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	c, err := env.Dial(t.Context(), web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server.Close() // as if it had been started anew
	if _, err := c.Description(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAddressesThatAreNoneAreRefused(t *testing.T) {
	for _, address := range []string{"", "localhost:3000", "ftp://x", "http://", "http://[::1"} {
		if _, err := env.Dial(t.Context(), address, nil); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}

func TestAServerThatEndsIsToldAtOnce(t *testing.T) {
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	go func() {
		io.ReadAtLeast(fromClient, make([]byte, 10), 10)
		fmt.Fprintln(toClient, "starting…") // no message
		toClient.Close()
		io.Copy(io.Discard, fromClient)
	}()
	if _, err := env.NewClient(t.Context(), fromServer, toServer); err == nil || !strings.Contains(err.Error(), "the server has ended") {
		t.Errorf("got %v", err)
	}
}
