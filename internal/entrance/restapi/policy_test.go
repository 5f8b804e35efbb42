package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

const policyText = `
policy:
  - name: few
    tools: [shop__list_orders]
    when: args.limit > 10 && !("eng" in who.groups)
    then: deny
    say: Ask for at most ten orders.
  - {name: paid, tools: [shop__list_orders], when: 'args.status != "paid"', then: approve, mode: watch}
  - {name: ann-only, who: {keys: [ann]}, tools: [shop__get_order], then: deny}
`

func decodeAs[T any](t testing.TB, status int, body string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	return v
}

func TestRulesOfThePolicyHaveTheirHits(t *testing.T) {
	g := newGatewayWith(t, policyText)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	for range 2 {
		if status, body := g.ask(t, "ann", "POST", "/api/v1/tools/shop__list_orders/call", `{"limit":20}`); status != 403 {
			t.Errorf("HTTP %d: %s", status, body)
		}
	}
	g.call(t, "ann", "shop__list_orders", `{"limit":2,"status":"shipped"}`)
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/policy", ""); status != 403 {
		t.Errorf("a caller reads the policy: HTTP %d", status)
	}
	status, body := g.ask(t, "eye", "GET", "/api/v1/policy", "")
	list := decodeAs[restapi.PolicyList](t, status, body)
	hits := map[string]int64{}
	for _, r := range list.Rules {
		hits[r.Name] = r.Hits
		if r.Days[6]+r.Days[5] != r.Hits { // the day may just have ended
			t.Errorf("%s: %v", r.Name, r.Days)
		}
	}
	if hits["few"] != 2 || hits["paid"] != 3 || hits["ann-only"] != 0 {
		t.Errorf("%v", hits)
	}
	// A person may be called like a rule, or as if nobody had decided.
	for _, name := range []string{"ann-only", "default"} {
		id := string(store.AppendCallTime(nil, time.Now())) + name[:1]
		c := store.Call{ID: id, At: time.Now(), Tool: "shop__get_order", Policy: "approve paid, approved by " + name}
		if err := g.app.Store.AppendCalls(t.Context(), []store.Call{c}); err != nil {
			t.Fatal(err)
		}
	}
	status, body = g.ask(t, "eye", "GET", "/api/v1/policy", "")
	if list := decodeAs[restapi.PolicyList](t, status, body); list.ByDefault != 0 || list.Rules[1].Hits != 5 || list.Rules[2].Hits != 0 {
		t.Errorf("%s", body)
	}
}

func TestOnlyThoseWhoReadEverythingSeeWhichRulesApplied(t *testing.T) {
	g := newGatewayWith(t, policyText)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	id := g.call(t, "ann", "shop__list_orders", `{"limit":2}`) // there is no status: the rule fails
	for who, sees := range map[string]bool{"ann": false, "eye": true, "root": true} {
		for _, path := range []string{"/api/v1/calls", "/api/v1/calls/" + id} {
			_, body := g.ask(t, who, "GET", path, "")
			if !strings.Contains(body, id) || strings.Contains(body, `"policy":"watch paid"`) != sees || !sees && strings.Contains(body, "rule paid") {
				t.Errorf("%s %s: %s", who, path, body)
			}
		}
	}
	status, body := g.ask(t, "eye", "GET", "/api/v1/calls?policy=paid", "")
	if page := decodeAs[restapi.CallPage](t, status, body); len(page.Calls) != 1 {
		t.Errorf("%s", body)
	}
	if _, body := g.ask(t, "eye", "GET", "/api/v1/calls?policy=few", ""); strings.Contains(body, id) {
		t.Errorf("%s", body)
	}
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/calls?policy=paid", ""); status != 403 {
		t.Errorf("a caller learns by a filter which rules there are: HTTP %d", status)
	}
}

func TestWhatWouldBeDecidedIsExplained(t *testing.T) {
	g := newGatewayWith(t, policyText)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	person := store.Person{
		ID: "p1", Issuer: "https://idp.example.com", Subject: "s1", Kind: "user", Name: "eve@example.com", Groups: []string{"eng"},
		Role: "caller", Profile: "orders", SeenAt: time.Now(),
	}
	if err := g.app.Store.SavePerson(t.Context(), person); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, question, verdict, outcomes string
	}{
		{"arguments are fitted first", `{"tool":"shop__list_orders","arguments":{"limit":"20","status":"paid"}}`, "deny", "true false not selected"},
		{"a person has the groups of the last sign-in",
			`{"tool":"shop__list_orders","as":{"who":"user:eve@example.com"},"arguments":{"limit":20}}`, "allow", "false error not selected"},
		{"what is given replaces what is known", `{"tool":"shop__list_orders","as":{"who":"user:p1","groups":[]},"arguments":{"limit":20}}`,
			"deny", "true error not selected"},
		{"without arguments it depends", `{"tool":"shop__list_orders","as":{"who":"key:ann"}}`, "open", "unknown unknown not selected"},
		{"a key is found by its name", `{"tool":"shop__get_order","as":{"who":"key:ann"},"arguments":null}`, "deny", "not selected not selected true"},
		{"another key is not", `{"tool":"shop__get_order","as":{"who":"key:bob"}}`, "allow", "not selected not selected not selected"},
	} {
		status, body := g.ask(t, "root", "POST", "/api/v1/policy/explain", tc.question)
		answer := decodeAs[restapi.PolicyAnswer](t, status, body)
		var outcomes []string
		for _, r := range answer.Rules {
			outcomes = append(outcomes, string(r.Outcome))
		}
		if string(answer.Verdict) != tc.verdict || strings.Join(outcomes, " ") != tc.outcomes {
			t.Errorf("%s: %s", tc.name, body)
		}
	}
	for question, want := range map[string]int{
		`{"tool":"shop__nope"}`: 404, `{"tool":""}`: 400, `{"tool":"shop__get_order","as":{"who":"key:nobody"}}`: 404, `[]`: 400,
		`{"tool":"shop__get_order","as":{"kind":"usr"}}`:    400,
		`{"tool":"shop__get_order","as":{"who":"key:eye"}}`: 403, `{"tool":"cloud__envQuery","profile":"wide","as":{"who":"key:ann"}}`: 403,
	} {
		if status, body := g.ask(t, "root", "POST", "/api/v1/policy/explain", question); status != want {
			t.Errorf("%s: HTTP %d: %s", question, status, body)
		}
	}
	for _, who := range []string{"ann", "eye"} {
		if status, _ := g.ask(t, who, "POST", "/api/v1/policy/explain", `{"tool":"shop__get_order"}`); status != 403 {
			t.Errorf("%s: HTTP %d", who, status)
		}
	}
	if status, body := g.ask(t, "root", "GET", "/api/v1/calls", ""); status != 200 || strings.Contains(body, "get_order") {
		t.Errorf("explaining has made a call: %s", body)
	}
}
