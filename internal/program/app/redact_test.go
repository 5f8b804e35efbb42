//go:build unix

package app

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/entrance/console"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

const modeVariable = "APP_TEST_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(modeVariable) {
	case "":
	case "echo":
		echo()
		return
	default:
		leak()
		return
	}
	goleak.VerifyTestMain(m)
}

// leak is an MCP server that says its secret where it can.
func leak() {
	secret := os.Getenv("LEAK")
	fmt.Fprintln(os.Stderr, "starting with token "+secret)
	fmt.Println("garbage on stdout: " + secret)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		m, err := mcp.Parse(in.Bytes())
		if err != nil {
			return
		}
		switch m.Method {
		case "initialize":
			os.Stdout.Write(append(mcp.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-06-18","capabilities":{}}`)), '\n'))
		case "tools/list":
			os.Stdout.Write(append(mcp.AppendResult(nil, m.ID,
				[]byte(`{"tools":[{"name":"go","inputSchema":{"type":"object"}},{"nameless":"`+secret+`"}]}`)), '\n'))
		case "tools/call":
			fmt.Fprintln(os.Stderr, "cannot log in with "+secret)
			os.Exit(1)
		}
	}
}

// echoingWeb is an MCP server over HTTP that answers calls with what it was sent, as an error.
func echoingWeb(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := mcp.Parse(body)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			w.Write(mcp.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-06-18","capabilities":{}}`)))
		case "tools/list":
			w.Write(mcp.AppendResult(nil, m.ID, []byte(`{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}`)))
		case "tools/call":
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "no entry for %s with %s and %s", r.URL, r.URL.Query().Get("key"), r.Header.Get("Authorization"))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestSecretsAppearNowhere lets servers say the secrets that they were given, in every way
// they have, and then reads everything that the gateway shows or keeps.
func TestSecretsAppearNowhere(t *testing.T) {
	web := echoingWeb(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	secrets := map[string]string{"PROCESS": "hush-process-4711", "KEY": "hush-key+4712/=", "TOKEN": "hush-token-4713"}
	text := fmt.Sprintf(`
store: t.db
mcpServers:
  leaky: {command: %q, env: {%s: leak, LEAK: "${PROCESS}"}}
  web: {url: "%s/mcp?key=${KEY}", headers: {Authorization: "Bearer ${TOKEN}"}}
  gone: {url: "%s/mcp?key=${KEY}"}
`, os.Args[0], modeVariable, web.URL, gone.URL)
	dir := t.TempDir()
	cfg, err := config.Parse(filepath.Join(dir, "toolfit.yaml"), []byte(text), func(name string) (string, bool) {
		v, ok := secrets[name]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	a, err := New(t.Context(), cfg, &Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(a.Handler())
	client := &http.Client{Transport: &http.Transport{}}
	ask := func(method, path, body string, header ...string) string {
		t.Helper()
		req, err := http.NewRequest(method, front.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		return resp.Header.Get("Mcp-Session-Id") + "\n" + string(answer)
	}
	var seen strings.Builder
	note := func(what, text string) { fmt.Fprintf(&seen, "--- %s\n%s\n", what, text) }

	tools := ask("GET", "/api/v1/tools", "")
	if !strings.Contains(tools, "leaky__go") || !strings.Contains(tools, "web__go") {
		t.Fatalf("tools: %s", tools)
	}
	note("tools", tools)
	session, _, _ := strings.Cut(ask("POST", "/mcp", `{"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`), "\n")
	for _, name := range []string{"leaky__go", "web__go"} {
		rest := ask("POST", "/api/v1/tools/"+name+"/call", "{}")
		agent := ask("POST", "/mcp", `{"id":2,"method":"tools/call","params":{"name":"`+name+`"}}`, "Mcp-Session-Id", session)
		if !strings.Contains(rest, "***") || !strings.Contains(agent, "***") {
			t.Errorf("%s: the servers' words are missing:\n%s\n%s", name, rest, agent)
		}
		note("call", rest+agent)
	}
	note("refresh", ask("POST", "/api/v1/servers/gone/refresh", "")+ask("POST", "/api/v1/servers/leaky/refresh", ""))
	for _, path := range []string{"/api/v1/servers", "/api/v1/servers/leaky", "/api/v1/servers/web", "/api/v1/servers/gone", "/", "/metrics"} {
		note(path, ask("GET", path, ""))
	}
	client.CloseIdleConnections()
	front.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	note("log", log.String())
	files, err := filepath.Glob(filepath.Join(dir, "t.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no store", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		note(f, string(data))
	}
	for _, form := range []string{"hush-process", "hush-key", "hush-token", "key%2B4712"} {
		if i := strings.Index(seen.String(), form); i >= 0 {
			from := strings.LastIndex(seen.String()[:i], "--- ")
			t.Errorf("%s is shown in %.60q: …%.300q", form, seen.String()[from:], seen.String()[max(i-100, 0):])
		}
	}
}

func redactor(known ...string) func(string) string {
	var s secrets
	s.add(known)
	return s.redact
}

func TestRedactor(t *testing.T) {
	redact := redactor("abcd", "abcd-efgh", "p@ss word/1", `"<q>\`)
	for in, want := range map[string]string{
		"x abcd-efgh abcd y":         "x *** *** y",
		"p@ss word/1":                "***",
		"?k=p%40ss+word%2F1":         "?k=***",
		"/p@ss%20word%2F1/":          "/***/",
		`{"k":"\"<q>\\"}`:            `{"k":"***"}`,
		"nothing":                    "nothing",
		"Basic bWU6cEBzcyB3b3JkLzE=": "Basic bWU6***E=", // base64 of me: and the third
	} {
		if got := redact(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestShortValuesStrikeOutNothing holds that a browser test with ${env:COUNT} in it spoils no
// record of others.
func TestShortValuesStrikeOutNothing(t *testing.T) {
	var s secrets
	s.add([]string{"1", "abc", "abcd"})
	if got := s.redact(`{"n":1,"a":"abc abcd"}`); got != `{"n":1,"a":"abc ***"}` {
		t.Error(got)
	}
}

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("abcd in a valuer") }

func TestLogIsRedactedWhateverWritesToIt(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(redactingHandler{slog.NewJSONHandler(&out, nil), redactor("abcd")})
	log = log.With("with", "abcd", "group with", slog.GroupValue(slog.String("x", "abcd")))
	log.WithGroup("g").Info("say abcd", "text", "abcd", "error", errors.New("abcd"), "valuer", valuer{}, "any", struct{ X string }{"abcd"},
		slog.Group("in", slog.String("deep", "abcd"), slog.Group("er", slog.Any("x", []string{"abcd"}))), "number", 5, "time", time.Unix(0, 0))
	if strings.Contains(out.String(), "abcd") || strings.Count(out.String(), "***") != 9 {
		t.Error(out.String())
	}
}

// TestLiteralValuesOfEnvironmentsAndQueriesAppearNowhere is TestSecretsAppearNowhere for what
// stands in the file itself.
func TestLiteralValuesOfEnvironmentsAndQueriesAppearNowhere(t *testing.T) {
	web := echoingWeb(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	a, log := start(t, fmt.Sprintf(`
store: t.db
approve: changed
mcpServers:
  leaky: {command: %q, env: {%s: leak, LEAK: hush-literal-4711}}
  web: {url: "%s/mcp?key=hush%%2Bquery", headers: {Authorization: hush-header}}
  gone: {url: "%s/mcp?key=qk"}
apis:
  api: {spec: "%s/openapi.json?key=hush-spec-1"}
`, os.Args[0], modeVariable, web.URL, gone.URL, gone.URL))
	ask := asAdmin(t, a)
	var seen strings.Builder
	note := func(what, text string) { fmt.Fprintf(&seen, "--- %s\n%s\n", what, text) }
	note("tools", ask("GET", "/tools", ""))
	for _, name := range []string{"leaky__go", "web__go"} {
		answer := ask("POST", "/tools/"+name+"/call", "{}")
		if !strings.Contains(answer, "***") {
			t.Errorf("%s: the server's words are missing: %s", name, answer)
		}
		note("call", answer)
	}
	for _, id := range []string{"leaky", "web", "gone", "api"} {
		note("refresh", ask("POST", "/servers/"+id+"/refresh", ""))
		note("server", ask("GET", "/servers/"+id, ""))
	}
	note("servers", ask("GET", "/servers", ""))
	note("calls", ask("GET", "/calls", ""))
	admit := func(*http.Request) (access.Principal, error) { return access.Owner(), nil }
	api := a.API(admit)
	pages := console.New(console.Parts{
		Activity: api, Servers: api, Clients: api, FirstRun: api, Tools: api, Approvals: api, Calls: api, Connections: api, Decisions: api, Rules: api, Runs: api, Values: api, Recall: a.recalls.Load, API: api, Chat: a.runner, Environment: a.Env, Admit: admit, Check: func(*http.Request) error { return nil }, Keyed: a.Keys.Any, Limit: a.limited, Address: a.askedFor,
		Seal: a.sealKey, Profiles: a.profiles, Models: a.modelsFor, Logger: a.log,
	})
	for _, path := range []string{"/", "/servers", "/servers/leaky", "/servers/gone", "/servers/api", "/calls"} {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest("GET", path, nil).WithContext(t.Context()))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		note("page "+path, w.Body.String())
	}
	note("log", log.String())
	for _, form := range []string{"hush-", "hush+", "hush%2B", "key=qk"} {
		if i := strings.Index(seen.String(), form); i >= 0 {
			from := strings.LastIndex(seen.String()[:i], "--- ")
			t.Errorf("%s is shown in %.60q: …%.300q", form, seen.String()[from:], seen.String()[max(i-100, 0):])
		}
	}
}
