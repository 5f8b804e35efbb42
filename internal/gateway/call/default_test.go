package call

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// texts is a result with these texts and, before its end, what else there is.
func texts(more string, blocks ...string) string {
	for i, s := range blocks {
		blocks[i] = string(rawjson.AppendString([]byte(`{"type":"text","text":`), s)) + "}"
	}
	return `{"content":[` + strings.Join(blocks, ",") + `]` + more + `}`
}

// costing is prose of so many tokens.
func costing(t *testing.T, n int) string {
	s := strings.Repeat(" word", n)
	if got := tokens.Count(s); got != n {
		t.Fatalf("%d tokens", got)
	}
	return s
}

// Without configuration long text is cut and can be fetched; everything else is as the server sent it.
func TestTheDefaultBudgetCutsTextAlone(t *testing.T) {
	w := newWorld(t, "", nil)
	w.answer = rows(900)
	res := w.must("ann", "cloud__env", `{}`)
	sent := text(t, res.Raw)
	if n := tokens.Estimate(sent); n > config.DefaultBudget+100 || n < config.DefaultBudget/4 {
		t.Errorf("%d tokens", n)
	}
	if res.Ref == "" || !strings.Contains(sent, res.Ref) {
		t.Errorf("ref %q: %s", res.Ref, sent[len(sent)-200:])
	}
	whole := rawjson.Get(json.RawMessage(w.answer), "structuredContent")
	if got := rawjson.Get(res.Raw, "structuredContent"); string(got) != string(whole) {
		t.Errorf("structuredContent is %.200s", got)
	}
	var entries []string
	for tools := rawjson.Array(rawjson.Get(w.list(), "tools")); tools.Next(); {
		name, _ := rawjson.String(rawjson.Get(tools.Value, "name"))
		entries = append(entries, name)
		if output := rawjson.Get(json.RawMessage(envTool), "outputSchema"); name == "cloud__env" &&
			string(rawjson.Get(tools.Value, "outputSchema")) != string(output) {
			t.Errorf("the list has %s", tools.Value)
		}
	}
	if strings.Join(entries, " ") != "cloud__env cloud__own fetch_result" {
		t.Errorf("listed: %q", entries)
	}
	n := 0
	for next := "0"; next != ""; { // pages of their own size, which are not cut again
		var value json.RawMessage
		value, next = w.part("ann", `{"ref":"`+res.Ref+`","offset":`+next+`}`)
		for list := rawjson.Array(rawjson.Get(value, "rows")); list.Next(); {
			n++
		}
	}
	if n != 900 {
		t.Errorf("%d rows were fetched", n)
	}
	for _, rec := range w.records[1:] {
		if rec.Tool != FetchResult || rec.TokensSent > fetchBudget*5/4 || rec.TokensSent != rec.TokensFull {
			t.Errorf("%+v", rec)
		}
	}
}

func TestWhatTheDefaultBudgetLeavesWhole(t *testing.T) {
	long := costing(t, config.DefaultBudget+1)
	image := `{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgoAAAA", 20_000) + `"}`
	for name, answer := range map[string]string{
		"as many tokens as it has": texts("", costing(t, config.DefaultBudget)),
		"an image":                 `{"content":[{"type":"text","text":"a picture"},` + image + `]}`,
		"audio":                    `{"content":[` + strings.NewReplacer("image/png", "audio/wav", "image", "audio").Replace(image) + `]}`,
		"a blob": `{"content":[{"type":"resource","resource":{"uri":"a://b","blob":"` +
			strings.Repeat("QUJD", 90_000) + `"}}]}`,
		"an error":                      texts(`,"isError":true`, long),
		"structuredContent alone":       `{"content":[],"structuredContent":{"text":"` + strings.Repeat("word ", 90_000) + `"}}`,
		"structuredContent, short text": texts(`,"structuredContent":{"text":"`+strings.Repeat("word ", 90_000)+`"}`, "see there"),
		"no result at all":              `{"content":"` + strings.Repeat("word ", 90_000) + `"}`,
		"escapes alone":                 texts("", strings.Repeat("\"", 24_999)),
	} {
		w := newWorld(t, "", nil)
		w.answer = answer
		if res := w.must("ann", "cloud__own", `{}`); string(res.Raw) != answer || res.Ref != "" {
			t.Errorf("%s: %.100s … %.300s", name, res.Raw, res.Raw[len(res.Raw)-300:])
		}
	}
}

func TestWhoseTextTheDefaultBudgetCuts(t *testing.T) {
	model := Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default"}
	person := model
	person.Reader = Person
	ruled := model
	ruled.AsRuled = true
	agent := model
	agent.MaxChars = 1_000_000
	for _, c := range []struct {
		name, config string
		req          Request
		cut          bool
	}{
		{"a model", "", model, true},
		{"an agent that takes more", "", agent, true},
		{"an agent with a budget of its own", "", Request{Principal: model.Principal, Profile: "default", Budget: 90_000}, false},
		{"a rule without a budget", "results: [{tool: cloud__own, keep: a}]\n", model, true},
		{"a rule with a budget", "results: [{tool: cloud__own, budget: 90000}]\n", model, false},
		{"a budget set by hand", "profiles: {default: {budget: 90000}}\n", model, false},
		{"no budget", "profiles: {default: {budget: 0}}\n", model, false},
		{"nothing is stored", "resultStore: none\n", model, false},
		{"it could not be fetched", "profiles: {default: {tools: {deny: [fetch_result]}}}\n", model, false},
		{"a person or a service", "", person, false},
		{"cut as configured", "", ruled, false},
	} {
		w := newWorld(t, c.config, nil)
		w.answer = texts("", strings.Repeat("字", 20_000), costing(t, 20_000))
		res, err := w.as(c.req, "cloud__own", `{}`)
		if err != nil || (string(res.Raw) != w.answer) != c.cut || c.cut != (res.Ref != "") {
			t.Errorf("%s: %v, ref %q, %d of %d bytes", c.name, err, res.Ref, len(res.Raw), len(w.answer))
		}
	}
}

func TestFetchResultIsListedWhereSomethingMayBeCutOrDetached(t *testing.T) {
	const off = "detach: off\n"
	for config, want := range map[string]bool{
		off: true,
		off + "profiles: {default: {budget: 500}}\n":                             true,
		off + "profiles: {default: {budget: 0}}\n":                               false,
		off + "profiles: {default: {budget: 0}}\n" + keepIDs:                     true,
		off + "profiles: {default: {budget: 0, paging: true}}\n":                 true,
		off + "resultStore: none\n":                                              false,
		off + "resultStore: none\noverrides: [{tool: cloud__env, detach: 5s}]\n": true,
		"":                    true,
		"resultStore: none\n": true,
		"resultStore: none\nprofiles: {default: {detach: off}}\n": false,
		"profiles: {default: {budget: 0}}\n":                      true,
		"profiles: {default: {tools: {deny: [fetch_result]}}}\n":  false,
		"profiles: {default: {tools: {deny: ['*']}}}\n":           false,
	} {
		if got := strings.Contains(string(newWorld(t, config, nil).list()), FetchResult); got != want {
			t.Errorf("%q: %v", config, got)
		}
	}
}

// list is the list that MCP clients of the profile get.
func (w *world) list() json.RawMessage {
	w.t.Helper()
	view, err := w.tools.View("default")
	if err != nil {
		w.t.Fatal(err)
	}
	return view.List()
}
