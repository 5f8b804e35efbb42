package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestResultsAndRulesAreForThoseWhoMay(t *testing.T) {
	w := newWorld(t, demoConfig)
	ref := w.kept() // of the one who was here before there were keys
	root, eye, ann := w.key("root", "*", access.Admin), w.key("eye", "default", access.Viewer), w.key("ann", "orders", access.Caller)
	rule := url.Values{"id": {"mine"}, "tool": {"shop__x"}, "way": {"keep"}, "expression": {"a"}, "mode": {"on"}}
	tests := []struct {
		name, path string
		form       url.Values
		ann, eye   int // the status; an administrator is never refused
	}{
		{"the list", "/results", nil, 200, 200},
		{"another's result", "/results/" + ref, nil, 404, 200},
		{"all of it", "/results/" + ref + "/full", nil, 404, 200},
		{"the file", "/results/" + ref + "/file", nil, 404, 200},
		{"trying a rule on it", "/results/" + ref + "/try", rule, 404, 200},
		{"the rules", "/results/rules", nil, 403, 200},
		{"the proposals", "/results/suggestions?look=1", nil, 403, 200},
		{"switching", "/results/rules/cloud-envQuery-list/mode", url.Values{"mode": {"on"}}, 403, 403},
		{"deleting", "/results/rules/cloud-envQuery-list/delete", url.Values{}, 403, 403},
		{"the prompt", "/prompt", nil, 200, 200},
		{"the prompt of another profile", "/prompt/file?profile=default", nil, 403, 200},
		{"recall", "/recall?kn_id=shop&at_id=orders", nil, 200, 403},
		{"calling", "/recall/call", url.Values{"kn_id": {"shop"}, "at_id": {"orders"}, "a:limit": {"1"}}, 200, 403},
	}
	for who, key := range map[string]string{"root": root, "eye": eye, "ann": ann} {
		p := w.person()
		p.signIn(key)
		for _, tt := range tests {
			method, want := "GET", map[string]int{"root": 200, "eye": tt.eye, "ann": tt.ann}[who]
			if tt.form != nil {
				method = "POST"
			}
			if who == "root" && tt.name == "deleting" {
				want = 200 // the copy that switching has made
			}
			if status, body := p.ask(method, tt.path, tt.form); status != want {
				t.Errorf("%s, %s: HTTP %d, want %d: %.300s", who, tt.name, status, want, body)
			}
		}
		if _, body := p.ask("POST", "/results/rules", rule); strings.Contains(body, "Rule saved") != (who == "root") {
			t.Errorf("%s saves a rule: %.300s", who, body)
		}
		if _, body := p.ask("GET", "/results", nil); strings.Contains(body, ref) == (who == "ann") {
			t.Errorf("%s: the list and the rights differ", who)
		}
	}
}

func TestEmptyResultsSayWhatToDoFirst(t *testing.T) {
	w := newWorld(t, demoConfig)
	_, body := w.person().ask("GET", "/results", nil)
	want := `curl -s &#39;` + w.URL + `/api/v1/tools/cloud__envQuery/call?view=model&#39; -d &#39;{&#34;action&#34;:&#34;list&#34;}&#39;`
	if !strings.Contains(body, want) {
		t.Errorf("the page does not say %s: %s", want, body[strings.Index(body, "<main"):])
	}
	w = newWorld(t, "store: t.db\nmcpServers:\n  shop: {builtin: demo-shop}\n")
	if status, body := w.person().ask("GET", "/recall", nil); status != 200 || !strings.Contains(body, "recall:\n  actions:") {
		t.Errorf("HTTP %d: recall does not say what to write: %.300s", status, body)
	}
	if status, body := w.person().ask("GET", "/results/rules", nil); status != 200 || !strings.Contains(body, "No rules yet") {
		t.Errorf("HTTP %d: %.300s", status, body)
	}
}

// TestWithoutScriptsTheFormsDo sends what a browser without JavaScript sends.
func TestWithoutScriptsTheFormsDo(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	form := url.Values{"tool": {"cloud__envQuery"}, "way": {"keep"}, "f": {"2", "3"}, "id": {"mine"}, "mode": {"on"}}
	status, body := p.ask("POST", "/results/"+w.kept()+"/try", form)
	if status != 200 || !strings.Contains(body, ">EnvList(EnvId,Alias)</textarea>") {
		t.Errorf("HTTP %d: the ticks make no mask: %.300s", status, body)
	}
	form.Set("expression", "EnvList(")
	if status, body := p.ask("POST", "/results/"+w.kept()+"/rule", form); status != 200 || !strings.Contains(body, "at byte") ||
		!strings.Contains(body, ">EnvList(</textarea>") {
		t.Errorf("HTTP %d: a wrong rule loses the form: %.300s", status, body)
	}
}

// talk records conversations in which the key of a thing was used next.
func talk(t testing.TB, w *world, n int, name string) {
	t.Helper()
	var calls []store.Call
	add := func(session, args, value string) {
		at := time.Now().Add(time.Duration(len(calls)-10_000) * time.Second)
		c := store.Call{
			ID: fmt.Sprintf("%s%08d%s", record.FirstID(at), len(calls), name), At: at, Principal: "ann", Profile: "default", MCPSession: session,
			Server: "shop", Tool: tool.Name("shop__" + name), Outcome: "ok", Level: "info", BytesIn: int64(len(args)), Ref: fmt.Sprint("r_", name, len(calls)),
		}
		err := w.app.Store.SaveResult(t.Context(), store.Result{
			Ref: c.Ref, Owner: "ann", Call: c.ID, Server: "shop", Tool: c.Tool, Profile: "default", Args: json.RawMessage(args), Body: json.RawMessage(`{"structuredContent":` + value + `}`), At: c.At,
		})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	for i := range n {
		session := fmt.Sprint("ses_", name, i)
		row := func(i int) string {
			return fmt.Sprintf(`{"id":%d,"key":"key-%05d","digest":"%040d","</td><script>":"%s"}`, i, i, i, strings.Repeat("many words ", 20))
		}
		add(session, `{}`, `{"things":[`+row(i)+`,`+row(i+1000)+`]}`)
		add(session, fmt.Sprintf(`{"key":"key-%05d"}`, i), `{"done":true}`)
	}
	if err := w.app.Store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
}

func tryProposalIsPutInForceByAClick(t *testing.T, b *testparts.Browser, w *world) {
	talk(t, w, 70, "things")
	talk(t, w, 2, "few")
	visitPage(b, w, "/results/suggestions")
	b.Do(chromedp.Click(`a.go`))
	b.Until(`/would have hidden 0 values that were used later/.test(document.body.innerText) && document.querySelector('button[value="shadow"]')`)
	b.Screenshot("suggestion.en-US-light-1280")
	full, kept := b.Read(`document.querySelector("progress").max`), b.Read(`document.querySelector("progress").value`)
	if !strings.Contains(b.Read(`document.querySelector(".counts").innerText.replaceAll(",", "")`), kept+" of "+full+" tokens") {
		t.Errorf("the bar is %s of %s, beside %s", kept, full, b.Read(`document.querySelector(".counts").innerText`))
	}
	b.Read(`document.querySelectorAll(".cards details").forEach((d) => { d.open = true })`)
	b.Until(`document.querySelector(".samples").querySelectorAll("article").length === 3 && !document.querySelector(".samples pre").textContent.includes("digest")`)
	b.Accessible(testparts.Axe(t))
	b.Screenshot("suggestion-tried.en-US-light-1280")

	state := func(stored, before string) {
		t.Helper()
		b.Until(`(document.querySelector(".cards form .badge")?.innerText ?? "") === "` + stored + `" && (document.querySelector(".cards form small")?.innerText ?? "") === "` + before + `"`)
	}
	b.Do(chromedp.Click(`button[value="shadow"]`))
	state("shadow", "Before: no rule")
	b.Until(`document.activeElement.matches("#learn-learned-shop__things")`) // the focus is not lost with the button
	b.Do(chromedp.Click(`button[value="on"]`))
	state("on", "Before: shadow")
	visitPage(b, w, "/results/suggestions?look=1")
	state("on", "Before: shadow")
	b.Screenshot("suggestion-on.en-US-light-1280")
	b.Do(chromedp.Click(`button[value="undo"]`))
	state("shadow", "Before: no rule")
	visitPage(b, w, "/results/rules")
	b.Do(chromedp.Click(`button[value="undo"]`))
	b.Until(`document.querySelector("#notice").innerText.includes("Undone") && !document.body.innerText.includes("learned-shop__things")`)
}

// TestUndoBringsBackExactlyWhatWasStored also for a rule that somebody wrote under the id of a suggestion.
func TestUndoBringsBackExactlyWhatWasStored(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	stored := func() string {
		t.Helper()
		rows, err := w.app.Store.Rules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, row := range rows {
			all = append(all, string(row.Body))
		}
		return strings.Join(all, "\n")
	}
	form := func(mode string) url.Values {
		return url.Values{"id": {"learned-x"}, "tool": {"shop__list_orders"}, "way": {"keep"}, "expression": {"orders(id)"}, "mode": {mode}, "stage": {"offer"}}
	}
	states := []string{stored()}
	do := func(path string, f url.Values) {
		t.Helper()
		if status, body := p.ask("POST", path, f); status != 200 {
			t.Fatalf("HTTP %d: %.300s", status, body)
		}
	}
	own := form("on")
	own.Set("expression", "orders(id,status)")
	own.Set("when", `{"status":"<b>&"}`)
	own.Set("budget", "900")
	do("/results/suggestions", form("shadow"))
	states = append(states, stored())
	do("/results/suggestions", form("on"))
	for len(states) > 0 {
		do("/results/suggestions", form("undo"))
		last := len(states) - 1
		if got := stored(); got != states[last] {
			t.Errorf("stored is %s, was %s", got, states[last])
		}
		states = states[:last]
	}
	do("/results/rules", own)
	before := stored()
	do("/results/suggestions", form("on"))
	if _, body := p.ask("GET", "/results/rules", nil); !strings.Contains(body, "Before: on <code>orders(id,status)</code>") {
		t.Errorf("the page does not say what was before: %s", body[strings.Index(body, "<main"):])
	}
	do("/results/suggestions", form("undo"))
	if got := stored(); got != before {
		t.Errorf("stored is %s, was %s", got, before)
	}
	if status, body := p.ask("POST", "/results/suggestions", form("undo")); status != 409 || !strings.Contains(body, "nothing of the rule learned-x can be undone") && !strings.Contains(body, "can be undone") || stored() != before {
		t.Errorf("HTTP %d: a rule that a person wrote is undone: %.300s", status, body)
	}
}

// TestOperationIsCalledWhereItsAnswerSays takes an action that is an operation of an API.
func TestOperationIsCalledWhereItsAnswerSays(t *testing.T) {
	var got string
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.RequestURI + " " + string(body)
		fmt.Fprint(rw, `{"moved":true}`)
	}))
	defer api.Close()
	spec := filepath.Join(t.TempDir(), "parcels.json")
	err := os.WriteFile(spec, []byte(`{"openapi":"3.1.0","info":{"title":"Parcels","version":"1"},"paths":{"/parcels/{id}":{"put":{"operationId":"move","summary":"Move a parcel.",
		"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"tell","in":"query","schema":{"type":"boolean"}}],
		"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"city":{"type":"string"}}}}}},"responses":{"200":{"description":"Done."}}}}}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, fmt.Sprintf("store: t.db\napis:\n  parcels: {spec: %q, base: %q, layout: layered}\nrecall:\n  actions:\n    - {kn_id: shop, at_id: move, tool: parcels__move, parameters: {tell: true}}\n", spec, api.URL))
	p := w.person()
	action := url.Values{"kn_id": {"shop"}, "at_id": {"move"}}
	_, body := p.ask("GET", "/recall?"+action.Encode(), nil)
	if !strings.Contains(body, "/api/v1/tools/parcels__move/call") || !strings.Contains(body, `name="a:query/tell"`) || !strings.Contains(body, `<option value="true" selected>`) {
		t.Errorf("no form for the call: %s", body[strings.Index(body, "<main"):])
	}
	action.Set("a:path/id", "P 1")
	action.Set("a:query/tell", "true")
	action.Set("a:body/city", "上海")
	if status, body := p.ask("POST", "/recall/call", action); status != 200 || !strings.Contains(body, "HTTP 200") ||
		got != `PUT /parcels/P%201?tell=true {"city":"上海"}` {
		t.Errorf("HTTP %d, sent %s: %s", status, got, body[strings.Index(body, "<main"):])
	}
}

// TestBothFormsOfAnAnswerAreShown asks an ontology-query of the test's own.
func TestBothFormsOfAnAnswerAreShown(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprint(rw, `{"action_source":{"type":"mcp","mcp_id":"shop","tool_name":"list_orders"},"actions":[{"parameters":{"limit":3}}]}`)
	}))
	defer other.Close()
	w := newWorld(t, demoConfig+"  ontologyQuery: {url: \""+other.URL+"\"}\n")
	_, body := w.person().ask("GET", "/recall?kn_id=net&at_id=look&instances="+url.QueryEscape(`[{"id":1}]`), nil)
	for _, want := range []string{"answer: proxy", "answer: driver", "action-types/look/execute", "dynamic_params", "/mcp/proxy/shop/tools/list_orders/call", `name="a:limit" value="3"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s: %s", want, body[strings.Index(body, "<main"):])
		}
	}
	if _, body := w.person().ask("GET", "/recall?kn_id=shop&at_id=orders", nil); strings.Contains(body, "answer: driver") {
		t.Error("an action of the file has two forms")
	}
	if _, body := w.person().ask("GET", "/recall?kn_id=net&at_id=look&instances=nonsense", nil); !strings.Contains(body, `class="notice bad"`) {
		t.Errorf("instances that are no list: %.500s", body)
	}
	other.Close()
	if status, body := w.person().ask("GET", "/recall?kn_id=net&at_id=look", nil); status != 200 ||
		!strings.Contains(body, `class="notice bad"`) {
		t.Errorf("HTTP %d: a service that is away: %.500s", status, body)
	}
}
