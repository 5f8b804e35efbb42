package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// whoServer is an MCP server behind a door: its one tool tells with which token it was called.
func whoServer(t *testing.T) (address string, seen func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		mu.Lock()
		all = append(all, token)
		mu.Unlock()
		if !strings.HasPrefix(token, "swapped-") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		json.NewDecoder(r.Body).Decode(&m)
		var result string
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"who","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":"called as ` + token + `"}]}`
		case "":
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, all...)
	}
}

// callWho calls the tool, as a client of an era does that comes with a credential.
func callWho(t *testing.T, address, credential string, modern bool) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`
	headers := map[string]string{"Mcp-Protocol-Version": "2025-11-25"}
	if modern {
		body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__who","arguments":{},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
			`"io.modelcontextprotocol/clientCapabilities":{}}}}`
		headers = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "s__who"}
	} else {
		headers["Mcp-Session-Id"] = ask(t, address, credential).Header.Get("Mcp-Session-Id")
	}
	r, _ := http.NewRequest("POST", address, strings.NewReader(body))
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+credential)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return string(said)
}

func TestCallersTokensAreExchanged(t *testing.T) {
	p := idp.New(t)
	owners := map[string]string{} // by token
	p.Login.Exchange = func(form url.Values) map[string]any {
		who, ok := owners[form.Get("subject_token")]
		if !ok {
			return map[string]any{"error": "invalid_grant"}
		}
		return map[string]any{"access_token": "swapped-" + who, "token_type": "Bearer", "expires_in": 600}
	}
	upstream, seen := whoServer(t)
	a, base := serve(t, fmt.Sprintf(`
publicURL: https://tools.example.com
identity:
- {issuer: %q, map: [{groups: [eng]}]}
mcpServers:
  s: {url: %q, oauth: {as: exchange, clientId: us, clientSecret: a-secret}}
`, p.URL, upstream))
	address := "http://" + base + "/mcp"
	token := func(who string) string {
		text := p.Token(t, p.Claims("sub", who, "aud", "https://tools.example.com/mcp"))
		p.Mu.Lock()
		defer p.Mu.Unlock()
		owners[text] = who
		return text
	}
	alice := token("alice")
	ask(t, address, alice) // somebody comes: now it can be listed
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(callWho(t, address, alice, true), "called as swapped-alice") {
		if time.Now().After(deadline) {
			t.Fatal("it is never listed: ", callWho(t, address, alice, true))
		}
		time.Sleep(50 * time.Millisecond)
	}
	var all sync.WaitGroup
	for i := range 20 {
		who := fmt.Sprintf("user%d", i%5)
		text := token(who)
		all.Go(func() {
			if said := callWho(t, address, text, i%2 == 0); !strings.Contains(said, "called as swapped-"+who) {
				t.Errorf("%s: %s", who, said)
			}
		})
	}
	all.Wait()
	text, key, err := access.NewKey("robot", "default", access.Caller, nil)
	if err == nil {
		err = a.Store.CreateKey(t.Context(), key)
	}
	if err == nil {
		err = a.Keys.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if said := callWho(t, address, text, true); !strings.Contains(said, "a key cannot be exchanged") {
		t.Errorf("with a key: %s", said)
	}
	for _, sent := range seen() {
		if sent != "" && !strings.HasPrefix(sent, "swapped-") {
			t.Errorf("the server got %q", sent)
		}
	}
}
