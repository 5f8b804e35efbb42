package restapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// callModel makes a call whose result is for a model.
func (g *gateway) callModel(t testing.TB, who, tool, args string) (answer restapi.CallAnswer) {
	t.Helper()
	status, body := g.ask(t, who, "POST", "/api/v1/tools/"+tool+"/call?view=model", args)
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	return answer
}

func TestWhoReadsAResult(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	g.ask(t, "root", "PUT", "/api/v1/rules/orders", `{"tool":"shop__list_orders","keep":"orders(id)"}`)
	answer := g.callModel(t, "ann", "shop__list_orders", `{"limit":3}`)
	if answer.Ref == "" || answer.Rule != "orders" || !strings.Contains(string(answer.Result), answer.Ref) {
		t.Fatalf("%+v", answer)
	}
	for _, id := range []string{answer.Ref, answer.ID} {
		for who, want := range map[string]int{"ann": 200, "bob": 404, "eye": 200, "root": 200, "": 401} {
			status, body := g.ask(t, who, "GET", "/api/v1/results/"+id, "")
			if status != want || want == 200 && !strings.Contains(body, `"customer`) {
				t.Errorf("%q reads %s: HTTP %d: %.300s", who, id, status, body)
			}
		}
	}
	_, foreign := g.ask(t, "bob", "GET", "/api/v1/results/"+answer.Ref, "")
	_, unknown := g.ask(t, "bob", "GET", "/api/v1/results/r_zzzzzzzz", "")
	if strings.ReplaceAll(foreign, answer.Ref, "r_zzzzzzzz") != unknown {
		t.Errorf("another's result is told from one that is not there:\n%s\n%s", foreign, unknown)
	}
}

func TestViewSaysWhoReads(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	for query, cut := range map[string]bool{"": false, "?view=full": false, "?view=model": true, "?for=openai": true,
		"?for=openai&view=full": false} {
		_, body := g.ask(t, "root", "POST", "/api/v1/tools/cloud__envQuery/call"+query, `{"action":"list"}`)
		if strings.Contains(body, "_omitted") != cut || strings.Contains(body, "LogServices\\\":[{") == cut ||
			strings.Contains(body, `"ref":"r_`) != cut {
			t.Errorf("%q: %.400s", query, body)
		}
	}
	if status, body := g.ask(t, "root", "POST", "/api/v1/tools/cloud__envQuery/call?view=half", `{}`); status != 400 {
		t.Errorf("HTTP %d: %s", status, body)
	}
}

// The shipped rule, in exact tokens: at most a tenth of the pretty JSON that the server sends.
func TestDemoListCostsATenth(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	answer := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`)
	var kept restapi.Result
	_, body := g.ask(t, "root", "GET", "/api/v1/results/"+answer.Ref+"?count=o200k", "")
	if err := json.Unmarshal([]byte(body), &kept); err != nil || kept.Tokens == nil || kept.Tokens.Count != tokens.O200k {
		t.Fatalf("%v: %.300s", err, body)
	}
	if n := strings.Count(string(kept.Result), `EnvId`); n < 40 {
		t.Errorf("the full result has %d rows", n)
	}
	full, sent := textTokens(t, kept.Result), textTokens(t, answer.Result)
	t.Logf("pretty JSON %d tokens, sent %d (%.1f %%); whole result %d, sent %d", full, sent, 100*float64(sent)/float64(full),
		kept.Tokens.Full, kept.Tokens.Sent)
	if sent*10 > full || kept.Tokens.Sent != sent || kept.Tokens.Full != full {
		t.Errorf("%d of %d, said to be %d of %d", sent, full, kept.Tokens.Sent, kept.Tokens.Full)
	}
}

// textTokens counts what a model reads of a result: its text.
func textTokens(t *testing.T, raw json.RawMessage) int {
	t.Helper()
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(raw, &result); err != nil || len(result.Content) == 0 {
		t.Fatalf("%v: %.200s", err, raw)
	}
	n := 0
	for _, c := range result.Content {
		n += tokens.Count(c.Text)
	}
	return n
}

// One call, whoever is asked what it cost: the record, the sums, the kept result, a rule that is
// tried on it, and the counters of its rule.
func TestOneCallCostsTheSameEverywhere(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	answer := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`)
	read := func(method, path, body string, into any) {
		t.Helper()
		if status, text := g.ask(t, "root", method, "/api/v1"+path, body); status != 200 || json.Unmarshal([]byte(text), into) != nil {
			t.Fatalf("%s: HTTP %d: %.300s", path, status, text)
		}
	}
	var sums restapi.SavingsList
	read("GET", "/savings?by=rule", "", &sums)
	var record restapi.Call
	read("GET", "/calls/"+answer.ID, "", &record)
	var kept restapi.Result
	read("GET", "/results/"+answer.Ref+"?count=estimate", "", &kept)
	var rules restapi.RuleList
	read("GET", "/rules", "", &rules)
	full, sent := int64(project.Tokens(kept.Result)), int64(project.Tokens(answer.Result))
	if text := tokens.Sampled(project.Text(answer.Result)); sent*100 < int64(text)*90 || sent*100 > int64(text)*110 {
		t.Errorf("%d tokens, the text has %d", sent, text)
	}
	var tried restapi.Trial
	rule := rules.Rules[slices.IndexFunc(rules.Rules, func(r restapi.Rule) bool { return r.ID == answer.Rule })]
	read("POST", "/results/"+answer.Ref+"/try", fmt.Sprintf(`{"tool":"cloud__envQuery","keep":%q}`, rule.Keep), &tried)
	for what, got := range map[string][2]int64{
		"record":  {record.TokensFull, record.TokensSent},
		"savings": {sums.Total.TokensFull, sums.Total.TokensSent},
		"result":  {int64(kept.Tokens.Full), int64(kept.Tokens.Sent)},
		"trial":   {int64(tried.Tokens.Full), int64(tried.Tokens.Sent)},
		"rule":    {rule.Counts.TokensFull, rule.Counts.TokensSent},
	} {
		if got != [2]int64{full, sent} {
			t.Errorf("%s: %d tokens, %d sent; want %d, %d", what, got[0], got[1], full, sent)
		}
	}
}

func TestSavingsByRuleShowWhatARuleInShadowWouldHaveSaved(t *testing.T) {
	g := newGatewayWith(t, `
resultStore: all
results:
  - {id: later, tool: shop__list_orders, keep: "orders(id)", mode: shadow}
  - {id: never, tool: shop__category_tree, keep: "nothing_like_it", mode: shadow}
`)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	whole := g.callModel(t, "root", "shop__list_orders", `{"limit":20}`)
	g.callModel(t, "root", "shop__category_tree", `{}`)
	if strings.Contains(string(whole.Result), "_omitted") {
		t.Fatalf("a rule in shadow has cut: %.300s", whole.Result)
	}
	for _, count := range []string{"estimate", "o200k"} {
		status, body := g.ask(t, "root", "GET", "/api/v1/savings?by=rule&count="+count, "")
		var list restapi.SavingsList
		if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || len(list.Savings) != 2 {
			t.Fatalf("%s: HTTP %d, %v: %s", count, status, err, body)
		}
		none, later := list.Savings[0], list.Savings[1]
		if later.Key != "later" || !later.Shadow || later.Calls != 1 || later.TokensSent == 0 || later.Saved < .5 {
			t.Errorf("%s: %+v", count, later)
		}
		if none.Key != "" || none.Shadow || none.Calls != 2 || none.Saved != 0 || list.Total.Calls != 2 || list.Total.Saved != 0 {
			t.Errorf("%s: the whole was sent: %+v, %+v", count, none, list.Total)
		}
	}
}

func TestSavingsAreLabeled(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "")
	answer := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`)
	wait(t, "the record", func() bool {
		status, _ := g.ask(t, "root", "GET", "/api/v1/calls/"+answer.ID, "")
		return status == 200
	})
	for query, want := range map[string]string{
		"":                       `"by":"tool","count":"estimate","of":"calls"`,
		"?by=rule":               `"key":"cloud-envQuery-list"`,
		"?by=profile":            `"tokens_definition"`,
		"?by=tool&count=o200k":   `"by":"tool","count":"o200k","of":"results"`,
		"?by=day&count=estimate": `"by":"day"`,
	} {
		status, body := g.ask(t, "eye", "GET", "/api/v1/savings"+query, "")
		var list restapi.SavingsList
		if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || !strings.Contains(body, want) {
			t.Fatalf("%q: HTTP %d, %v: %s", query, status, err, body)
		}
		if list.Total.Calls != 1 || list.Total.Saved < .85 {
			t.Errorf("%q: %+v", query, list.Total)
		}
	}
	for query, want := range map[string]int{"?count=claude": 400, "?since=yesterday": 400, "?by=x&count=o200k": 400} {
		if status, body := g.ask(t, "eye", "GET", "/api/v1/savings"+query, ""); status != want {
			t.Errorf("%q: HTTP %d: %s", query, status, body)
		}
	}
	if status, _ := g.ask(t, "ann", "GET", "/api/v1/savings", ""); status != 403 {
		t.Errorf("a caller reads what others saved: HTTP %d", status)
	}
}
