package call

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestRecordHasTheArgumentsAsSentAndAsFittedWhereTheyDiffer(t *testing.T) {
	w := newWorld(t, "profiles: {default: {paging: true}}\n"+keepIDs, nil)
	for _, c := range []struct{ tool, args, sent, fitted string }{
		{"cloud__env", `{"action":"list"}`, "", ""},
		{"cloud__env", `{}`, "", ""},
		{"cloud__env", `"{\"action\":\"list\"}"`, `"{\"action\":\"list\"}"`, `{"action":"list"}`},
		{"cloud__env", `{"action":"list","_limit":1}`, `{"action":"list","_limit":1}`, `{"action":"list"}`},
		{"cloud__env", `{"action":{"a":1}}`, `{"action":{"a":1}}`, ""},
		{"cloud__env", `{"_limit":"many"}`, `{"_limit":"many"}`, ""},
		{"fetch_result", `{"nothing":1}`, `{"nothing":1}`, ""},
	} {
		_, _ = w.do("ann", c.tool, c.args) // whether it worked is not what is asked
		got := w.records[len(w.records)-1].Arguments
		if got == nil {
			got = &store.Arguments{}
		}
		if string(got.Sent) != c.sent || string(got.Fitted) != c.fitted {
			t.Errorf("%s %s: sent %s, fitted %s", c.tool, c.args, got.Sent, got.Fitted)
		}
	}
}

func TestRecordOfCallToolHasTheArgumentsOfTheToolThatIsMeant(t *testing.T) {
	w := newWorld(t, "profiles: {default: {search: on}}\n", nil)
	for args, sent := range map[string]string{
		`{"name":"cloud__env","arguments":{"action":"list"}}`: "",
		`{"name":"cloud__env","arguments":{"action":7}}`:      `{"action":7}`,
		`{"arguments":{}}`: `{"arguments":{}}`,
	} {
		_, _ = w.do("ann", "call_tool", args)
		got := w.records[len(w.records)-1].Arguments
		if (got != nil) != (sent != "") || got != nil && string(got.Sent) != sent {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestFailedFallbackLeavesTheArgumentsOfTheCallItself(t *testing.T) {
	w := newWorld(t, "overrides: [{tool: cloud__env, fallback: [{tool: cloud__gone}]}]\n", nil)
	w.answer = "[]" // it is no result
	params, err := NewParams("cloud__env", json.RawMessage(`{"action":"list"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Do(t.Context(), Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", Params: params}); err == nil {
		t.Fatal("it worked")
	}
	if got := w.records[0].Arguments; got != nil {
		t.Errorf("kept %+v of arguments that fitted", got)
	}
}

func TestArgumentsOfKeptResultsHaveNoSecrets(t *testing.T) {
	w := newWorld(t, "resultStore: all\n", nil)
	w.opts.Redact = strings.NewReplacer("hush", "***", `":"tear`, "***").Replace
	for args, want := range map[string]string{
		`{"action":"hush"}`: `{"action":"***"}`,
		`{"action":"list"}`: `{"action":"list"}`,
		`{"action":"tear"}`: `{}`,
	} {
		kept, err := w.store.Result(t.Context(), "ann", w.must("ann", "cloud__env", args).Ref)
		if err != nil || string(kept.Args) != want {
			t.Errorf("%s: kept %s, %v", args, kept.Args, err)
		}
		if sent := string(w.sent[len(w.sent)-1].Params); !strings.Contains(sent, args) {
			t.Errorf("the server got %s", sent)
		}
	}
}
