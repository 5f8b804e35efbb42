package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var (
	consentButton = regexp.MustCompile(`name="issuer" value="([^"]*)"`)
	leadsOn       = regexp.MustCompile(`content="0; url=([^"]*)"`)
)

// agreed is what a browser sends next when somebody agrees on the page of the broker; nil if there is nothing to do.
func agreed(ctx context.Context, from *http.Request, page string) *http.Request {
	if button := consentButton.FindStringSubmatch(page); button != nil {
		form := url.Values{"issuer": {html.UnescapeString(button[1])}}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, from.URL.String(), strings.NewReader(form.Encode()))
		if err != nil {
			return nil
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", from.URL.Scheme+"://"+from.URL.Host)
		return r
	}
	next := leadsOn.FindStringSubmatch(page)
	if next == nil {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, html.UnescapeString(next[1]), nil)
	if err != nil {
		return nil
	}
	return r
}

// brokerConfig is the configuration of a gateway at an address, whose people sign in at a provider that knows it alone.
func brokerConfig(t *testing.T, public, clients string) string {
	t.Helper()
	us, _ := json.Marshal([]map[string]any{{
		"client_id": "toolfit", "client_secret": "toolfit-secret", "redirect_uris": []string{public + "/oauth/callback"},
		"token_endpoint_auth_method": "client_secret_basic",
	}})
	issuer := identityProvider(t, "alice", "0", string(us))
	return lines("publicURL: "+public, "identity:", "- issuer: "+issuer, "  scope: mcp:tools",
		"  login: {clientId: toolfit, clientSecret: toolfit-secret, scopes: [openid]}",
		"  map: [{groups: [eng], profile: default}]", "broker: {"+clients+"}")
}

// withBroker serves clients that register themselves.
func withBroker(t *testing.T) *gateway {
	t.Helper()
	l := listen(t)
	return serveOn(t, l, write(t, brokerConfig(t, "http://"+l.Addr().String(), "registration: true")+bare(everythingServer(t, true))))
}

func TestClientsSignInThroughTheBroker(t *testing.T) {
	g := withBroker(t)
	for era, revision := range eras {
		t.Run("Go SDK, "+era, func(t *testing.T) {
			s := connectAs(t, &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp", OAuthHandler: signingIn(t, plainHTTP, false)}, revision, nil)
			if text := callText(t, s, "test_simple_text", map[string]any{}); text == "" {
				t.Errorf("%q", text)
			}
		})
	}
	for _, line := range []string{"1", "2"} {
		t.Run("TypeScript SDK "+line, func(t *testing.T) {
			said := nodeClient(t, testparts.Need(t), "signin.mjs", g.url+"/mcp", line)
			if said["text"] == "" || said["tools"].(float64) < 5 {
				t.Errorf("%v", said)
			}
		})
	}
}

// clientDocument serves what a client says about itself, and returns its address.
func clientDocument(t *testing.T, redirect string) string {
	t.Helper()
	var address string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"client_id": address, "client_name": "conformance", "redirect_uris": []string{redirect}})
	}))
	t.Cleanup(srv.Close)
	address = srv.URL + "/client.json"
	return address
}

// TestBrokerConformance runs the official suite for authorization servers.
func TestBrokerConformance(t *testing.T) {
	node := testparts.Need(t)
	l, free := listen(t), listen(t)
	port := free.Addr().String()[strings.LastIndexByte(free.Addr().String(), ':')+1:]
	free.Close()
	back := "http://127.0.0.1:" + port + "/callback"
	client := clientDocument(t, back)
	public := "http://" + l.Addr().String()
	g := serveOn(t, l, write(t, brokerConfig(t, public, "clients: ['"+client+"']")+bare(everythingServer(t, true))))
	results := t.TempDir()
	command := node.Script(newSuite, "authorization", "--url", public, "--client-id", client, "--resource", g.url+"/mcp", "-p", port, "-o", results)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for in := bufio.NewScanner(out); in.Scan(); {
		printed.WriteString(in.Text() + "\n")
		if strings.HasPrefix(in.Text(), public+"/oauth/authorize?") {
			answer, err := person(ctx, in.Text(), back)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := plainHTTP.Get(back + "?" + answer.Encode())
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	err = cmd.Wait()
	passed, failed := checks(t, results)
	if err != nil || passed < 3 || len(failed) > 0 {
		t.Errorf("%v: %d passed, failed: %v\n%s", err, passed, failed, &printed)
	}
	t.Log(passed, "checks passed")
}

func TestAnyReplicaFinishesASignIn(t *testing.T) {
	onStores(t, func(t *testing.T, at string) {
		urls := make([]string, 2)
		front := balancer(t, urls...) // their address is the balancer's, so that they start after it
		server := newCurious(t)
		yaml := brokerConfig(t, front.url, "registration: true") + lines("store: "+at) + bare(server.url)
		for i := range urls {
			urls[i] = replica(t, yaml, 0).url
		}
		handler := signingIn(t, plainHTTP, false)
		s := connectAs(t, &mcp.StreamableClientTransport{Endpoint: front.url + "/mcp", OAuthHandler: handler}, eras["modern"], nil)
		for range 6 {
			if text := callText(t, s, "plain", map[string]any{}); text != "plain" {
				t.Errorf("%q", text)
			}
		}
		token := tokenOf(t, handler)
		status := func(url string) int {
			r, _ := http.NewRequest("POST", url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
				`"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := plainHTTP.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			return resp.StatusCode
		}
		// within waits until all replicas answer with the status.
		within := func(want int, limit time.Duration) {
			t.Helper()
			began := time.Now()
			for _, url := range urls {
				eventually(t, fmt.Sprint("everybody answers ", want), func() bool { return status(url) == want })
			}
			if took := time.Since(began); took > limit {
				t.Errorf("it took %s", took)
			}
		}
		within(200, time.Second)
		g := &gateway{url: urls[0]}
		if status, said := g.as(t, token, "GET", "/api/v1/tools"); status != 403 || !strings.Contains(said, "use tools, and nothing else") {
			t.Errorf("the REST API answers %d %s", status, said)
		}
		st, err := store.Open(t.Context(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		sum := sha256.Sum256([]byte(token))
		grant, _, err := st.GrantOf(t.Context(), sum[:])
		if err != nil {
			t.Fatal(err)
		}
		resp, err := plainHTTP.PostForm(urls[0]+"/oauth/revoke", url.Values{"token": {token}, "client_id": {grant.Client}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		within(401, 10*time.Second)

		handler = signingIn(t, plainHTTP, false)
		connectAs(t, &mcp.StreamableClientTransport{Endpoint: front.url + "/mcp", OAuthHandler: handler}, eras["modern"], nil)
		token = tokenOf(t, handler)
		within(200, time.Second)
		if _, err := st.DisablePerson(t.Context(), "alice", time.Now()); err != nil {
			t.Fatal(err)
		}
		within(403, 10*time.Second)
	})
}

// tokenOf is the access token that a client has got.
func tokenOf(t *testing.T, handler auth.OAuthHandler) string {
	t.Helper()
	source, err := handler.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	return token.AccessToken
}

func TestNothingOfTheBrokerIsThereUnlessItIsOn(t *testing.T) {
	g := signedIn(t, identityProvider(t))
	unknown := func(path string) string {
		resp, err := plainHTTP.Get(g.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return fmt.Sprint(resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	for _, path := range []string{
		"/oauth/authorize", "/oauth/token", "/oauth/revoke", "/oauth/register", "/oauth/callback", "/oauth/style.css",
		"/.well-known/oauth-authorization-server",
	} {
		if got, want := unknown(path), unknown("/nothing/here"); got != want {
			t.Errorf("%s: %s, and what is not there: %s", path, got, want)
		}
	}
}
