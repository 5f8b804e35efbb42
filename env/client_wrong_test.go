package env_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

// wrongServer greets as it should, lists every tool under its name with a slash, and answers
// calls with what is given.
func wrongServer(t *testing.T, call http.HandlerFunc) *env.Client {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case "tools/list":
			tools := []map[string]string{}
			for _, name := range everything {
				tools = append(tools, map[string]string{"name": "env/" + name})
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, m.ID, asJSON(t, tools))
		case "tools/call":
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			r.Header.Set("Id", string(m.ID))
			call(w, r)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(web.Close)
	c, err := env.Dial(t.Context(), web.URL, &env.DialOptions{HTTP: web.Client()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestAnswersThatAreNoneAreToldInWords(t *testing.T) {
	text := func(s string) string { return `"result":{"content":[{"type":"text","text":` + asJSON(t, s) + `}]}` }
	for _, tt := range []struct{ name, answer, want string }{
		{"prose", text("I am sorry"), `env/get_description: read the answer: expected JSON, got "I am sorry"`},
		{"no text", `"result":{"content":[]}`, "env/get_description: read the answer: it is empty"},
		{"no content", `"result":{}`, "env/get_description: read the answer: it is empty"},
		{"no members", text("{}"), `env/get_description: read the answer: it has no id: "{}"`},
		{"null", text("null"), `env/get_description: read the answer: it has no id: "null"`},
		{"a list", text("[]"), `env/get_description: read the answer: it has no id: "[]"`},
		{"a number for a text", text(`{"id":7}`), "env/get_description: read the answer: id cannot be JSON of the kind number"},
		{"a text for a list", text(`{"id":"x","profiles":"none"}`),
			"env/get_description: read the answer: profiles cannot be JSON of the kind string"},
		{"a refusal without words", `"result":{"content":[],"isError":true}`, "env/get_description: it was refused without a reason"},
		{"a refusal with an object", `"result":{"content":[{"type":"text","text":"{\"error\":{\"message\":\"disk full\"}}"}],"isError":true}`, "env/get_description: disk full"},
		{"a refusal of the protocol", `"error":{"code":-32602,"message":"MCP error -32602: out of order"}`,
			"env/get_description: out of order"},
		{"not found in the protocol", `"error":{"code":-32602,"message":"MCP error -32602: Agent not found: 甲"}`, "Agent not found: 甲"},
	} {
		c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, r.Header.Get("Id"), tt.answer)
		})
		if _, err := c.Description(t.Context()); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.name, err, tt.want)
		}
	}
}

func TestListsThatAreMissingAreTold(t *testing.T) {
	c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"logs":null}}}`, r.Header.Get("Id"))
	})
	if _, err := c.Agents(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "it has no agents") {
		t.Errorf("got %v", err)
	}
	if logs, err := c.Logs(t.Context(), env.LogQuery{}); err != nil || len(logs) != 0 { // as some write an empty list
		t.Errorf("got %v, %v", logs, err)
	}
}

func TestAnAnswerToAnotherRequestIsNotTaken(t *testing.T) {
	const other = `{"jsonrpc":"2.0","id":4711,"result":{"content":[{"type":"text","text":"{\"id\":\"other\"}"}]}}`
	for kind, want := range map[string]string{
		"application/json":  "the server answered another request",
		"text/event-stream": "the server ended the stream without an answer",
	} {
		c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			if kind == "text/event-stream" {
				fmt.Fprintf(w, "data: %s\n\n", other)
				return
			}
			fmt.Fprint(w, other)
		})
		if d, err := c.Description(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", kind, d, err, want)
		}
	}
}

func TestAnAnswerInAStreamThatCannotBeReadFailsItsCall(t *testing.T) {
	c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"mean\":NaN}}\n\n", r.Header.Get("Id"))
		http.NewResponseController(w).Flush()
		<-r.Context().Done() // as one that keeps its streams open
	})
	if err := c.Call(t.Context(), "mean", nil, nil); err == nil || !strings.Contains(err.Error(), "mean: the answer cannot be read") {
		t.Errorf("got %v", err)
	}
}

func TestTimesAreSentInUTC(t *testing.T) {
	var sent []string
	c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			Params struct{ Arguments struct{ Since, Until string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		sent = append(sent, m.Params.Arguments.Since, m.Params.Arguments.Until)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"logs":[],"sessions":[]}}}`,
			r.Header.Get("Id"))
	})
	east := time.Date(2026, 1, 2, 8, 0, 0, 0, time.FixedZone("", 8*60*60))
	if _, err := c.Logs(t.Context(), env.LogQuery{Since: east}); err != nil {
		t.Error(err)
	}
	if _, err := c.ListSessions(t.Context(), env.SessionFilter{Until: east}); err != nil {
		t.Error(err)
	}
	if got := strings.Join(sent, ","); got != "2026-01-02T00:00:00Z,,,2026-01-02T00:00:00Z" {
		t.Errorf("sent %s", got)
	}
}

func TestOneWhoWaitsDoesNotHoldOthers(t *testing.T) {
	asked, let := make(chan struct{}), make(chan struct{})
	c := wrongServer(t, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-let
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"id":"x"}}}`, r.Header.Get("Id"))
	})
	done := make(chan error)
	go func() {
		_, err := c.Description(context.Background())
		done <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Profiles(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(let)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAnAddressWithoutAPathIsLookedForAtMCP(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, root := range map[string]http.HandlerFunc{
		"a page":     func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") },
		"other JSON": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") },
		"nothing":    http.NotFound,
	} {
		mux := http.NewServeMux()
		mux.Handle("/mcp", server)
		mux.Handle("/", root)
		web := httptest.NewServer(mux)
		c, err := env.Dial(t.Context(), web.URL, &env.DialOptions{HTTP: web.Client()})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if err := c.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	}
}

func TestAStatusOfHTTPCanBeTold(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.NotFound(w, r)
	}))
	defer web.Close()
	var status *env.StatusError
	if _, err := env.Dial(t.Context(), web.URL, &env.DialOptions{HTTP: web.Client()}); !errors.As(err, &status) ||
		status.Code != http.StatusUnauthorized {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatIsGoneNeedNotBeLeft(t *testing.T) {
	server, err := env.NewServer(&shop{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	c, err := env.Dial(t.Context(), web.URL, &env.DialOptions{HTTP: web.Client()})
	server.Close()
	web.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerOnAPipeThatCannotBeReadFailsItsCall(t *testing.T) {
	in, answers := io.Pipe()
	questions, out := io.Pipe()
	go func() {
		defer answers.Close()
		for lines := bufio.NewScanner(questions); lines.Scan(); {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			json.Unmarshal(lines.Bytes(), &m)
			switch m.Method {
			case "initialize":
				fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`+"\n", m.ID)
			case "tools/call":
				fmt.Fprintf(answers, `{"level":30,"id":%s}`+"\n"+`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"mean":NaN}}}`+"\n", m.ID, m.ID)
			}
		}
	}()
	c, err := env.NewClient(t.Context(), in, out)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Call(t.Context(), "mean", nil, nil); err == nil || !strings.Contains(err.Error(), "mean: the answer cannot be read") {
		t.Errorf("got %v", err)
	}
}

func TestHeadersDoNotFollowARedirectToAnotherHost(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	_, err := env.Dial(t.Context(), web.URL, &env.DialOptions{Header: http.Header{"X-Api-Key": {"s3cret"}}})
	if err == nil || !strings.Contains(err.Error(), other.URL) || reached.Load() != 0 {
		t.Errorf("got %v, and %d requests came", err, reached.Load())
	}
	http.DefaultClient.CloseIdleConnections()
}
