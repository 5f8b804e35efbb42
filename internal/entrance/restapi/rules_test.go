package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func (g *gateway) rules(t testing.TB) map[string]restapi.Rule {
	t.Helper()
	status, body := g.ask(t, "eye", "GET", "/api/v1/rules", "")
	var list restapi.RuleList
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	byID := map[string]restapi.Rule{}
	for _, r := range list.Rules {
		byID[r.ID] = r
	}
	return byID
}

func TestWhoChangesRules(t *testing.T) {
	g := newGateway(t)
	const rule = `{"tool":"shop__list_orders","keep":"orders(id)"}`
	for who, want := range map[string]int{"ann": 403, "eye": 403, "": 401, "root": 200} {
		if status, body := g.ask(t, who, "PUT", "/api/v1/rules/mine", rule); status != want {
			t.Errorf("%q: HTTP %d: %s", who, status, body)
		}
	}
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/rules", ""); status != 403 {
		t.Errorf("a caller reads the rules: HTTP %d", status)
	}
	if status, _ := g.ask(t, "eye", "DELETE", "/api/v1/rules/mine", ""); status != 403 {
		t.Errorf("a viewer deletes: HTTP %d", status)
	}
}

func TestAWrongRuleIsRefusedAndTheOldOneStays(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "PUT", "/api/v1/rules/mine", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	for body, want := range map[string]string{
		`{"tool":"shop__list_orders","keep":"orders(id"}`:      "keep: at byte 9",
		`{"tool":"shop__list_orders","keep":"a,,b"}`:           "keep: at byte 2",
		`{"tool":"shop__list_orders","kep":"a"}`:               "did you mean",
		`{"tool":"shop__list_orders","keep":"a","jq":"."}`:     "one of keep, drop and jq",
		`{"tool":"shop__list_orders","jq":".["}`:               "jq:",
		`{"tool":"","keep":"a"}`:                               "tool",
		`{"keep":"a"}`:                                         "tool: is missing",
		`{"tool":"x","keep":"a","profile":"nope"}`:             "there is no profile",
		`{"tool":"x","keep":"a","mode":"maybe"}`:               "mode",
		`{"tool":"x","keep":"a","when":{"b":{}}}`:              "when",
		`{"tool":"x","keep":"a","budget":-1}`:                  "budget",
		`{"tool":"x","keep":"a","id":"other"}`:                 "the path says",
		`{"tool":"x","keep":"${HOME}"}`:                        "HOME",
		`[1]`:                                                  "must be a JSON object",
		``:                                                     "the rule",
		`{"tool":"shop__list_orders","keep":"` + "\xff" + `"}`: "UTF-8",
	} {
		status, answer := g.ask(t, "root", "PUT", "/api/v1/rules/mine", body)
		if status != 400 || !strings.Contains(answer, want) {
			t.Errorf("%s: HTTP %d: %s", body, status, answer)
		}
	}
	if got := g.rules(t)["mine"]; got.Keep != "orders(id)" || got.Mode != "on" || got.Source != restapi.FromStore {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{"results[0]", "-x", "a b", strings.Repeat("x", 129), "%E5%A5%BD"} {
		path := "/api/v1/rules/" + strings.ReplaceAll(id, " ", "%20")
		if status, answer := g.ask(t, "root", "PUT", path, `{"tool":"x","keep":"a"}`); status != 400 {
			t.Errorf("id %q: HTTP %d: %s", id, status, answer)
		}
	}
}

func TestRulesHaveASourceAndCounts(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	if r := g.rules(t)["cloud-envQuery-list"]; r.Source != restapi.FromBuiltin || r.Mode != "on" {
		t.Errorf("%+v", r)
	}
	g.ask(t, "root", "PUT", "/api/v1/rules/watched", `{"tool":"shop__list_orders","keep":"orders(id)","mode":"shadow"}`)
	whole := g.callModel(t, "ann", "shop__list_orders", `{"limit":2}`)
	if strings.Contains(string(whole.Result), "_omitted") || whole.Ref != "" {
		t.Errorf("a rule in shadow cuts: %s", whole.Result)
	}
	if n := g.rules(t)["watched"].Counts; n.Shadowed != 1 || n.TokensSent >= n.TokensFull || n.TokensSent == 0 || n.Projected != 0 {
		t.Errorf("%+v", n)
	}
	g.ask(t, "root", "PUT", "/api/v1/rules/watched", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	g.callModel(t, "ann", "shop__list_orders", `{"limit":2}`)
	if n := g.rules(t)["watched"].Counts; n.Shadowed != 0 || n.Projected != 1 || n.TokensSent >= n.TokensFull {
		t.Errorf("counted with what another rule of the id did: %+v", n)
	}
}

// A rule of the store for the same tool counts before the built-in one, however little it asks.
func TestABuiltInRuleYields(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	g.ask(t, "root", "PUT", "/api/v1/rules/mine", `{"tool":"cloud__envQuery","keep":"TotalCount"}`)
	if a := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`); a.Rule != "mine" {
		t.Errorf("cut by %q", a.Rule)
	}
	g.ask(t, "root", "DELETE", "/api/v1/rules/mine", "")
	g.ask(t, "root", "PUT", "/api/v1/rules/cloud-envQuery-list", `{"tool":"cloud__envQuery","keep":"TotalCount","mode":"off"}`)
	if a := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`); a.Rule != "" {
		t.Errorf("cut by %q, which is switched off", a.Rule)
	}
}

func TestRuleChangesAreTold(t *testing.T) {
	g := newGateway(t)
	root := g.listen(t, "root", `{"type":"subscribe","topics":["rule.changed"]}`)
	g.ask(t, "root", "PUT", "/api/v1/rules/mine", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	g.ask(t, "root", "DELETE", "/api/v1/rules/mine", "")
	for _, want := range []string{`"mode":"on"`, `"reason":"it was deleted"`} {
		if e := root.next(); e.Type != "rule.changed" || !strings.Contains(string(e.Data), want) {
			t.Errorf("%s: %s", e.Type, e.Data)
		}
	}
}
