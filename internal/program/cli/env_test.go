package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

// oldEnvironment is a server as others wrote it: it knows the names with a slash alone, and
// its answers are text alone.
func oldEnvironment(t *testing.T, answers map[string]string) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var result any
		switch m.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]string{"name": "old", "version": "1"}}
		case "tools/list":
			tools := []map[string]any{}
			for name := range answers {
				tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]string{"type": "object"}})
			}
			result = map[string]any{"tools": tools}
		case "tools/call":
			result = map[string]any{"content": []map[string]string{{"type": "text", "text": answers[m.Params.Name]}},
				"isError": strings.HasPrefix(answers[m.Params.Name], `{"error"`)}
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}))
	t.Cleanup(web.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return web.URL
}

func TestEnvAsksServersThatKnowTheOldNamesAndTextAlone(t *testing.T) {
	w := newWorld(t)
	at := oldEnvironment(t, map[string]string{
		"env/get_description": `{"id":"old","displayName":"老环境\u001b[31m","capabilities":{"logs":true,"extra":"yes"}}`,
		"env/list_profiles":   `{"profiles":[{"id":"p","displayName":"P","primaryAgents":[{"id":"a","role":"primary"}]}]}`,
		"env/list_agents":     `{"agents":[{"id":"a","role":"primary","promptId":"system","deniedTools":["rm"]}]}`,
		"env/get_agent":       `{"error":"Agent not found: zz"}`,
		"env/query_logs":      `{"logs":[{"timestamp":"2026-01-02T03:04:05Z","level":"warn","message":"a\nb","sessionId":"ses_1"}]}`,
	})
	for _, tt := range []struct {
		args string
		code int
		want string // in either output
	}{
		{"describe", 0, "老环境\\u001b[31m (old)\nhas    extra, logs\n"},
		{"profiles", 0, "p        P     a"},
		{"agents", 0, "a      primary  system  all, not rm"},
		{"agents zz", 1, "Agent not found: zz"},
		{"logs", 0, "warn   a b  session=ses_1\n"},
		{"logs --json", 0, `"message": "a\nb"`},
		{"sessions", 1, "does not offer this"},
	} {
		code, out, errs := w.run(t, append(append([]string{"env"}, strings.Fields(tt.args)...), "--url", at)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("env %s: exit code %d\n%s%s\nwant %s", tt.args, code, out, errs, tt.want)
		}
	}
}

func TestEnvSaysWhatAServerGotWrong(t *testing.T) {
	w := newWorld(t)
	for answer, want := range map[string]string{
		`not JSON`:                     "read the answer",
		`{"id":7}`:                     "read the answer",
		`{"error":"out of order"}`:     "out of order",
		``:                             "read the answer",
		`{"id":"x","capabilities":[]}`: "read the answer",
	} {
		at := oldEnvironment(t, map[string]string{"env/get_description": answer})
		if code, out, errs := w.run(t, "env", "describe", "--url", at); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d\n%s%s\nwant %s", answer, code, out, errs, want)
		}
	}
}

func TestEnvSaysWhatToDoWhenThereIsNoEnvironment(t *testing.T) {
	w := newWorld(t)
	statuses := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			code = http.StatusNotFound
		}
		rw.WriteHeader(code)
	}))
	defer statuses.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, tt := range []struct{ args, says, hint string }{
		{"--url " + statuses.URL + "/401", "answered 401 Unauthorized", "--key"},
		{"--url " + statuses.URL + "/403", "answered 403 Forbidden", "--key"},
		{"--url " + statuses.URL + "/404", "answered 404 Not Found", "correct --url"},
		{"--url http://127.0.0.1:1", "connection refused", "correct --url"},
		{"-- no-such-program", "not found", "install it"},
		{"-- /no/such/program", "no such file", "install it"},
		{"-- false", "the server has ended: exit status 1", "must be an MCP server"},
	} {
		code, _, errs := w.run(t, append([]string{"env", "describe"}, strings.Fields(tt.args)...)...)
		said, hint, _ := strings.Cut(errs, "→")
		if code != 1 || !strings.Contains(said, tt.says) || !strings.Contains(hint, tt.hint) {
			t.Errorf("%s: exit code %d\n%s", tt.args, code, errs)
		}
	}
}

func TestEnvStartsNothingForAMistakeInItsFlags(t *testing.T) {
	w := newWorld(t)
	for _, args := range []string{"logs --limit 0", "logs --level loud", "sessions --meta x", "sessions --since soon", "agents --role boss"} {
		words := append(append([]string{"env"}, strings.Fields(args)...), "--", "no-such-program")
		if code, _, errs := w.run(t, words...); code != 2 {
			t.Errorf("%s: exit code %d\n%s", args, code, errs)
		}
	}
}

func TestWhatAServerSaysMovesNoTerminal(t *testing.T) {
	w := newWorld(t)
	at := oldEnvironment(t, map[string]string{
		"env/get_description": `{"error":"\u001b[2Jgone"}`,
		"env/list_agents":     `{"agents":[{"id":"a\u001b","role":"\u001b[2J"}]}`,
		"env/query_logs":      `{"logs":[{"timestamp":"2026-01-02T03:04:05Z","level":"\u009b2J","message":"m"}]}`,
	})
	for _, args := range []string{"describe", "agents", "logs"} {
		if _, out, errs := w.run(t, "env", args, "--url", at); strings.ContainsAny(out+errs, "\x1b\u009b") || out+errs == "" {
			t.Errorf("%s: %q", args, out+errs)
		}
	}
}

func TestEnvSaysThatAServerIsNoEnvironment(t *testing.T) {
	w := newWorld(t)
	at := oldEnvironment(t, map[string]string{"other": "{}"})
	if code, _, errs := w.run(t, "env", "describe", "--url", at); code != 1 || !strings.Contains(errs, "is not an environment") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func TestEnvFindsAGatewayByAnyOfItsAddresses(t *testing.T) {
	for from, want := range map[string]string{
		"http://h":                     "http://h/mcp/default/env",
		"http://h/":                    "http://h/mcp/default/env",
		"http://h/mcp":                 "http://h/mcp/default/env",
		"http://h/mcp/":                "http://h/mcp/default/env",
		"http://h/mcp/ops":             "http://h/mcp/ops/env",
		"http://h/mcp/ops/env":         "http://h/mcp/ops/env",
		"http://h/tools":               "http://h/tools/mcp/default/env",
		"http://h/tools/mcp/%E4%BA%91": "http://h/tools/mcp/%E4%BA%91/env",
	} {
		u, err := url.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		if got := gatewayPath(*u, ""); got != want {
			t.Errorf("%s: got %s, want %s", from, got, want)
		}
		if got := gatewayPath(*u, "p"); !strings.HasSuffix(got, "/mcp/p/env") {
			t.Errorf("%s: got %s: the profile that is asked for wins", from, got)
		}
	}
}

func TestEnvFindsAnEnvironmentBesideWhatTheKeyMayNotUse(t *testing.T) {
	w := newWorld(t)
	server, err := env.NewServer(nil, &env.Options{Meta: env.Meta{ID: "inner"}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	mux := http.NewServeMux()
	mux.Handle("/mcp/default/env", server)
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) })
	web := httptest.NewServer(mux)
	defer web.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, path := range []string{"", "/mcp", "/mcp/default"} {
		if code, out, errs := w.run(t, "env", "describe", "--url", web.URL+path); code != 0 || !strings.Contains(out, "(inner)") {
			t.Errorf("%s: exit code %d\n%s%s", path, code, out, errs)
		}
	}
	if code, _, errs := w.run(t, "env", "describe", "--url", web.URL+"/mcp/ops"); code != 1 || !strings.Contains(errs, "--profile") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

func TestEnvSendsItsKey(t *testing.T) {
	w := newWorld(t)
	var seen []string
	web := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		http.Error(rw, "no", http.StatusUnauthorized)
	}))
	defer web.Close()
	defer http.DefaultClient.CloseIdleConnections()
	w.vars["TOOLFIT_KEY"] = "tf_a_b"
	for _, args := range [][]string{{}, {"--key", "tf_c_d"}} {
		if code, _, errs := w.run(t, append([]string{"env", "describe", "--url", web.URL}, args...)...); code != 1 ||
			!strings.Contains(errs, "401") {
			t.Errorf("exit code %d: %s", code, errs)
		}
	}
	if got := fmt.Sprint(slices.Compact(seen)); got != "[Bearer tf_a_b Bearer tf_c_d]" {
		t.Errorf("sent %s", got)
	}
}
