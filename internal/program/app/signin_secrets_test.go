//go:build unix

package app

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// blabbing is an MCP server that says the token it was sent wherever it can.
func blabbing(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.Parse(body)
	token := r.Header.Get("Authorization")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case err != nil || m.Method == "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		w.Write(mcp.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-06-18","capabilities":{}}`)))
	case m.Method == "tools/list":
		w.Write(mcp.AppendResult(nil, m.ID,
			[]byte(`{"tools":[{"name":"go","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}`)))
	case strings.Contains(string(body), `"fail"`):
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "what is %s?", token)
	case m.Method == "tools/call":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"what is %s?","data":{"token":%q}}}`, m.ID, token, token)
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"unsupported %s"}}`, token)
	}
}

// signInFlow is a gateway, and all that it shows.
type signInFlow struct {
	*testing.T
	url, key string
	client   *http.Client
	shown    lockedBuffer
}

func (f *signInFlow) ask(method, path, body string, headers ...string) string {
	f.Helper()
	req, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	page, _, _ := strings.Cut(path, "?")
	said := strings.ReplaceAll(string(text), html.EscapeString(path), page) // pages link to themselves
	fmt.Fprintf(&f.shown, "--- %s %s: %s %v\n%s\n", method, page, resp.Status, resp.Header, said)
	return string(text)
}

// signIn signs in to a server, and returns what the gateway answers and the address that the browser was sent to.
func (f *signInFlow) signIn(server string) (answer, back string) {
	f.Helper()
	var begun struct{ URL string }
	said := f.ask("POST", "/api/v1/connections/"+server, "")
	if err := json.Unmarshal([]byte(said), &begun); err != nil || begun.URL == "" {
		return said, ""
	}
	resp, err := f.client.Get(begun.URL)
	if err != nil {
		f.Fatal(err)
	}
	resp.Body.Close()
	back = resp.Header.Get("Location")
	return f.ask("POST", "/api/v1/connections/"+server+"/finish", fmt.Sprintf(`{"url":%q}`, back)), back
}

func (f *signInFlow) call(server, want string) {
	f.Helper()
	for _, tool := range []string{"go", "fail"} {
		if said := f.ask("POST", "/api/v1/tools/"+server+"__"+tool+"/call", "{}"); !strings.Contains(said, want) {
			f.Errorf("%s of %s: %s", tool, server, said)
		}
		f.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"`+server+"__"+tool+`","arguments":{},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call",
			"Mcp-Name", server+"__"+tool,
			"Accept", "application/json, text/event-stream")
	}
}

// TestTokensForServersAppearNowhere signs in to servers in all ways, well and badly, lets them say the tokens that they
// are sent, and then reads everything that the gateway shows, logs, traces or keeps.
func TestTokensForServersAppearNowhere(t *testing.T) {
	servers := map[string]*authserver.Server{}
	for _, name := range []string{"own", "team", "robot", "plain"} {
		servers[name] = authserver.New(t)
		servers[name].Set(func() { servers[name].Next = http.HandlerFunc(blabbing) })
		servers[name].Add("pinned", "secret-client-4711")
	}
	collector := newStandIn(t)
	dir := t.TempDir()
	text := fmt.Sprintf(`
store: t.db
mcpServers:
  own: {url: %q, oauth: {as: user}}
  team: {url: %q, oauth: {as: gateway, clientId: pinned, clientSecret: secret-client-4711}}
  robot: {url: %q, oauth: {as: client, clientId: pinned, clientSecret: secret-client-4711}}
  plain: {url: %q}
telemetry: {endpoint: %q, headers: {X-Key: collector-key-4711}, arguments: true, results: true}
`, servers["own"].MCP, servers["team"].MCP, servers["robot"].MCP, servers["plain"].MCP, collector.URL)
	cfg, err := config.Parse(filepath.Join(dir, "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	a, err := New(t.Context(), cfg, &Options{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Env: func(name string) (string, bool) {
			return map[string]string{"TOOLFIT_SECRET_KEY": "a key for the tests of sign-ins"}[name], name == "TOOLFIT_SECRET_KEY"
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	key, row, err := access.NewKey("ann", "*", access.Admin, nil)
	row.CreatedAt = time.Now()
	if err == nil {
		err = a.Store.CreateKey(t.Context(), row)
	}
	if err == nil {
		err = a.Keys.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(a.Handler())
	f := &signInFlow{T: t, url: front.URL, key: key, client: &http.Client{
		Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	f.ask("GET", "/api/v1/tools", "")
	const next = "add to plain: oauth: {as: user}; then run: toolfit login plain"
	if said := f.ask("GET", "/api/v1/servers", ""); !strings.Contains(said, next) ||
		!strings.Contains(said, "run: toolfit login own") {
		t.Errorf("what is missing is not said: %s", said)
	}
	f.faults(servers["own"])
	var used []string
	for _, name := range []string{"own", "team"} {
		said, back := f.signIn(name)
		if !strings.Contains(said, `"connected":`) {
			t.Fatal(said)
		}
		at, _ := url.Parse(back)
		used = append(used, at.Query().Get("code"))
		f.ask("POST", "/api/v1/connections/"+name+"/finish", fmt.Sprintf(`{"url":%q}`, back)) // once more
		f.ask("GET", at.RequestURI(), "")
		f.ask("POST", "/api/v1/servers/"+name+"/refresh", "")
	}
	f.ask("POST", "/api/v1/servers/robot/refresh", "")
	for _, name := range []string{"own", "team", "robot"} {
		f.call(name, "***")
	}
	if said := f.ask("GET", "/api/v1/servers/own", ""); !strings.Contains(said, "its tools are listed with the sign-in of "+row.ID) {
		t.Error(said)
	}
	for _, name := range []string{"own", "team"} {
		servers[name].EndAll() // they are renewed
		f.call(name, "***")
	}
	servers["own"].End("alice") // that they are not
	f.call("own", "login_required")
	personal := servers["own"].Token("alice")
	f.ask("POST", "/api/v1/connections/own/token", fmt.Sprintf(`{"token":%q}`, personal))
	f.ask("POST", "/api/v1/connections/own/token", `{"token":"secret-access-a b"}`)
	f.call("own", "***")
	for _, path := range []string{"/api/v1/connections?all=true", "/api/v1/servers", "/api/v1/servers/own", "/api/v1/calls",
		"/api/v1/results", "/api/v1/people",
		"/metrics", "/", "/servers", "/servers/own", "/connections", "/connect/own", "/calls", "/oauth/client.json"} {
		f.ask("GET", path, "")
	}
	f.ask("DELETE", "/api/v1/connections/own", "")
	f.ask("DELETE", "/api/v1/connections/own", "")
	f.call("own", "login_required")
	f.client.CloseIdleConnections()
	front.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	secrets := append(used, "secret-access-", "secret-refresh-", "secret-code-", "secret-client-")
	for _, as := range servers {
		as.Set(func() { secrets = append(secrets, as.Proofs...) })
	}
	if !strings.Contains(f.shown.String(), `"error":{"code":-32000,"message":"what is Bearer ***?"`) {
		t.Error("the servers' words are missing")
	}
	if len(secrets) < 8 || collector.raw.String() == "" {
		t.Fatalf("only %d secrets", len(secrets))
	}
	f.scan(dir, map[string]string{"answers": f.shown.String(), "log": log.String(), "traces": collector.raw.String()}, secrets)
}

// faults signs in while the authorization server fails.
func (f *signInFlow) faults(as *authserver.Server) {
	for _, fault := range []authserver.Fault{
		authserver.WrongIssuer, authserver.LyingIss, authserver.MissingIss, authserver.NoPKCE, authserver.Forgetful,
		authserver.Refuses, authserver.NoToken, authserver.OtherType,
	} {
		as.Set(func() { as.Fault = fault })
		if said, _ := f.signIn("own"); !strings.Contains(said, `"error"`) {
			f.Errorf("%s: %s", fault, said)
		}
	}
	for _, fault := range []authserver.Fault{authserver.Broken, authserver.Busy, authserver.HTML, authserver.Huge, authserver.Redirects} {
		as.Set(func() { as.Fault = fault; as.At = "/token" })
		if said, _ := f.signIn("own"); !strings.Contains(said, `"error"`) {
			f.Errorf("%s: %s", fault, said)
		}
	}
	as.Set(func() { as.Fault = authserver.None; as.At = "" })
}

// scan looks for the secrets in what was seen, and in the files of the store.
func (f *signInFlow) scan(dir string, seen map[string]string, secrets []string) {
	f.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		seen[path] = string(data)
		return err
	})
	if err != nil || len(seen) < 4 {
		f.Fatal("no store", err)
	}
	for where, text := range seen {
		for _, secret := range secrets {
			if i := strings.Index(text, secret); i >= 0 {
				f.Errorf("%s: %s is there: …%.400q", where, secret, text[max(0, i-300):])
			}
		}
	}
}
