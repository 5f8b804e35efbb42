package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

// askRecall asks for an action on this machine.
func askRecall(a *App) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/agent-retrieval/in/v1/kn/get_action_info", strings.NewReader(`{"kn_id":"k","at_id":"a"}`))
	r.Host = "localhost"
	r.RemoteAddr = "127.0.0.1:5"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return w
}

func TestRecallIsServedWhileTheConfigurationHasIt(t *testing.T) {
	a, _ := start(t, one)
	for _, c := range []struct {
		text, holds string
	}{
		{one, "action recall is not configured"},
		{one + "recall: {}\n", "KnActionRecallActionNotFound"},
		{one + "recall: {language: zh-CN}\n", "请检查"},
		{one, "action recall is not configured"},
	} {
		a.Reload(parse(t, a.Config().Path, c.text))
		if w := askRecall(a); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%q: %d %s", c.text, w.Code, w.Body)
		}
	}
}

func TestAnAddressWithBoundParametersOutlivesAReload(t *testing.T) {
	bound := one + "recall: {fixed: bind, actions: [{kn_id: k, at_id: a, mcp_id: shop, tool_name: list_orders, parameters: {limit: 1}}]}\n"
	a, _ := start(t, bound)
	var info struct {
		Tools []struct {
			URL string `json:"api_url"`
		} `json:"_dynamic_tools"`
	}
	if err := json.Unmarshal(askRecall(a).Body.Bytes(), &info); err != nil || len(info.Tools) != 1 {
		t.Fatalf("no tool: %v", err)
	}
	a.Reload(parse(t, a.Config().Path, bound+"hosts: [tools.example.com]\n"))
	_, path, _ := strings.Cut(info.Tools[0].URL, "/api/")
	r := httptest.NewRequest("POST", "/api/"+path, strings.NewReader(`{}`))
	r.Host = "localhost"
	r.RemoteAddr = "127.0.0.1:5"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRecallRefusesInItsOwnForm(t *testing.T) {
	a, _ := start(t, one+"recall: {}\nrate: {perKey: 1/h, burst: 1}\n")
	askRecall(a)
	w := askRecall(a)
	var answer struct{ Code, Description string }
	err := json.Unmarshal(w.Body.Bytes(), &answer)
	if w.Code != http.StatusTooManyRequests || err != nil || answer.Code != "Public.ServiceUnavailable" || !withinAnHour(w) {
		t.Errorf("%d %s, Retry-After %q", w.Code, w.Body, w.Header().Get("Retry-After"))
	}
}

// TestCallersWithOAuthTokensDoWhatTheRolloutPageSays sends what each kind of caller may send.
func TestCallersWithOAuthTokensDoWhatTheRolloutPageSays(t *testing.T) {
	page, err := os.ReadFile("../../../docs/rollout.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "## Callers with OAuth tokens") {
		t.Error("the page does not say what callers with OAuth tokens do")
	}
	a, _ := start(t, one+"recall: {trust: [127.0.0.0/8, '::1'], actions: [{kn_id: k, at_id: a, mcp_id: shop, tool_name: list_orders}]}\n")
	key, row, err := access.NewKey("gate", "default", access.Caller, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Store.CreateKey(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if err := a.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(a.Handler())
	defer srv.Close()
	const private, public, token = "/api/agent-retrieval/in/v1", "/api/agent-retrieval/v1", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
	for _, c := range []struct {
		name, prefix string
		headers      map[string]string
		status       int
		account      string
	}{
		{"a token, outside", public, map[string]string{"Authorization": token}, http.StatusUnauthorized, ""},
		{"a token, in the trusted network", private, map[string]string{"Authorization": token, "x-account-id": "u", "x-account-type": "user"},
			http.StatusUnauthorized, ""},
		{"no token, in the trusted network", private, map[string]string{"x-account-id": "u", "x-account-type": "user"}, http.StatusOK, "user u"},
		{"a key in its place", public, map[string]string{"Authorization": "Bearer " + key, "x-account-id": "u", "x-account-type": "user"},
			http.StatusOK, "app " + row.ID},
		{"behind a gateway that checks tokens", private,
			map[string]string{"Authorization": "Bearer " + key, "x-account-id": "u", "x-account-type": "user", "X-Forwarded-For": "203.0.113.9"},
			http.StatusOK, "user u"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+c.prefix+"/kn/get_action_info",
			strings.NewReader(`{"kn_id":"k","at_id":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Headers map[string]string }
		err = json.NewDecoder(res.Body).Decode(&answer)
		res.Body.Close()
		if got := strings.TrimSpace(answer.Headers["x-account-type"] + " " + answer.Headers["x-account-id"]); err != nil ||
			res.StatusCode != c.status || got != c.account {
			t.Errorf("%s: %d for %q, %v; want %d for %q", c.name, res.StatusCode, got, err, c.status, c.account)
		}
	}
}
