//go:build unix

package app

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// overheard is a server that writes down all that it is sent. It passes it on to another, if there is one.
func overheard(t *testing.T, got *lockedBuffer, to string, legacy bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := httputil.DumpRequest(r, true) // a body that cannot be read is not there
		got.Write(raw)
		if legacy && r.Header.Get("Mcp-Protocol-Version") == mcp.ModernVersion {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"unsupported protocol version"}}`)
			return
		}
		if to == "" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"headers":%q}`, fmt.Sprint(r.Header))
			return
		}
		req, _ := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, bytes.NewReader(raw[bytes.Index(raw, []byte("\r\n\r\n"))+4:]))
		req.Header = r.Header
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const tokenAPI = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{"/thing":{"get":{"operationId":"thing","parameters":[` +
	`{"name":"Authorization","in":"header","schema":{"type":"string"}},{"name":"q","in":"query","schema":{"type":"string"}}],` +
	`"responses":{"200":{"description":"ok"}}}}}}`

// tokenFlow is a gateway and what it says, keeps and sends.
type tokenFlow struct {
	*testing.T
	url    string
	client *http.Client
	shown  lockedBuffer // all answers
	calls  int          // that were made
}

// ask sends a request with a token in every place where one could be looked for.
func (f *tokenFlow) ask(token, method, path, body string, headers ...string) *http.Response {
	f.Helper()
	address := f.url + path
	if strings.HasPrefix(path, "/mcp") || strings.Contains(path, "/v1/") { // pages link to themselves
		address += "?access_token=" + token
	}
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-Forwarded-Access-Token", token)
	req.Header.Set("Cookie", "token="+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		f.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Fprintf(&f.shown, "--- %s %s: %s %v\n%s\n", method, path, resp.Status, resp.Header, text)
	if strings.Contains(body, "tools/call") || strings.HasSuffix(path, "/call") {
		if resp.StatusCode == http.StatusOK && !strings.Contains(string(text), `"error":{`) && !strings.Contains(string(text), `"isError":true`) {
			f.calls++
		}
	}
	return resp
}

// walk calls all tools in all ways, and looks at what there is to see.
func (f *tokenFlow) walk(token string) {
	f.Helper()
	session := f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	for _, name := range []string{"near__echo", "far__echo", "old__echo", "own__echo", "web__thing"} {
		f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`, "Mcp-Session-Id", session)
		f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"`+name+`","arguments":{},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
		f.ask(token, "POST", "/api/v1/tools/"+name+"/call", `{}`)
		f.ask(token, "POST", "/api/v1/tools/"+name+"/curl", `{}`)
	}
	for _, path := range []string{"/api/v1/calls", "/api/v1/servers", "/api/v1/tools", "/api/v1/keys", "/v1/models", "/metrics", "/", "/calls", "/mcp/none"} {
		f.ask(token, "GET", path, "")
	}
}

// TestTokensGoNowhere sends tokens, good and bad, with all kinds of requests, and then reads everything that servers
// got and that the gateway shows, logs, traces or keeps.
func TestTokensGoNowhere(t *testing.T) {
	p := idp.New(t)
	const resource = "https://tools.example.com/mcp"
	good := p.Token(t, p.Claims("aud", resource))
	parts := strings.Split(good, ".")
	tokens := map[string]string{
		"good": good, "opaque": "opaque-4711-of-ann", "unknown": "opaque-4712-of-nobody",
		"another audience": p.Token(t, p.Claims("aud", "https://other.example.com/mcp")), "expired": p.Token(t, p.Claims("aud", resource, "exp", 1)),
		"no scope": p.Token(t, p.Claims("aud", resource, "scope", "x")), "no rights": p.Token(t, p.Claims("aud", resource, "groups", "cats")),
		"forged": parts[0] + "." + parts[1] + ".Zm9yZ2VkLTQ3MTMtZm9yZ2Vk", "unknown issuer": p.Token(t, p.Claims("aud", resource, "iss", "https://x.example.com")),
	}
	p.Opaque = map[string]map[string]any{tokens["opaque"]: p.Claims("aud", resource, "active", true, "sub", "ann")}
	far, _ := echoingHTTP(t)
	var got, log lockedBuffer
	collector := newStandIn(t)
	dir := t.TempDir()
	rewrite(t, filepath.Join(dir, "api.json"), tokenAPI)
	text := fmt.Sprintf(`
store: t.db
publicURL: https://tools.example.com
identity:
- {issuer: %s, scope: mcp:tools, introspect: {url: "%s/introspect", clientId: toolfit, clientSecret: s+3}, map: [{groups: [eng], role: admin}]}
mcpServers:
  near: {command: %q, env: {%s: echo}}
  far: {url: %q}
  old: {url: %q}
  own: {url: %q, isolation: session}
apis:
  web: {spec: api.json, base: %q}
telemetry: {endpoint: %q, headers: {X-Key: collector-key-4711}, arguments: true, results: true}
`, p.URL, p.URL, os.Args[0], modeVariable, overheard(t, &got, far, false)+"/mcp", overheard(t, &got, far, true)+"/mcp",
		overheard(t, &got, far, false)+"/mcp", overheard(t, &got, "", false), collector.URL)
	cfg, err := config.Parse(filepath.Join(dir, "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), cfg, &Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	a.Catalog.Ready(t.Context(), "default")
	front := httptest.NewServer(a.Handler())
	f := &tokenFlow{T: t, url: front.URL, client: &http.Client{Transport: &http.Transport{}}}
	for name, token := range tokens {
		before := f.calls
		f.walk(token)
		if admitted := name == "good" || name == "opaque"; admitted != (f.calls == before+15) || !admitted && f.calls != before {
			t.Errorf("%s: %d calls\n%s", name, f.calls-before, f.shown.String())
		}
	}
	f.client.CloseIdleConnections()
	front.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	seen := map[string]string{"servers": got.String(), "answers": f.shown.String(), "log": log.String(), "traces": collector.raw.String()}
	if !strings.Contains(seen["servers"], "tools/call") || !strings.Contains(seen["servers"], "/thing") || seen["traces"] == "" || !strings.Contains(seen["log"], "token refused") {
		t.Fatalf("nothing was seen: %.2000s", seen["log"])
	}
	files, err := filepath.Glob(filepath.Join(dir, "t.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no store", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen[filepath.Base(file)] = string(data)
	}
	for where, text := range seen {
		for name, token := range tokens {
			parts := strings.Split(token, ".")
			if i := strings.Index(text, parts[len(parts)-1]); i >= 0 {
				t.Errorf("%s: the token %q is there: …%.300q", where, name, text[max(0, i-200):])
			}
		}
	}
}
