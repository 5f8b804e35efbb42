package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// askRecall asks for an action on this machine.
func askRecall(a *App) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/agent-retrieval/in/v1/kn/get_action_info", strings.NewReader(`{"kn_id":"k","at_id":"a"}`))
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:5"
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
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:5"
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
