package console_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const scriptCode = `// What the customers of unpaid orders owe, the largest first.
const { orders } = await shop.list_orders({ status: "UNPAID", limit: input.most });
const whole = await Promise.all(orders.map((o) => shop.get_order({ order_id: o.id })));
await sleep(200);
let environments = [];
try {
	environments = await cloud.envQuery({ action: "list" });
} catch (e) {
	console.log("<b>" + e.message + "</b>");
}
return whole.map((o) => ({ customer: o.customer, owes: o.total }));`

// furnishScript stores a run of a script with all that its page can show. It gives the ids of the script's call and of one that
// the script made.
func (w *world) furnishScript() (script, inner string) {
	w.t.Helper()
	began := time.Now().Add(-time.Minute)
	script = w.app.Records.NewID()
	var calls []store.Call
	var log []map[string]any
	add := func(server tool.ServerID, name string, start, took int, outcome, message string) {
		c := store.Call{
			ID: w.app.Records.NewID(), At: began.Add(time.Duration(start) * time.Millisecond), Duration: time.Duration(took) * time.Millisecond,
			Parent: script, Principal: "local", Profile: "default", Server: server, Tool: tool.Canonical(server, name), Upstream: name, Outcome: outcome,
			Level: "info", Message: message, BytesFull: 4000, BytesSent: 4000, TokensFull: 1200, TokensSent: 1200,
		}
		entry := map[string]any{"name": string(server) + "." + name, "digest": "d", "call": c.ID, "done": true}
		if outcome != "ok" {
			c.Level = "error"
			entry["thrown"] = map[string]any{"Name": "ToolError", "Message": message}
		}
		calls = append(calls, c)
		log = append(log, entry)
	}
	add("shop", "list_orders", 12, 184, "ok", "")
	for i := range 4 {
		add("shop", "get_order", 205+3*i, 90+71*i, "ok", "")
	}
	log = append(log, map[string]any{"name": "sleep", "digest": "d", "done": true})
	add("cloud", "envQuery", 710, 520, "tool_error", "the cloud is closed <for today>")
	log = append(log, map[string]any{"name": "search", "digest": "d"})
	result := `{"content":[{"type":"text","text":"[{\"customer\":\"客户 1\",\"owes\":129.5},{\"customer\":\"客户 2\",\"owes\":88}]"},` +
		`{"type":"text","text":"Printed:\n<b>the cloud is closed</b>"}]}`
	calls = append(calls, store.Call{
		ID: script, At: began, Duration: 1290 * time.Millisecond, Principal: "local", Profile: "default", Tool: "run_script",
		Upstream: "run_script", Outcome: "ok", Level: "info", BytesIn: 600, BytesFull: int64(len(result)), BytesSent: int64(len(result)),
		TokensFull: 60, TokensSent: 60, Ref: "r_script",
	})
	err := w.app.Store.AppendCalls(w.t.Context(), calls)
	if err == nil {
		err = w.app.Store.SaveResult(w.t.Context(), store.Result{
			Ref: "r_script", Owner: "local", Call: script, Tool: "run_script", Profile: "default", At: began, Expires: began.Add(time.Hour),
			Args: json.RawMessage(`{"code":"return ARGUMENTS"}`), Body: json.RawMessage(result),
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.saveScript(script, log)
	return script, calls[0].ID
}

func (w *world) saveScript(id string, log []map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"code": scriptCode, "input": map[string]int{"most": 4}, "seed": "s", "log": log})
	before, _ := w.app.Store.ScriptRun(w.t.Context(), "", id) // there may be none
	if err == nil {
		err = w.app.Store.SaveScriptRun(w.t.Context(), store.ScriptRun{
			Version: before.Version, ID: id, Owner: "local", Profile: "default", Tool: "run_script", Digest: "d", State: store.ScriptEnded, At: time.Now(),
			Expires: time.Now().Add(time.Hour), Body: body,
		})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// rows are the names of a table's calls with the places of their bars.
var rows = regexp.MustCompile(
	`(?s)<th scope="row" class="mono d\d"[^>]*>(?:<a href="[^"]*">)?([^<]+).*?<td class="axis">(?:<svg[^>]*><title>[^<]*</title><rect class="(\w+)" x="(\d+)" width="(\d+)"|</td>)`)

func TestCallOfAScriptShowsWhatItCalled(t *testing.T) {
	w := newWorld(t, demoConfig)
	script, inner := w.furnishScript()
	p := w.person()
	_, body := p.ask("GET", "/calls/"+script, nil)
	for _, want := range []string{
		`<span class="line">const { orders } = await shop.list_orders({ status: &#34;UNPAID&#34;`, "&#34;&lt;b&gt;&#34; + e.message", "<h2>Input</h2>",
		"the cloud is closed &lt;for today&gt;", `href="/calls/` + inner + `"`, `href="/calls?parent=` + script + `"`, "As a model gets it now",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(body, "ARGUMENTS") || strings.Contains(body, "style=") {
		t.Error("the page has the script twice, or an inline style")
	}
	var got []string
	for _, m := range rows.FindAllStringSubmatch(body, -1) {
		got = append(got, strings.Join(m[1:], " "))
	}
	want := []string{
		"shop.list_orders good 9 142", "shop.get_order good 158 69", "shop.get_order good 161 124", "shop.get_order good 163 179",
		"shop.get_order good 165 234", "sleep   ", "cloud.envQuery bad 550 403", "search   ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the calls are\n%s", strings.Join(got, "\n"))
	}
	if _, body := p.ask("GET", "/calls/"+inner, nil); !strings.Contains(body, `href="/calls/`+script+`"`) {
		t.Error("the page of a call does not lead to its script")
	}
	if _, body := p.ask("GET", "/calls", nil); strings.Count(body, `<a class="tag less" href="/calls/`+script+`">script</a>`) != 6 {
		t.Errorf("the list does not mark the calls of the script")
	}
	if _, body := p.ask("GET", "/calls?parent="+script, nil); strings.Count(body, `<tr id="c-`) != 6 {
		t.Errorf("the filter does not choose the calls of the script")
	}
}

func TestCallsThatNoLogHasAreShownByTheirTools(t *testing.T) {
	w := newWorld(t, demoConfig)
	script, _ := w.furnishScript()
	w.saveScript(script, nil)
	p := w.person()
	p.header.Set("Accept-Language", "zh-CN")
	_, body := p.ask("GET", "/calls/"+script, nil)
	for _, want := range []string{"脚本发起的调用 <small>6", ">shop__list_orders</a>", "工具报错", `<rect class="bad" x="550" width="403"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestACallThatWentOnWithAScriptHasTimesOfItsOwnCallsOnly(t *testing.T) {
	w := newWorld(t, demoConfig)
	script, inner := w.furnishScript()
	first := store.Call{
		ID: w.app.Records.NewID(), At: time.Now(), Principal: "local", Profile: "default", Tool: "run_script", Outcome: "ok", Level: "warn",
		Message: "goes on with " + script, Duration: time.Second,
	}
	own := first
	own.ID, own.Parent, own.Tool, own.Message, own.Duration = w.app.Records.NewID(), first.ID, "shop__pay", "", time.Second/2
	if err := w.app.Store.AppendCalls(t.Context(), []store.Call{first, own}); err != nil {
		t.Fatal(err)
	}
	w.saveScript(script, []map[string]any{
		{"name": "shop.list_orders", "digest": "d", "call": inner, "done": true}, {"name": "shop.pay", "digest": "d", "call": own.ID, "done": true},
	})
	_, body := w.person().ask("GET", "/calls/"+first.ID, nil)
	var got []string
	for _, m := range rows.FindAllStringSubmatch(body, -1) {
		got = append(got, strings.Join(m[1:], " "))
	}
	if strings.Join(got, "; ") != "shop.list_orders   ; shop.pay good 0 500" || !strings.Contains(body, `href="/calls/`+inner+`"`) {
		t.Errorf("the calls are %q", got)
	}
}

func TestAScriptIsShownToThoseWhoMayReadItsCall(t *testing.T) {
	w := newWorld(t, demoConfig)
	script, _ := w.furnishScript()
	root, ann := w.key("root", "*", access.Admin), w.key("ann", "default", access.Caller)
	for key, want := range map[string]int{root: 200, ann: 404} {
		p := w.person()
		p.signIn(key)
		if status, body := p.ask("GET", "/calls/"+script, nil); status != want || strings.Contains(body, "UNPAID") != (want == 200) {
			t.Errorf("HTTP %d, want %d", status, want)
		}
	}
}

// runs makes a waiting call with a script that has called something.
func (w *world) runs() (script string) {
	w.t.Helper()
	l, err := w.app.Waiting.Add(w.t.Context(), store.Waiting{
		ID: w.app.Records.NewID(), Owner: "local", Profile: "default", Tool: "run_script", State: store.Working, For: store.ForServer,
		Expires: time.Now().Add(time.Hour), Body: []byte("{}"),
	}, func(error) {})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { l.End(context.Background(), store.Cancelled, func(*store.Waiting) {}) })
	w.saveScript(l.ID, []map[string]any{{"name": "shop.list_orders", "digest": "d", "sent": true}})
	err = w.app.Store.AppendCalls(w.t.Context(), []store.Call{{
		ID: w.app.Records.NewID(), At: time.Now().Add(-time.Second), Parent: l.ID, Principal: "local", Profile: "default", Server: "shop",
		Tool: "shop__get_order", Outcome: "ok", Level: "info", Duration: 200 * time.Millisecond,
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return l.ID
}

func TestAScriptThatRunsStaysWhereItsReaderIs(t *testing.T) {
	w := newWorld(t, demoConfig)
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(w.URL + "/calls/" + w.runs()))
	b.Until(`document.readyState === "complete" && window.htmx`)
	if got := b.Read(`[...document.querySelectorAll("tbody tr")].map((tr) => tr.innerText.replace(/\s+/g, " ")).join("; ")`); got !=
		"shop.list_orders working – – ; shop__get_order ok <0.1 ms 200 ms " {
		t.Errorf("the calls are %s", got)
	}
	b.Read(`document.querySelector("#script").seen = document.querySelector("#live").dataset.live`)
	b.Until(`document.querySelector("#live").dataset.live !== document.querySelector("#script").seen`)
	if b.Read(`String(document.querySelector("#script").seen !== undefined)`) != "true" {
		t.Error("the script is another element after an update")
	}
	b.CheckConsole()
}
