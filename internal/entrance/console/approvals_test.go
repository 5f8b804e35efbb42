package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// question stores an open question of somebody.
func (w *world) question(id, principal string) {
	w.t.Helper()
	_, _, err := w.app.Store.AskApproval(w.t.Context(), store.Approval{
		ID: id, Principal: principal, Profile: "orders", Server: "shop", Tool: "shop__add_note", Digest: id, Call: "c_" + id,
		About: []byte(`{"name":"Alice","kind":"user","hints":{},"rules":[{"name":"notes","say":"客户会看到"}],"arguments":` +
			`{"orderId":7,"text":"<b>退款</b>","lines":[{"sku":"k-1"}],"long":"` + strings.Repeat("很长", 200) + `"}}`),
		Expires: time.Now().Add(time.Hour),
	}, 20)
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stateOf(id string) string {
	w.t.Helper()
	a, err := w.app.Store.Approval(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(a.State)
}

// TestAnAgentsTokenApprovesNothing: the person whose token it is does, once they have signed in on the page, and nobody else.
func TestAnAgentsTokenApprovesNothing(t *testing.T) {
	provider := idp.New(t)
	w, root := withProvider(t, provider, here)
	alice := w.person()
	alice.follow(alice.begin("/"))
	people, err := w.app.Store.People(t.Context(), "", 10)
	if err != nil || len(people) != 1 {
		t.Fatalf("%+v, %v", people, err)
	}
	w.question("q1", people[0].ID)
	w.question("q2", "u_somebody_else")
	token := provider.Token(t, provider.Claims("aud", w.cfg.PublicURL+"/mcp"))
	send := func(path, kind, body, bearer string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", w.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", "Bearer "+bearer)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	const yes = `{"decision":"approve"}`
	if got := send("/api/v1/approvals/q1", "application/json", yes, token); got != 403 {
		t.Errorf("the token by REST: HTTP %d", got)
	}
	if got := send("/approvals/q1", "application/x-www-form-urlencoded", "decision=approve", token); got != 403 {
		t.Errorf("the token on the page: HTTP %d", got)
	}
	agent := w.person()
	agent.ask("POST", "/sign-in", url.Values{"key": {token}})
	if status, _ := agent.ask("POST", "/approvals/q1", url.Values{"decision": {"approve"}}); status != 403 {
		t.Errorf("a cookie for the token: HTTP %d", status)
	}
	if got := w.stateOf("q1"); got != "open" {
		t.Fatal(got)
	}
	for _, form := range []url.Values{nil, {"decision": {"approve"}}} {
		method := map[bool]string{true: "GET", false: "POST"}[form == nil]
		if status, body := alice.ask(method, "/approvals/q2", form); status != 403 || strings.Contains(body, "退款") {
			t.Errorf("%s of another's question: HTTP %d", method, status)
		}
	}
	status, body := alice.ask("GET", "/approvals/q1", nil)
	for _, want := range []string{"&lt;b&gt;退款&lt;/b&gt;", "客户会看到", "k-1", `value="approve"`, "<details"} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("HTTP %d, no %s: %.3000s", status, want, mainOf(body))
		}
	}
	if strings.Contains(body, "too many values") || strings.Contains(body, `type="text" name="reason"`) { // where Enter would approve
		t.Errorf("%.3000s", mainOf(body))
	}
	for _, decision := range []string{"", "Approve", "yes"} {
		status, _ := alice.ask("POST", "/approvals/q1", url.Values{"decision": {decision}})
		if got := w.stateOf("q1"); status != 400 || got != "open" {
			t.Errorf("decision %q: HTTP %d, %s", decision, status, got)
		}
	}
	_, body = alice.ask("POST", "/approvals/q1", url.Values{"decision": {"approve"}, "reason": {"fine"}})
	if !strings.Contains(body, "Approved.") {
		t.Errorf("%.2000s", mainOf(body))
	}
	if got := w.stateOf("q1"); got != "approved" {
		t.Error(got)
	}
	if status, _ := alice.ask("POST", "/approvals/q1", url.Values{"decision": {"deny"}}); status != 409 {
		t.Errorf("decided again: HTTP %d", status)
	}
	got := send("/api/v1/approvals/q2", "application/json", `{"decision":"deny","reason":"no"}`, root)
	if got != 200 || w.stateOf("q2") != "denied" {
		t.Errorf("an administrator's key: HTTP %d, %s", got, w.stateOf("q2"))
	}
	status, body = alice.ask("GET", "/approvals", nil)
	if status != 200 || !strings.Contains(body, "/approvals/q1") || strings.Contains(body, "/approvals/q2") {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
}

// TestNoArgumentIsHidden: values that are too many for the table are announced, and there.
func TestNoArgumentIsHidden(t *testing.T) {
	w, _ := withProvider(t, idp.New(t), here)
	alice := w.person()
	alice.follow(alice.begin("/"))
	people, err := w.app.Store.People(t.Context(), "", 10)
	if err != nil || len(people) != 1 {
		t.Fatalf("%+v, %v", people, err)
	}
	_, _, err = w.app.Store.AskApproval(t.Context(), store.Approval{
		ID: "q", Principal: people[0].ID, Profile: "orders", Tool: "shop__add_note", Digest: "q", Expires: time.Now().Add(time.Hour),
		About: []byte(`{"rules":[{"name":"notes"}],"arguments":{"a":[` + strings.Repeat("1,", maxArgumentsShown) + `1],"b":"delete everything"}}`),
	}, 20)
	if err != nil {
		t.Fatal(err)
	}
	status, body := alice.ask("GET", "/approvals/q", nil)
	for _, want := range []string{"too many values", "<details class=\"fold\" open>", "delete everything"} {
		if status != 200 || !strings.Contains(body, want) {
			t.Errorf("HTTP %d, no %s", status, want)
		}
	}
}

const maxArgumentsShown = 2000
