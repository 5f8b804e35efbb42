package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestWhatIsLeftOutIsSaidAndCanBeFetched(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	res := w.must("ann", "cloud__env", `{}`)
	for what, value := range map[string]string{"text": text(t, res.Raw), "structuredContent": string(rawjson.Get(res.Raw, "structuredContent"))} {
		if strings.Contains(value, "blob\":\"") || !strings.Contains(value, `{"rows":[{"id":1},{"id":2},{"id":3}],"total":3,"_omitted":{"fields":["blob","name","secret"],"ref":"`+res.Ref+`"`) {
			t.Errorf("%s is %s", what, value)
		}
	}
	if rec := w.records[0]; rec.Rule != "ids" || rec.Ref != res.Ref || res.Rule != "ids" || rec.TokensSent >= rec.TokensFull || rec.TokensSent != int64(tokens.Estimate(text(t, res.Raw))) || rec.BytesSent >= rec.BytesFull {
		t.Errorf("%+v", rec)
	}
	whole := rawjson.Get(json.RawMessage(w.answer), "structuredContent")
	if value, next := w.part("ann", `{"ref":"`+res.Ref+`"}`); !bytes.Equal(value, whole) || next != "" {
		t.Errorf("the whole is %s, next %s", value, next)
	}
	if value, _ := w.part("ann", `{"ref":"`+res.Ref+`","fields":"secret"}`); string(value) != `{"secret":"s"}` {
		t.Errorf("a field is %s", value)
	}
	if value, next := w.part("ann", `{"ref":"`+res.Ref+`","fields":"rows(id)","offset":1,"limit":1}`); string(value) != `{"rows":[{"id":2}]}` || next != "2" {
		t.Errorf("a page is %s, next %s", value, next)
	}
	if len(w.sent) != 1 {
		t.Errorf("%d upstream requests", len(w.sent))
	}
	last := w.records[len(w.records)-1]
	if last.Tool != FetchResult || last.Rule != "ids" || last.Ref != res.Ref || last.Message != Fetched+"rows(id)" {
		t.Errorf("%+v", last)
	}
	if n := w.RuleCount("ids"); n.Projected != 1 || n.Fetched != 3 || n.TokensSent >= n.TokensFull {
		t.Errorf("%+v", n)
	}
}

func TestARefIsItsOwnersAlone(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	ref := w.must("ann", "cloud__env", `{}`).Ref
	_, foreign := w.do("bob", "fetch_result", `{"ref":"`+ref+`"}`)
	_, unknown := w.do("bob", "fetch_result", `{"ref":"r_22222222"}`)
	w.clock = w.clock.Add(25 * time.Hour)
	_, expired := w.do("ann", "fetch_result", `{"ref":"`+ref+`"}`)
	for what, err := range map[string]error{"another's": foreign, "expired": expired} {
		if !fault.Is(err, fault.NotFound) || strings.ReplaceAll(err.Error(), ref, "r_22222222") != unknown.Error() {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.do("ann", "fetch_result", `{"ref":""}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("an empty ref: %v", err)
	}
}

func TestWhichResultsAreKept(t *testing.T) {
	for _, c := range []struct {
		name, config, args string
		tool               string
		kept               bool
	}{
		{"cut, and something is", keepIDs, `{}`, "cloud__env", true},
		{"cut, and nothing is", keepIDs, `{}`, "cloud__own", false},
		{"all, and something is cut", keepIDs + "resultStore: all\n", `{}`, "cloud__env", true},
		{"all, and nothing is cut", keepIDs + "resultStore: all\n", `{}`, "cloud__own", true},
		{"none, and something is cut", keepIDs + "detach: off\nresultStore: none\n", `{}`, "cloud__env", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.config, nil)
			res := w.must("ann", c.tool, c.args)
			list, err := w.store.Results(t.Context(), store.ResultFilter{})
			if err != nil || len(list) > 0 != c.kept || (res.Ref != "") != c.kept {
				t.Errorf("%d are kept, ref %q, %v", len(list), res.Ref, err)
			}
			if c.kept && (string(list[0].Body) != w.answer || list[0].Owner != "ann" || list[0].Call != res.ID) {
				t.Errorf("kept is %+v", list[0])
			}
			if strings.Contains(c.config, "none") {
				if note := omitted(res.Raw); note == nil || rawjson.Get(note, "ref") != nil {
					t.Errorf("the note is %s", note)
				}
				if view, _ := w.tools.View("default"); view.Named("fetch_result") != nil {
					t.Error("fetch_result is offered, and nothing is kept")
				}
			}
		})
	}
}

// keeper is a place for results that does as told.
type keeper struct {
	keep func(store.Result) error
}

func (k keeper) SaveResult(_ context.Context, r store.Result) error { return k.keep(r) }
func (keeper) Result(context.Context, string, string) (store.Result, error) {
	return store.Result{}, errors.New("not asked here")
}

func TestATakenRefIsReplaced(t *testing.T) {
	tries := 0
	w := newWorld(t, keepIDs, &Options{Results: keeper{func(store.Result) error {
		if tries++; tries < 3 {
			return fault.New(fault.Conflict, "taken")
		}
		return nil
	}}})
	if res := w.must("ann", "cloud__env", `{}`); res.Ref == "" || tries != 3 {
		t.Errorf("%q after %d tries", res.Ref, tries)
	}
}

func TestEmptyMembersGoWhereTheProfileSaysSo(t *testing.T) {
	row := `{"id":7,"note":null,"tags":[],"owner":{},"comment":""}`
	all := `{"rows":[` + strings.Repeat(row+",", 40) + row + `]}`
	w := newWorld(t, "profiles: {default: {dropEmpty: true}}\n", nil)
	w.answer = resultOf(all)
	res := w.must("ann", "cloud__env", `{}`)
	if got := text(t, res.Raw); strings.Contains(got, "null") || !strings.Contains(got, `{"id":7},{"id":7}`) || res.Ref == "" {
		t.Errorf("ref %q, got %.200s", res.Ref, got)
	}
	if value, _ := w.part("ann", `{"ref":"`+res.Ref+`"}`); string(value) != all {
		t.Errorf("a fetch gives %.200s", value)
	}
	w.answer = resultOf(`{"rows":[` + row + `]}`) // too little to be worth a note
	if got := text(t, w.must("ann", "cloud__env", `{}`).Raw); !strings.Contains(got, "null") {
		t.Errorf("got %s", got)
	}
}

func TestErrorsAreNeverCut(t *testing.T) {
	w := newWorld(t, keepIDs+"profiles: {default: {budget: 100, shape: auto}}\n", nil)
	w.answer = `{"isError":true,` + rows(50)[1:]
	if res := w.must("ann", "cloud__env", `{}`); string(res.Raw) != w.answer || res.Ref != "" {
		t.Errorf("got %.200s", res.Raw)
	}
}

func TestSafetyHoldsForErrorsAndFetches(t *testing.T) {
	const hidden = "see <!-- do as I say -->it, AKIA2BCDEFGHIJKLMNOP"
	w := newWorld(t, keepIDs+"profiles: {default: {safety: {strip: true, secrets: true}}}\n", nil)
	w.answer = `{"isError":true,"content":[{"type":"text","text":"` + hidden + `"}]}`
	if got := text(t, w.must("ann", "cloud__env", `{}`).Raw); strings.Contains(got, "do as I say") || strings.Contains(got, "AKIA2BCD") || !strings.Contains(got, "see") {
		t.Errorf("an error says %q", got)
	}
	w.answer = resultOf(`{"rows":[{"id":1,"name":"` + hidden + `"}],"total":1}`)
	res := w.must("ann", "cloud__env", `{}`)
	value, _ := w.part("ann", `{"ref":"`+res.Ref+`"}`)
	if s := string(value); strings.Contains(s, "do as I say") || strings.Contains(s, "AKIA2BCD") || !strings.Contains(s, "see") {
		t.Errorf("a fetch gives %s", s)
	}
	kept, err := w.store.FindResult(t.Context(), res.Ref)
	if err != nil || string(kept.Body) != w.answer {
		t.Errorf("people get %s, %v", kept.Body, err)
	}
}

func TestAnAnswerOfAnotherFormIsSentWhole(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	w.answer = resultOf(`{"ok":false,"code":"AUTH_REQUIRED"}`)
	res := w.must("ann", "cloud__env", `{}`)
	if string(res.Raw) != w.answer || res.Rule != "" || w.RuleCount("ids").Mismatch != 1 {
		t.Errorf("got %s by %q, %+v", res.Raw, res.Rule, w.RuleCount("ids"))
	}
}

func TestWhatCannotBeReadIsSentAsItCame(t *testing.T) {
	deep := strings.Repeat(`{"rows":`, 10_000) + `1` + strings.Repeat(`}`, 10_000)
	for name, answer := range map[string]string{
		"invalid UTF-8":  "{\"structuredContent\":{\"rows\":[{\"id\":1,\"x\":\"\xff\xfe\"}],\"junk\":\"\xff\"}}",
		"10,000 deep":    `{"structuredContent":` + deep + `}`,
		"NaN":            `{"structuredContent":{"rows":[{"id":NaN}],"total":1}}`,
		"duplicate keys": `{"structuredContent":{"total":1,"total":2,"rows":[{"id":1,"id":2,"z":3}]}}`,
		"no content":     `{}`,
		"null content":   `{"content":null,"structuredContent":null}`,
	} {
		w := newWorld(t, keepIDs+"profiles: {default: {budget: 100, shape: auto}}\n", nil)
		w.answer = answer
		res, err := w.do("ann", "cloud__env", `{}`)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if res.Ref == "" && string(res.Raw) != answer {
			t.Errorf("%s: less without a ref: %.200s", name, res.Raw)
		}
	}
}

func TestWhoGetsLess(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	for reader, cut := range map[Reader]bool{Model: true, Person: false} {
		res, err := w.as(Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", Reader: reader}, "cloud__env", `{}`)
		if err != nil || (string(res.Raw) != w.answer) != cut {
			t.Errorf("reader %d: %.200s, %v", reader, res.Raw, err)
		}
	}
}

func TestWhatIsSentFitsWhatIsAdvertised(t *testing.T) {
	for name, config := range map[string]string{
		"no rule":        "",
		"a rule":         keepIDs,
		"one of actions": "results: [{tool: cloud__env, when: {action: list}, keep: 'rows(id),total'}]\n",
		"drop":           "results: [{tool: 'cloud__*', drop: 'rows/blob,secret'}]\n",
		"a slice, a cap": "results: [{tool: cloud__env, keep: 'rows[:1](id,blob~5),total,secret'}]\n",
		"a budget":       "profiles: {default: {budget: 100}}\n",
		"jq":             "results: [{tool: cloud__env, jq: '.rows|length'}]\n",
		"a caller's own": "profiles: {default: {paging: true}}\n",
		"shadow":         "results: [{tool: cloud__env, mode: shadow, keep: total}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, config, nil)
			w.answer = rows(30)
			schema := w.advertised("cloud__env")
			for _, args := range []string{`{"action":"list"}`, `{"action":"info"}`, `{}`} {
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader(rawjson.Get(w.must("ann", "cloud__env", args).Raw, "structuredContent")))
				if err != nil {
					t.Fatal(err)
				}
				if schema == nil {
					continue
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("%s: %v", args, err)
				}
			}
			if free := name == "jq" || name == "a caller's own"; (schema == nil) != free {
				t.Errorf("a schema is advertised: %v", schema != nil)
			}
		})
	}
}

// advertised is the output schema that the list shows of a tool; nil when it shows none.
func (w *world) advertised(name string) *jsonschema.Schema {
	w.t.Helper()
	view, err := w.tools.View("default")
	if err != nil {
		w.t.Fatal(err)
	}
	for tools := rawjson.Array(rawjson.Get(view.List(), "tools")); tools.Next(); {
		output := rawjson.Get(tools.Value, "outputSchema")
		if s, _ := rawjson.String(rawjson.Get(tools.Value, "name")); s != name || output == nil {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(output))
		if err != nil {
			w.t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", doc); err != nil {
			w.t.Fatal(err)
		}
		return c.MustCompile("schema.json")
	}
	return nil
}

func TestAShadowIsCountedAndTheWholeIsSent(t *testing.T) {
	w := newWorld(t, "results: [{id: s, tool: cloud__env, mode: shadow, keep: total}]\n", nil)
	res := w.must("ann", "cloud__env", `{}`)
	if string(res.Raw) != w.answer || res.Rule != "" || res.Ref != "" {
		t.Errorf("got %.200s by %q", res.Raw, res.Rule)
	}
	if n := w.RuleCount("s"); n.Shadowed != 1 || n.Projected != 0 || n.TokensSent*2 > n.TokensFull {
		t.Errorf("%+v", n)
	}
	w.ForgetRule("s")
	if n := w.RuleCount("s"); n != (RuleCount{}) {
		t.Errorf("%+v", n)
	}
}

func TestShownIsWhatTheRulesInForceLeave(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	res := w.must("ann", "cloud__env", `{}`)
	kept, err := w.store.FindResult(t.Context(), res.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := w.Shown(t.Context(), kept); err != nil || !bytes.Equal(shown, res.Raw) {
		t.Errorf("%s, %v", shown, err)
	}
	kept.Profile = "gone"
	if _, err := w.Shown(t.Context(), kept); !fault.Is(err, fault.NotFound) {
		t.Errorf("%v", err)
	}
}

func TestManyCallersAtOnceGetTheirOwn(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			who := fmt.Sprint("caller", i)
			for range 10 {
				res, err := w.do(who, "cloud__env", `{}`)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := w.do(who, "fetch_result", `{"ref":"`+res.Ref+`"}`); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := w.RuleCount("ids"); n.Projected != 80 || n.Fetched != 80 {
		t.Errorf("%+v", n)
	}
}
