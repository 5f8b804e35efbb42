package restapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestARuleIsTriedOnAKeptResultAndChangesNothing(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	g.ask(t, "root", "PUT", "/api/v1/rules/orders", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	kept := g.callModel(t, "ann", "shop__list_orders", `{"limit":3}`)
	before := g.rules(t)
	tests := []struct {
		name, who, rule string
		status          int
		has             string
	}{
		{"the owner tries a mask", "ann", `{"tool":"shop__list_orders","keep":"orders(id)"}`, 200, `"outcome":"projected","holds":true`},
		{"a viewer does", "eye", `{"tool":"shop__*","keep":"orders(id)"}`, 200, `"outcome":"projected","holds":true`},
		{"another caller knows nothing of it", "bob", `{"tool":"shop__list_orders","keep":"orders(id)"}`, 404, "there is no result"},
		{"a rule for other calls says so", "ann", `{"tool":"shop__list_orders","when":{"limit":4},"keep":"orders(id)"}`, 200,
			`"holds":false`},
		{"a rule for another tool says so", "ann", `{"tool":"cloud__x","keep":"orders(id)"}`, 200, `"outcome":"projected","holds":false`},
		{"names that are not there", "ann", `{"tool":"shop__list_orders","keep":"orders(id,Nope)"}`, 200, `"unseen":["Nope"]`},
		{"no name fits", "ann", `{"tool":"shop__list_orders","keep":"Nope"}`, 200, `"outcome":"shape_mismatch"`},
		{"a rule that is off is tried as if it was on", "ann", `{"tool":"shop__list_orders","keep":"orders(id)","mode":"off"}`, 200,
			`"outcome":"projected","holds":true`},
		{"a wrong mask", "ann", `{"tool":"shop__list_orders","keep":"orders("}`, 400, "keep: at byte"},
		{"jq is not for callers", "ann", `{"tool":"shop__list_orders","jq":"."}`, 403, "may not run jq"},
		{"nor for viewers", "eye", `{"tool":"shop__list_orders","jq":"."}`, 403, "may not run jq"},
		{"an administrator's program", "root", `{"tool":"shop__list_orders","jq":".orders|length"}`, 200, `"outcome":"projected"`},
		{"a program that never ends is ended", "root", `{"tool":"shop__list_orders","jq":"def f: f; f"}`, 200,
			`"outcome":"projection_failed","reason":`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := g.ask(t, tt.who, "POST", "/api/v1/results/"+kept.Ref+"/try", tt.rule)
			if status != tt.status || !strings.Contains(body, tt.has) {
				t.Errorf("HTTP %d, want %s: %.600s", status, tt.has, body)
			}
		})
	}
	after := g.rules(t)
	if len(after) != len(before) || after["orders"].Counts != before["orders"].Counts {
		t.Errorf("trying has changed the rules: %+v, before %+v", after, before)
	}
}

func TestWhoListsResults(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	g.ask(t, "root", "PUT", "/api/v1/rules/orders", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	for range 3 {
		g.callModel(t, "ann", "shop__list_orders", `{"limit":3}`)
	}
	for who, want := range map[string]int{"ann": 3, "bob": 0, "eye": 3, "root": 3} {
		if got := g.results(t, who, ""); len(got.Results) != want {
			t.Errorf("%s sees %d results, want %d", who, len(got.Results), want)
		}
	}
	first := g.results(t, "ann", "?limit=2")
	rest := g.results(t, "ann", "?limit=2&cursor="+first.Next)
	if len(first.Results) != 2 || len(rest.Results) != 1 || rest.Next != "" || rest.Results[0].Ref == first.Results[1].Ref {
		t.Errorf("pages %+v and %+v", first, rest)
	}
	if h := first.Results[0]; h.Rule != "orders" || h.Bytes < 500 || h.Tool != "shop__list_orders" {
		t.Errorf("%+v", h)
	}
	if got := g.results(t, "root", "?tool=cloud__envQuery"); len(got.Results) != 0 {
		t.Errorf("another tool has %+v", got)
	}
}

func (g *gateway) results(t testing.TB, who, query string) (list restapi.ResultList) {
	t.Helper()
	status, body := g.ask(t, who, "GET", "/api/v1/results"+query, "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	return list
}
