package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// newKey makes a key for somebody.
func newKey(t *testing.T, a *app.App, name string) string {
	t.Helper()
	text, key, err := access.NewKey(name, "default", access.Caller, nil)
	if err == nil {
		err = a.Store.CreateKey(t.Context(), key)
	}
	if err == nil {
		err = a.Keys.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rest sends a request to the REST API.
func rest(t *testing.T, address, key, method, path, body string) (int, string) {
	t.Helper()
	r, _ := http.NewRequest(method, "http://"+address+"/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(said)
}

func TestPeopleGiveValuesForTheirOwnCalls(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for values that people give")
	var last string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := `1`
		if _, rest, ok := strings.Cut(string(body), `"id":`); ok {
			id = rest[:strings.IndexAny(rest, ",}")]
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(string(body), `"initialize"`):
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}`, id)
		case strings.Contains(string(body), `"tools/list"`):
			last = r.Header.Get("X-Token")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}}`, id)
		case strings.Contains(string(body), `"tools/call"`):
			text := strings.ReplaceAll(r.Header.Get("X-Token"), "hunter", "rabbit") // it would be redacted
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(upstream.Close)
	a, address := serve(t, fmt.Sprintf("mcpServers:\n  s: {url: %q, headers: {X-Token: 'Token ${user:jira_token}'}}\n", upstream.URL))
	a.Catalog.Ready(t.Context(), "default")
	ann := newKey(t, a, "ann")
	bob := newKey(t, a, "bob")
	call := func(key string) string {
		_, said := rest(t, address, key, "POST", "/tools/s__who/call", `{"arguments":{}}`)
		return said
	}
	if said := call(ann); !strings.Contains(said, "login_required") || !strings.Contains(said, "toolfit connections set jira_token -") {
		t.Errorf("without a value: %s", said)
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"unknown":    {"/values/other", `{"value":"x"}`, 404},
		"empty":      {"/values/jira_token", `{"value":" "}`, 400},
		"a header":   {"/values/jira_token", `{"value":"a\r\nX-Admin: 1"}`, 400},
		"too long":   {"/values/jira_token", `{"value":"` + strings.Repeat("x", 9000) + `"}`, 413},
		"wrong type": {"/values/jira_token", `{"value":7}`, 400},
	} {
		if status, said := rest(t, address, ann, "PUT", c.path, c.body); status != c.status {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	for key, value := range map[string]string{ann: "hunter-ann", bob: "hunter-bob"} {
		if status, said := rest(t, address, key, "PUT", "/values/jira_token", `{"value":"`+value+`"}`); status != 200 ||
			strings.Contains(said, value) {
			t.Errorf("%d %s", status, said)
		}
	}
	for key, want := range map[string]string{ann: "Token rabbit-ann", bob: "Token rabbit-bob"} {
		if said := call(key); !strings.Contains(said, want) {
			t.Errorf("want %s: %s", want, said)
		}
	}
	if _, said := rest(t, address, ann, "GET", "/values", ""); !strings.Contains(said, `"given":true`) || strings.Contains(said, "hunter") {
		t.Errorf("listed: %s", said)
	}
	if status, said := rest(t, address, ann, "DELETE", "/values/jira_token", ""); status != 200 {
		t.Errorf("%d %s", status, said)
	}
	if said := call(ann); !strings.Contains(said, "login_required") {
		t.Errorf("after it was removed: %s", said)
	}
	if said := call(bob); !strings.Contains(said, "rabbit-bob") || last != "" {
		t.Errorf("%s; the list was read with %q", said, last)
	}
}

func TestTheIDTokenOfASignInIsKeptUntilTheSignOut(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for the tokens of sign-ins")
	p := idp.New(t)
	a, address := serve(t, fmt.Sprintf(`
publicURL: https://tools.example.com
identity:
- {issuer: %q, login: {clientId: toolfit, clientSecret: s+3}, map: [{groups: [eng]}]}
mcpServers:
  s: {url: "https://127.0.0.1:1/mcp", oauth: {as: assertion, clientId: us}}
`, p.URL))
	get := func(method, at string, cookies ...string) (*http.Response, []string) {
		t.Helper()
		r, _ := http.NewRequest(method, at, nil)
		if strings.HasPrefix(at, "http://"+address) {
			r.Host = "tools.example.com"
			r.Header.Set("Origin", "https://tools.example.com")
			r.Header.Set("Cookie", strings.Join(cookies, "; "))
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		var set []string
		for _, c := range resp.Cookies() {
			set = append(set, c.Name+"="+c.Value)
		}
		return resp, set
	}
	begun, login := get("GET", "http://"+address+"/sign-in/oidc?issuer="+url.QueryEscape(p.URL))
	there, _ := get("GET", begun.Header.Get("Location"))
	back, err := url.Parse(there.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	done, signedIn := get("GET", "http://"+address+back.RequestURI(), login...)
	people, err := a.Store.People(t.Context(), "", 10)
	if err != nil || len(people) != 1 {
		t.Fatalf("%d: %v %v", done.StatusCode, people, err)
	}
	kept, err := a.Store.Personal(t.Context(), people[0].ID, oauth.IDToken)
	if err != nil || !strings.Contains(string(kept.Data), p.URL) || kept.Expires.IsZero() || time.Until(kept.Expires) > time.Hour+time.Minute {
		t.Fatalf("%s until %s: %v", kept.Data, kept.Expires, err)
	}
	if resp, _ := get("POST", "http://"+address+"/sign-out", signedIn...); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("signed out: %s", resp.Status)
	}
	if _, err := a.Store.Personal(t.Context(), people[0].ID, oauth.IDToken); !fault.Is(err, fault.NotFound) {
		t.Errorf("after the sign-out: %v", err)
	}
}
