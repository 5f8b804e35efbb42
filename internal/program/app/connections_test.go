//go:build unix

package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// behindADoor is an authorization server, and an MCP server of an era that takes its tokens and writes down what it gets.
func behindADoor(t *testing.T, got *lockedBuffer, legacy bool) *authserver.Server {
	t.Helper()
	far, _ := echoingHTTP(t)
	to, err := url.Parse(overheard(t, got, far, legacy))
	if err != nil {
		t.Fatal(err)
	}
	as := authserver.New(t)
	as.Set(func() { as.Next = httputil.NewSingleHostReverseProxy(to) })
	return as
}

func newSigned(t *testing.T, text string) *App {
	t.Helper()
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for the tests of connections")
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), cfg, &Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// keep connects an owner to a server, with a token.
func keep(t *testing.T, a *App, id tool.ServerID, owner, token string) {
	t.Helper()
	client, err := a.connections.Client(id)
	if err == nil {
		err = a.connections.Keep(t.Context(), client, owner, &oauth.Found{}, &oauth.Registration{}, &oauth.Token{Access: token})
	}
	if err != nil {
		t.Fatal(err)
	}
	a.SignedIn(id)
}

// TestASignOutAtAnotherReplicaClosesSessions: those of the person, and of nobody else.
func TestASignOutAtAnotherReplicaClosesSessions(t *testing.T) {
	for _, change := range []store.Change{{Table: "connections", Key: "up"}, {}} {
		var got lockedBuffer
		as := behindADoor(t, &got, true)
		a := newSigned(t, fmt.Sprintf("store: t.db\nmcpServers: {up: {url: %q, oauth: {as: user}}}\n", as.MCP))
		call := func(owner string) error {
			_, err := a.Pool.Call(t.Context(), upstream.Call{Server: "up", Tool: "echo", Caller: owner, Params: []byte(`{"name":"echo","arguments":{}}`)})
			return err
		}
		for _, owner := range []string{"k_ann", "k_bob"} {
			keep(t, a, "up", owner, as.Token(owner))
			if err := call(owner); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Store.DeleteConnection(t.Context(), "up", "k_ann"); err != nil { // as another replica does
			t.Fatal(err)
		}
		if err := a.followed(t.Context(), []store.Change{change}); err != nil {
			t.Fatal(err)
		}
		if owners := a.Pool.Owners("up"); !slices.Equal(owners, []string{"k_bob"}) {
			t.Errorf("%v: sessions of %q are open", change, owners)
		}
		if err := call("k_ann"); err == nil {
			t.Error("ann is still connected")
		}
		if err := call("k_bob"); err != nil {
			t.Error(err)
		}
	}
}

// TestACallersTokenStaysHereWhoeverSignsIn: in every mode of oauth, and for both eras, the server gets the token that is
// meant for it, and an exchange sends the caller's to its issuer alone.
func TestACallersTokenStaysHereWhoeverSignsIn(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		var got lockedBuffer
		as := behindADoor(t, &got, legacy)
		as.Add("us", "a-secret")
		p := idp.New(t)
		p.Login.Exchange = func(url.Values) map[string]any {
			return map[string]any{"access_token": as.Token("exchanged"), "token_type": "Bearer", "expires_in": 600}
		}
		a := newSigned(t, fmt.Sprintf(`
store: t.db
publicURL: https://tools.example.com
identity:
- {issuer: %[1]s, map: [{groups: [eng], role: admin}]}
mcpServers:
  user: {url: %[2]q, oauth: {as: user}}
  gateway: {url: %[2]q, oauth: {as: gateway}}
  client: {url: %[2]q, oauth: {as: client, clientId: us, clientSecret: a-secret}}
  exchange: {url: %[2]q, oauth: {as: exchange, clientId: us, clientSecret: a-secret}}
  own: {url: %[2]q, oauth: {as: user}, isolation: session}
`, p.URL, as.MCP))
		token := p.Token(t, p.Claims("aud", "https://tools.example.com/mcp"))
		id, err := a.edge.Load().signIn.verifier.Identify(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		keep(t, a, "user", id.ID(), as.Token("user"))
		keep(t, a, "own", id.ID(), as.Token("own"))
		keep(t, a, "gateway", "", as.Token("gateway"))
		front := httptest.NewServer(a.Handler())
		f := &tokenFlow{T: t, url: front.URL, client: &http.Client{Transport: &http.Transport{}}}
		ready, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for _, name := range []string{"user", "gateway", "client", "exchange", "own"} {
			for before := f.calls; f.calls == before && ready.Err() == nil; time.Sleep(10 * time.Millisecond) { // until it is listed
				f.ask(token, "POST", "/api/v1/tools/"+name+"__echo/call", `{}`)
			}
			before := f.calls
			f.callBoth(token, name+"__echo")
			if f.calls != before+2 {
				t.Errorf("%s: %d calls: %.3000s", name, f.calls-before, f.shown.String())
			}
		}
		f.client.CloseIdleConnections()
		front.Close()
		mark := token[strings.LastIndexByte(token, '.')+1:]
		if text := got.String(); strings.Contains(text, mark) || !strings.Contains(text, "X-Subject: exchanged") || !strings.Contains(text, "tools/call") {
			t.Errorf("the server got the caller's token, or nothing: %.500s", text)
		}
		if text := f.shown.String(); strings.Contains(text, mark) || strings.Contains(text, "secret-access-") {
			t.Error("a token is shown")
		}
		for _, form := range p.Login.Asked {
			if sent := form.Get("subject_token"); sent != "" && sent != token {
				t.Error("another token was exchanged")
			}
		}
	}
}

// callBoth calls a tool as clients of both eras do.
func (f *tokenFlow) callBoth(token, name string) {
	f.Helper()
	session := f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`).Header.Get("Mcp-Session-Id")
	f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`, "Mcp-Session-Id", session)
	f.ask(token, "POST", "/mcp", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"`+name+`","arguments":{},"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
}
