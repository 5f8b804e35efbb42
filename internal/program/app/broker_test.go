package app_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// behindProxy is a client of a gateway that others know as https://tools.example.com/base.
type behindProxy struct {
	t       *testing.T
	address string
}

// do sends a request and returns the answer, read; headers are name and value in turn. Redirects are not followed.
func (p behindProxy) do(method, path, body string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.address+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Host = "tools.example.com"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return resp, string(said)
}

func (p behindProxy) json(method, path, body string, headers ...string) map[string]any {
	p.t.Helper()
	resp, said := p.do(method, path, body, headers...)
	var got map[string]any
	if err := json.Unmarshal([]byte(said), &got); err != nil || resp.StatusCode >= 300 {
		p.t.Fatalf("%s: %s %s", path, resp.Status, said)
	}
	return got
}

// brokerConfig is a configuration without the key broker.
func brokerConfig(provider string) string {
	return fmt.Sprintf(`
basePath: /base
publicURL: https://tools.example.com/base
profiles: {ops: {}, dev: {}}
identity:
- issuer: %s
  scope: mcp:tools
  login: {clientId: toolfit, clientSecret: s+3}
  map: [{groups: [eng], profile: ops}]
- issuer: https://direct.example.com
  scope: mcp:tools
  map: [{groups: [eng], profile: ops}]
`, provider)
}

const brokerOn = `broker: {clients: ["https://claude.ai/**"], registration: true}`

func withBroker(t *testing.T, provider string) (*app.App, behindProxy) {
	t.Helper()
	a, address := serve(t, brokerConfig(provider)+brokerOn)
	return a, behindProxy{t, "http://" + address}
}

const form = "application/x-www-form-urlencoded"

func TestBrokerBelowABasePath(t *testing.T) {
	provider := idp.New(t)
	_, p := withBroker(t, provider.URL)
	const public = "https://tools.example.com/base"
	for _, path := range []string{"/base/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/base"} {
		resp, _ := p.do("GET", path, "", "Origin", "https://page.example.com", "Sec-Fetch-Site", "cross-site")
		about := p.json("GET", path, "")
		if about["issuer"] != public || about["token_endpoint"] != public+"/oauth/token" || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, about)
		}
	}
	if resp, _ := p.do("GET", "/.well-known/oauth-authorization-server", ""); resp.StatusCode == 200 {
		t.Error("metadata of another issuer are ours")
	}
	resource := p.json("GET", "/base/.well-known/oauth-protected-resource/mcp/ops", "")
	if servers := fmt.Sprint(resource["authorization_servers"]); servers != "["+public+" https://direct.example.com]" ||
		!slices.Equal(resource["scopes_supported"].([]any), []any{"mcp:tools"}) {
		t.Errorf("%v", resource)
	}

	token := p.signIn(public)
	for path, want := range map[string]int{"/base/mcp/ops": 200, "/base/mcp": 401, "/base/mcp/dev": 401} {
		resp, said := p.do("POST", path, initialize, "Authorization", "Bearer "+token, "Content-Type", "application/json",
			"Accept", "application/json, text/event-stream")
		if resp.StatusCode != want {
			t.Errorf("%s: %s %s", path, resp.Status, said)
		}
		if want == 401 && !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), `Bearer error="invalid_token", scope="mcp:tools"`) {
			t.Error(resp.Header)
		}
	}
}

// signIn signs alice in for the profile ops, step by step.
func (p behindProxy) signIn(public string) (token string) {
	t := p.t
	t.Helper()
	client := p.json("POST", "/base/oauth/register", `{"client_name":"x","redirect_uris":["http://localhost/cb"]}`)["client_id"].(string)
	sum := sha256.Sum256([]byte("verifier"))
	request := "/base/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {"http://localhost:1234/cb"}, "resource": {public + "/mcp/ops"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	resp, page := p.do("GET", request, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	button := regexp.MustCompile(`name="issuer" value="([^"]*)"`).FindStringSubmatch(page)
	if resp.StatusCode != 200 || button == nil || len(resp.Cookies()) != 0 {
		t.Fatalf("%s %s", resp.Status, page)
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self'; frame-ancestors 'none'") {
		t.Error(csp)
	}
	if resp, _ := p.do("GET", request, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"); resp.StatusCode != 403 {
		t.Errorf("in a frame: %s", resp.Status)
	}
	click := url.Values{"issuer": {html.UnescapeString(button[1])}}.Encode()
	resp, page = p.do("POST", request, click, "Content-Type", form, "Origin", "https://tools.example.com")
	next := regexp.MustCompile(`content="0; url=([^"]*)"`).FindStringSubmatch(page)
	if next == nil || len(resp.Cookies()) != 1 {
		t.Fatalf("%s %s", resp.Status, page)
	}
	cookie := resp.Cookies()[0]
	if cookie.Name != "__Host-toolfit_oauth" || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" {
		t.Errorf("%v", cookie)
	}
	at, err := http.NewRequest("GET", html.UnescapeString(next[1]), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err = http.DefaultTransport.RoundTrip(at)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	callback := strings.TrimPrefix(resp.Header.Get("Location"), "https://tools.example.com")
	resp, page = p.do("GET", callback, "", "Cookie", cookie.Name+"="+cookie.Value)
	answer, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || answer.Host != "localhost:1234" || answer.Query().Get("iss") != public {
		t.Fatalf("%s %v %s", callback, answer, page)
	}
	tokens := p.json("POST", "/base/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {client}, "code": {answer.Query().Get("code")}, "code_verifier": {"verifier"},
	}.Encode(), "Content-Type", form, "Origin", "https://page.example.com", "Sec-Fetch-Site", "cross-site")
	return tokens["access_token"].(string)
}

func TestBrokerIsForOurHosts(t *testing.T) {
	_, p := withBroker(t, "https://login.example.com")
	for _, path := range []string{"/base/oauth/token", "/base/oauth/register", "/base/oauth/authorize", "/base/.well-known/oauth-authorization-server"} {
		r, _ := http.NewRequest("GET", p.address+path, nil)
		r.Host = "evil.example.com"
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	resp, _ := p.do("OPTIONS", "/base/oauth/token", "", "Origin", "https://page.example.com", "Access-Control-Request-Method", "POST")
	if resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
}

func TestBrokerIsSwitchedByAReload(t *testing.T) {
	provider := idp.New(t)
	a, p := withBroker(t, provider.URL)
	token := p.signIn("https://tools.example.com/base")
	asks := func() int {
		resp, _ := p.do("POST", "/base/mcp/ops", initialize, "Authorization", "Bearer "+token, "Content-Type", "application/json",
			"Accept", "application/json, text/event-stream")
		return resp.StatusCode
	}
	about := func() int {
		resp, _ := p.do("GET", "/base/.well-known/oauth-authorization-server", "")
		return resp.StatusCode
	}
	for i, on := range []bool{true, false, true} {
		text := brokerConfig(provider.URL)
		if on {
			text += brokerOn
		}
		a.Reload(parsed(t, a.Config().Path, text))
		if got, said := asks(), about(); (got == 200) != on || (said == 200) != on {
			t.Errorf("%d, on %v: the token gives %d, the metadata %d", i, on, got, said)
		}
	}
	a.Reload(parsed(t, a.Config().Path, brokerConfig(provider.URL)+`broker: {clients: ["https://claude.ai/**"]}`))
	if got := asks(); got != 401 {
		t.Errorf("clients may not register themselves any more, and one that has is let in: %d", got)
	}
}

func parsed(t *testing.T, path, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(path, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
