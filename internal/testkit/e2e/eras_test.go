package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// eras are the revisions by which a client of each era asks for it.
var eras = map[string]string{"legacy": "2025-11-25", "modern": "2026-07-28"}

// connectAs is connect for a client of one revision.
func connectAs(t *testing.T, transport mcp.Transport, revision string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, opts)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// answering is a client that answers whatever it is asked.
func answering() *mcp.ClientOptions {
	return sampling("Paris", &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"name": "ann", "color": "blue", "ok": true, "confirmed": true, "username": "ann",
					"email": "ann@example.com"}}, nil
		},
	})
}

// TestTypeScriptServerOfTheModernEra: a server that serves nothing else, as a process and
// over HTTP, for clients of both eras over both of our entrances.
func TestTypeScriptServerOfTheModernEra(t *testing.T) {
	node := testparts.Need(t)
	script := nodeScript(t, node, "server-v2.mjs")
	port := listening(t, exec.Command(node.Program(), script, "web"))
	path := write(t, lines("mcpServers:", "  pipe: "+entry([]string{node.Program(), script}), "  web: {url: http://127.0.0.1:"+port+"/mcp}"))
	g := serve(t, path)
	for era, revision := range eras {
		for name, transport := range map[string]func() mcp.Transport{"HTTP": func() mcp.Transport { return overHTTP(g) },
			"stdio": func() mcp.Transport { return overStdio(t, path) }} {
			t.Run(era+" client over "+name, func(t *testing.T) {
				s := connectAs(t, transport(), revision, answering())
				if got := s.InitializeResult().ProtocolVersion; got != revision {
					t.Errorf("revision %s", got)
				}
				if all := names(t, s); len(all) != 5 { // and fetch_result
					t.Fatalf("listed: %v", all)
				}
				for _, server := range []string{"pipe", "web"} {
					if text := callText(t, s, server+"__plain", map[string]any{"text": "世界"}); text != "世界" {
						t.Errorf("%s: %q", server, text)
					}
					if text := callText(t, s, server+"__greet", map[string]any{}); text != "Hello, ann!" {
						t.Errorf("%s: %q", server, text)
					}
				}
			})
		}
	}
}

// TestQuestionsBetweenTheEras: a question reaches the client in the way of its era, however
// the server asks it, and the answer finds its way back.
func TestQuestionsBetweenTheEras(t *testing.T) {
	t.Run("legacy client, modern server", func(t *testing.T) {
		g := serve(t, write(t, bare(everythingServer(t, false))))
		s := connectAs(t, overHTTP(g), eras["legacy"], answering())
		names(t, s)
		for tool, want := range map[string]string{
			"test_input_required_result_elicitation": "ann", "test_input_required_result_sampling": "Paris",
			"test_input_required_result_list_roots":    "",
			"test_input_required_result_request_state": "", "test_input_required_result_multiple_inputs": "",
			"test_input_required_result_multi_round":    "ann",
			"test_input_required_result_tampered_state": "",
		} {
			if text := callText(t, s, tool, map[string]any{}); !strings.Contains(text, want) {
				t.Errorf("%s: %q", tool, text)
			}
		}
	})
	t.Run("modern client, legacy server", func(t *testing.T) {
		server := newAskingServer(t)
		g := serve(t, write(t, bare(server.URL)))
		first, err := modernCall(g.url, "ask_twice", `{}`, "")
		if err != nil || !strings.Contains(first, `"params":`+strings.Replace(oddQuestion, "size?", "[server up] size?", 1)) {
			t.Fatalf("the question must come as it was asked, with the server's name before it: %s, %v", first, err)
		}
		second, err := modernCall(g.url, "ask_twice", `{}`, answers(first, `{"action":"accept","content":{"size":9007199254740993}}`))
		if err != nil || !strings.Contains(second, `"message":"[server up] and?"`) {
			t.Fatalf("%s, %v", second, err)
		}
		last, err := modernCall(g.url, "ask_twice", `{}`, answers(second, `{"action":"decline"}`))
		want := `"got":[{"action":"accept","content":{"size":9007199254740993}},{"action":"decline"}]`
		if err != nil || !strings.Contains(last, want) || !strings.Contains(last, `"resultType":"complete"`) {
			t.Errorf("%s, %v", last, err)
		}
	})
}

// oddQuestion has everything that a decoder likes to change: defaults, enums, big numbers.
const oddQuestion = `{"message":"size?","requestedSchema":{"type":"object","properties":{"z":{"type":"string","enum":["b","a"],` +
	`"default":"b"},` +
	`"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}],"type":"string"}},"size":{"type":"integer",` +
	`"default":9007199254740993,"maximum":1.0}}}}`

// askingServer is a legacy server over HTTP that asks its client twice before it answers.
type askingServer struct {
	*httptest.Server
	mu      sync.Mutex
	waiting map[string]chan string // by id
}

func newAskingServer(t *testing.T) *askingServer {
	s := &askingServer{waiting: map[string]chan string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *askingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct{ ID, Method, Result json.RawMessage }
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch string(m.Method) {
	case `"initialize"`:
		answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asks","version":"1"}}`)
	case `"tools/list"`:
		answer(`{"tools":[{"name":"ask_twice","inputSchema":{"type":"object"}}]}`)
	case `"tools/call"`:
		w.Header().Set("Content-Type", "text/event-stream")
		one := s.ask(w, "1", oddQuestion)
		two := s.ask(w, "2", `{"message":"and?","requestedSchema":{"type":"object","properties":{}}}`)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"got\":[%s,%s]}}\n\n", m.ID, one, two)
	case "":
		s.mu.Lock()
		if c := s.waiting[string(m.ID)]; c != nil {
			c <- string(m.Result)
		}
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (s *askingServer) ask(w http.ResponseWriter, id, params string) string {
	c := make(chan string, 1)
	s.mu.Lock()
	s.waiting[id] = c
	s.mu.Unlock()
	fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"elicitation/create\",\"params\":%s}\n\n", id, params)
	http.NewResponseController(w).Flush()
	return <-c
}

const modernMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw",` +
	`"version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// modernCall calls a tool in bytes written by hand. More is what else the params say.
func modernCall(url, tool, args, more string) (string, error) {
	params := fmt.Sprintf(`{"_meta":%s,"name":%q,"arguments":%s%s}`, modernMeta, tool, args, more)
	resp, err := modernPost(context.Background(), url, "tools/call", tool, params)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	return resultOf(data)
}

// answers are the params that bring an answer to the one question of an interim result.
func answers(interim, answer string) string {
	var m struct {
		InputRequests map[string]json.RawMessage
		RequestState  json.RawMessage
	}
	if json.Unmarshal([]byte(interim), &m) != nil {
		return ""
	}
	for key := range m.InputRequests {
		return fmt.Sprintf(`,"inputResponses":{%q:%s},"requestState":%s`, key, answer, m.RequestState)
	}
	return ""
}

func modernPost(ctx context.Context, url, method, name, params string) (*http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	return plainStreams.Do(req)
}

// TestModernClientHearsOfChanges: lists and resources of servers of both eras, on the one
// stream that a modern client opens.
func TestModernClientHearsOfChanges(t *testing.T) {
	for _, sessions := range []bool{true, false} {
		t.Run(fmt.Sprintf("server with sessions: %v", sessions), func(t *testing.T) {
			t.Parallel()
			g := serve(t, write(t, bare(everythingServer(t, sessions))))
			if _, err := modernCall(g.url, "test_simple_text", `{}`, ""); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			filter := `{"toolsListChanged":true,"resourceSubscriptions":["test://watched-resource","test://nobody/has/this"]}`
			resp, err := modernPost(ctx, g.url, "subscriptions/listen", "", `{"_meta":`+modernMeta+`,"notifications":`+filter+`}`)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			heard := func(what string) {
				t.Helper()
				for lines.Scan() {
					if strings.Contains(lines.Text(), what) && strings.Contains(lines.Text(), `"io.modelcontextprotocol/subscriptionId":7`) {
						return
					}
				}
				t.Fatalf("never heard of %s: %v", what, lines.Err())
			}
			heard("notifications/subscriptions/acknowledged")
			if _, err := modernCall(g.url, "test_trigger_tool_change", `{}`, ""); err != nil {
				t.Fatal(err)
			}
			heard("notifications/tools/list_changed")
			heard(`"uri":"test://watched-resource"`)
		})
	}
}
