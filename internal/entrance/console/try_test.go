package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/program/cli"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

const planTool = `{"name":"plan","description":"Plans a journey.","inputSchema":{"type":"object","required":["traveller","from"],"properties":{
	"traveller":{"type":"object","required":["name"],"properties":{"name":{"type":"string","description":"As in the passport."},"born":{"type":"string","format":"date"}}},
	"from":{"type":"string","format":"date","description":"The first day."},
	"stops":{"type":"array","maxItems":5,"items":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"nights":{"type":"integer","minimum":1,"maximum":30,"default":2}}}},
	"call_at":{"type":"string","format":"date-time"},
	"days":{"type":"array","items":{"type":"string","enum":["mo","tu","we"]}},
	"pay":{"oneOf":[{"type":"object","title":"Card","properties":{"by":{"const":"card"},"number":{"type":"string"}},"required":["by"]},{"type":"object","title":"Cash","properties":{"by":{"const":"cash"}},"required":["by"]}]},
	"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"Anything to find it by."},
	"budget":{"type":["number","null"],"exclusiveMinimum":0,"examples":[1500]},
	"note":{"type":"string","maxLength":2000},
	"slow":{"type":"boolean","default":false}},"additionalProperties":false}}`

// planner is a server whose tool tells its progress, waits if it is asked to, and notes its arguments.
type planner struct {
	*httptest.Server
	left atomic.Int32 // calls that were given up

	mu  sync.Mutex
	got []string
}

func newPlanner(t testing.TB) *planner {
	p := &planner{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, _ := rawjson.String(rawjson.Get(body, "method"))
		id := rawjson.Get(body, "id")
		result := ""
		switch method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = `{"tools":[` + planTool + `]}`
		case "tools/call":
			args := rawjson.Get(body, "params", "arguments")
			p.mu.Lock()
			p.got = append(p.got, string(args))
			p.mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			if token := rawjson.Get(body, "params", "_meta", "progressToken"); token != nil {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1,\"total\":4,\"message\":\"<b>packing\u202e\"}}\n\n", token)
			}
			http.NewResponseController(w).Flush()
			if string(rawjson.Get(args, "slow")) == "true" {
				<-r.Context().Done()
				p.left.Add(1)
				return
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"planned\"}],\"structuredContent\":%s}}\n\n", id, args)
			return
		}
		if result == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}))
	t.Cleanup(p.Close)
	return p
}

// last is what the tool got last, and how often it was called.
func (p *planner) last() (args string, calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.got) == 0 {
		return "", 0
	}
	return p.got[len(p.got)-1], len(p.got)
}

func plannerWorld(t *testing.T) (*world, *planner) {
	p := newPlanner(t)
	return newWorld(t, fmt.Sprintf("store: t.db\nresultStore: all\nmcpServers:\n  trips: {url: %q}\nprofiles:\n  default: {}\n", p.URL)), p
}

func TestATryNeedsNoScripts(t *testing.T) {
	w, srv := plannerWorld(t)
	p := w.person()
	press := func(form url.Values, want ...string) string {
		t.Helper()
		status, page := p.ask("POST", "/tools/trips__plan/try", form)
		for _, one := range want {
			if status != 200 || !strings.Contains(page, one) {
				t.Errorf("HTTP %d without %s", status, one)
			}
		}
		return page
	}
	form := url.Values{"a:traveller/name": {"An\"n <b>"}, "a:from": {"2026-11-18"}}
	form.Set("do", "add stops")
	press(form, `name="r:stops" value="0"`, `name="a:stops/0/city" value=""`, `value="An&#34;n &lt;b&gt;"`, `value="2026-11-18" type="date"`, "autofocus")
	form.Add("r:stops", "0")
	form.Set("a:stops/0/city", "Oslo")
	form.Set("a:stops/0/nights", "3.0")
	form.Set("do", "json")
	press(form, `name="as" value="json"`, `&#34;city&#34;: &#34;Oslo&#34;`)
	form.Del("do")
	form.Set("v:pay", "1")
	page := press(form, "Succeeded", `name="a:stops/0/city" value="Oslo"`, `name="json" value="{&#34;traveller`)
	if args, n := srv.last(); n != 1 || args != `{"traveller":{"name":"An\"n <b>"},"from":"2026-11-18","stops":[{"city":"Oslo","nights":3.0}],"pay":{"by":"cash"}}` {
		t.Errorf("the tool was called %d times, with %s", n, args)
	}
	_, again, _ := strings.Cut(page, `name="json" value="`)
	again, _, _ = strings.Cut(again, `"`)
	press(url.Values{"as": {"json"}, "json": {strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(again, "&#34;", `"`), "&lt;", "<"), "&gt;", ">")}}, "Succeeded")
	if args, n := srv.last(); n != 2 || !strings.Contains(args, "Oslo") {
		t.Errorf("again: call %d, with %s", n, args)
	}
	var calls []store.Call
	w.until("the call is recorded", func() bool {
		calls, _ = w.app.Store.Calls(t.Context(), store.CallFilter{Limit: 1})
		return len(calls) == 1
	})
	_, page = p.ask("GET", "/tools/trips__plan?from="+calls[0].ID, nil)
	for _, want := range []string{"Filled in with the arguments", `name="a:stops/0/city" value="Oslo"`, `name="a:from" value="2026-11-18"`} {
		if !strings.Contains(page, want) {
			t.Errorf("from the call: no %s", want)
		}
	}
}

func TestARefusalStandsAtItsField(t *testing.T) {
	w, srv := plannerWorld(t)
	p := w.person()
	form := url.Values{"a:from": {"2026-11-18"}, "r:stops": {"4"}, "a:stops/4/city": {"Oslo"}, "a:stops/4/nights": {"99"}}
	for lang, wants := range map[string][]string{"en": {"Missing, expected", "Expected at least 1 and at most 30, got number 99"}, "zh-CN": {"缺少，应为", "至多 30"}} {
		p.header.Set("Accept-Language", lang)
		_, page := p.ask("POST", "/tools/trips__plan/try", form)
		for _, want := range append(wants, "bad_arguments", `aria-invalid="true"`) {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q", lang, want)
			}
		}
	}
	p.header.Del("Accept-Language")
	if _, page := p.ask("POST", "/tools/trips__plan/try", url.Values{"j:stops": {"1"}, "a:stops": {"[{"}}); !strings.Contains(page, "the arguments are no JSON") {
		t.Error("broken JSON is not refused")
	}
	if args, n := srv.last(); n != 0 {
		t.Errorf("the tool was called with %s", args)
	}
}

func TestATryThatNeedsAYesLeadsToIt(t *testing.T) {
	p := newWorld(t, demoConfig+"policy: [{name: ask, then: approve, tools: [shop__list_orders]}]\n").person()
	p.stream(t.Context(), "shop__list_orders", nil, func(e map[string]any) {
		if said, ended := e["tried"].(string); ended && !strings.Contains(said, `<a href="/approvals">`) {
			t.Errorf("no way to the approval: %s", said)
		}
	})
}

func TestACallsArgumentsAreForWhoMaySeeThem(t *testing.T) {
	w := newWorld(t, demoConfig)
	repaired, _, _ := w.furnish()
	_, page := w.person().ask("GET", "/tools/shop__list_orders?from="+repaired, nil)
	for _, want := range []string{`name="j:limit"`, `&#34;2&#34;</textarea>`, `&#34;PAID&#34;</textarea>`, "Filled in with"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	key := w.key("other", "orders", access.Caller)
	other := w.person()
	other.signIn(key)
	_, page = other.ask("GET", "/tools/shop__list_orders?from="+repaired, nil)
	if !strings.Contains(page, "That call is not there") || strings.Contains(page, "PAID") {
		t.Error("somebody else sees the arguments")
	}
}

// stream makes a call and gives its events.
func (p *person) stream(ctx context.Context, tool string, form url.Values, hear func(map[string]any)) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", p.URL+"/tools/"+tool+"/try", strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Origin", p.URL)
	resp, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var event map[string]any
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				p.t.Error(err)
			}
			hear(event)
		}
	}
}

func TestACallTellsHowFarItIsAndCanBeGivenUp(t *testing.T) {
	w, srv := plannerWorld(t)
	p := w.person()
	form := url.Values{"a:traveller/name": {"Ann"}, "a:from": {"2026-11-18"}}
	var kinds []string
	p.stream(t.Context(), "trips__plan", form, func(e map[string]any) {
		switch {
		case e["call"] != nil:
			kinds = append(kinds, "call")
		case e["tried"] != nil:
			kinds = append(kinds, "tried")
			if !strings.Contains(e["tried"].(string), "Succeeded") || e["form"] != nil || !strings.Contains(e["lines"].(string), "curl") {
				t.Errorf("the end is %v", e)
			}
		}
	})
	if strings.Join(kinds, " ") != "call tried" {
		t.Errorf("events: %v", kinds)
	}
	p.stream(t.Context(), "trips__plan", url.Values{"a:from": {"2026-11-18"}}, func(e map[string]any) {
		if said, ended := e["tried"].(string); ended && !strings.Contains(said, `href="/calls/c_`) {
			t.Errorf("what was refused has no record: %s", said)
		}
	})
	form.Set("a:slow", "true")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	id := ""
	p.stream(ctx, "trips__plan", form, func(e map[string]any) {
		if e["call"] != nil {
			id = e["call"].(string)
			w.until("the tool is called", func() bool { _, n := srv.last(); return n == 2 })
		}
		if e["said"] != nil {
			if e["said"] != `1 of 4 · <b>packing\u202e` || e["share"] != 0.25 {
				t.Errorf("progress is %v", e)
			}
			cancel()
		}
	})
	w.until("the server hears that nobody waits", func() bool { return srv.left.Load() == 1 })
	w.until("the record says so", func() bool {
		c, err := w.app.Store.Call(t.Context(), id)
		return err == nil && c.Outcome == "canceled"
	})
}

// TestTheLinesMakeTheCall runs each line as a person would who has copied it.
func TestTheLinesMakeTheCall(t *testing.T) {
	w, srv := plannerWorld(t)
	key := w.key("root", "*", access.Admin)
	p := w.person()
	p.signIn(key)
	args := `{"traveller":{"name":"O'Neil \"x\" $HOME ` + "`id`" + ` \\ \u202e 乙 \u0007"},"from":"2026-11-18","stops":[{"city":"a=b","nights":3}],"note":"two\nlines; rm -rf *","budget":1.50,"labels":{"true":"null","__proto__":"x"},"slow":false}`
	_, page := p.ask("POST", "/tools/trips__plan/lines", url.Values{"as": {"json"}, "json": {args}, "profile": {"default"}})
	want := map[string]any{}
	if err := json.Unmarshal([]byte(args), &want); err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+", "&amp;", "&", "&#96;", "`")
	dir := t.TempDir()
	run := func(command ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "TOOLFIT_KEY="+key, "NO_PROXY=*")
		cmd.Dir = dir
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	for kind, how := range map[string]func(text string) ([]byte, error){
		"curl":   func(text string) ([]byte, error) { return run("sh", "-c", text) },
		"python": func(text string) ([]byte, error) { return run("python3", "-c", text) },
		"typescript": func(text string) ([]byte, error) {
			return run("node", "--input-type=module", "-e", text)
		},
		"cli": func(text string) ([]byte, error) {
			out, err := run("sh", "-c", `toolfit() { printf '%s\0' "$@"; }; `+text)
			if err != nil {
				return nil, err
			}
			env := &cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr, Home: dir, Program: "toolfit", Lookup: func(name string) (string, bool) {
				if name != "TOOLFIT_KEY" {
					return "", false
				}
				return key, true
			}}
			if code := cli.Run(t.Context(), strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), env); code != 0 {
				return nil, fmt.Errorf("exit status %d", code)
			}
			return nil, nil
		},
		"mcp": func(text string) ([]byte, error) { // as a client sends it that has a session
			params := rawjson.Get([]byte(text), "params")
			name, _ := rawjson.String(rawjson.Get(params, "name"))
			return run("curl", "-s", w.URL+"/api/v1/tools/"+name+"/call", "-H", "Authorization: Bearer "+key, "-d", string(rawjson.Get(params, "arguments")))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			program := map[string]string{"python": "python3", "typescript": "node", "cli": "sh"}[kind]
			if program == "" {
				program = "curl"
			}
			if _, err := exec.LookPath(program); err != nil {
				testparts.Missing(t, "no "+program+" on PATH: its line is not run")
			}
			_, text, found := strings.Cut(page, `data-line="`+kind+`"`)
			_, text, _ = strings.Cut(text, ">")
			text, _, _ = strings.Cut(text, "</pre>")
			text = unescape.Replace(text)
			if !found || strings.Contains(text, key) {
				t.Fatalf("no such line, or one with a key: %s", text)
			}
			_, before := srv.last()
			out, err := how(text)
			if err != nil {
				t.Fatalf("%v: %s\n%s", err, out, text)
			}
			raw, after := srv.last()
			var got map[string]any
			json.Unmarshal([]byte(raw), &got) // nothing: it was not called
			if after != before+1 || !reflect.DeepEqual(got, want) {
				t.Errorf("call %d after %d, with %s: %s\n%s", after, before, raw, out, text)
			}
			if kind != "cli" && !strings.Contains(raw, "1.50") && kind != "python" {
				t.Errorf("digits are lost: %s", raw)
			}
		})
	}
}

func TestAHugeSchemaMakesNoHugePage(t *testing.T) {
	var all []string
	for i := range 55 {
		all = append(all, fmt.Sprintf(`"a%d":{"type":"object","properties":{"x":{"type":"array","items":{"type":"string"}},"y":{"enum":["a","b","c"]}}}`, i))
	}
	var odd []string
	for i := range 2000 {
		odd = append(odd, fmt.Sprintf(`"b%d":{"not":{"type":"string"},"enum":[1,2,3]}`, i))
	}
	srv := newAppServer(t, `{"tools":[{"name":"big","inputSchema":{"type":"object","properties":{`+strings.Join(all, ",")+`}}},`+
		`{"name":"long","inputSchema":{"type":"object","properties":{`+strings.Join(odd, ",")+`}}}]}`)
	p := newWorld(t, fmt.Sprintf("store: t.db\nmcpServers:\n  s: {url: %q}\n", srv.URL)).person()
	status, page := p.ask("GET", "/tools/s__big", nil)
	t.Logf("a page of %d bytes", len(page))
	form := page[strings.Index(page, `<form id="try-form"`):]
	form, _, _ = strings.Cut(form, "</form>")
	if status != 200 || len(page) > 150_000 || len(form) > 60_000 || strings.Count(form, "<label") < 55 {
		t.Errorf("HTTP %d, a page of %d bytes, its form of %d with %d labels", status, len(page), len(form), strings.Count(form, "<label"))
	}
	status, page = p.ask("GET", "/tools/s__long?for=gemini", nil)
	changes := strings.Count(page[strings.Index(page, `id="report"`):], "<tr>")
	if status != 200 || len(page) > 150_000 || changes < 50 {
		t.Errorf("HTTP %d, a page of %d bytes with %d changes", status, len(page), changes)
	}
}

// TestAPersonTriesATool goes the whole way in a browser: a nested form, progress, a cancellation, again, and a line.
func TestAPersonTriesATool(t *testing.T) {
	w, srv := plannerWorld(t)
	b := testparts.NewBrowser(t, "en-US")
	axe := testparts.Axe(t)
	b.Begin(t)
	b.Prefer("light")
	b.Do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.URL+"/tools/trips__plan"))
	b.Until(`document.readyState === "complete" && window.htmx`)
	b.Do(chromedp.SendKeys(`[name="a:traveller/name"]`, "Ann"), chromedp.SetValue(`[name="a:from"]`, "2026-11-18"), chromedp.Click(`[value="add stops"]`))
	b.Until(`document.activeElement.name === "a:stops/0/city"`)
	b.Do(chromedp.SendKeys(`[name="a:stops/0/city"]`, "Oslo"), chromedp.Click(`[value="add stops"]`))
	b.Until(`document.activeElement.name === "a:stops/1/city" && document.querySelector('[name="a:stops/0/city"]').value === "Oslo"`)
	b.Do(chromedp.SendKeys(`[name="a:stops/1/city"]`, "Bergen"), chromedp.Click(`[value="up stops/1"]`), chromedp.Click(`[name="a:days"][value='"tu"']`),
		chromedp.SetValue(`[name="v:pay"]`, "0"))
	b.Until(`document.querySelector('[name="a:pay/number"]')`)
	b.Do(chromedp.SendKeys(`[name="a:pay/number"]`, "4711"), chromedp.SendKeys(`[name="a:budget"]`, "1.50"), chromedp.Click(".same > summary"))
	b.Until(`document.querySelector('[data-line="cli"]').textContent.includes("budget=1.50")`)
	b.Accessible(axe)
	b.Screenshot("try-form")
	b.Do(chromedp.SendKeys(`[name="a:stops/0/nights"]`, "99"+kb.Enter))
	b.Until(has("Expected at least 1 and at most 30, got number 99") + ` && document.activeElement.name === "a:stops/0/nights"`)
	b.Accessible(axe, "color-contrast", "aria-valid-attr-value")
	b.Screenshot("try-refused")
	b.Do(chromedp.SetValue(`[name="a:stops/0/nights"]`, "3"), chromedp.Click(".same > summary"), chromedp.Click("#try-form button.go"))
	b.Until(`document.querySelector("#tried .badge.good") && !document.querySelector(".wrong")`)
	const want = `{"traveller":{"name":"Ann"},"from":"2026-11-18","stops":[{"city":"Bergen"},{"city":"Oslo","nights":3}],"days":["tu"],"pay":{"by":"card","number":"4711"},"budget":1.50}`
	if got, _ := srv.last(); got != want {
		t.Errorf("the tool got\n%s, want\n%s", got, want)
	}
	b.Do(chromedp.Click(".again button"))
	b.Until(`document.querySelector("#tried .badge.good") && document.querySelector("#running").hidden`)
	w.until("it is called again", func() bool { got, n := srv.last(); return n == 2 && got == want })
	b.Screenshot("try-done")

	b.Do(chromedp.SetValue(`[name="a:slow"]`, "true"), chromedp.Click("#try-form button.go"))
	b.Until(`!document.querySelector("#running").hidden && ` + has("1 of 4 · <b>packing") + ` && document.querySelector("#running progress").value === 0.25`)
	b.Screenshot("try-running")
	b.Do(chromedp.Click("#running button"))
	b.Until(has("Canceled.") + ` && document.querySelector("#tried a").pathname.startsWith("/calls/c_")`)
	w.until("the server hears of it", func() bool { return srv.left.Load() == 1 })
	b.Do(chromedp.Click("#try-form button.go"))
	b.Until(has("1 of 4"))
	b.Do(chromedp.Navigate(w.URL + "/tools/trips__plan")) // who leaves cancels
	w.until("the server hears of it", func() bool { return srv.left.Load() == 2 })
	b.Until(`document.querySelector(".last:not([hidden])")`)
	b.Do(chromedp.Click(".last"))
	b.Until(`document.querySelector('[name="a:stops/0/city"]')?.value === "Bergen" && document.querySelector('[name="a:from"]').value === "2026-11-18"`)
	b.Until(`document.querySelector('[name="a:slow"]').value === "true"`) // as in the call that was left
	b.Do(chromedp.Click(`[name="do"][value="json"]`))
	b.Until(`document.querySelector("[name=json]")?.value.includes('"Bergen"')`)
	b.Do(chromedp.Click(`[name="do"][value="form"]`))
	b.Until(`document.querySelector('[name="a:stops/1/nights"]')?.value === "3"`)
	b.Do(chromedp.Click(`[value="remove stops/0"]`))
	b.Until(`document.querySelectorAll('[name="r:stops"]').length === 1 && document.activeElement.value === "remove stops/1"`)
	b.CheckConsole()
}

func TestALateAnswerDoesNotReplaceTheLines(t *testing.T) {
	w, _ := plannerWorld(t)
	b := testparts.NewBrowser(t, "en-US")
	b.Begin(t)
	b.Do(chromedp.Navigate(w.URL + "/tools/trips__plan"))
	b.Until(`document.readyState === "complete" && window.htmx`)
	b.Read(`(() => {
		const real = fetch;
		window.held = [];
		window.fetch = async (...args) => {
			const response = await real(...args);
			if (window.held && String(args[0]).endsWith("/lines")) await new Promise((go) => held.push(go));
			return response;
		};
	})()`)
	b.Do(chromedp.Click(".same > summary"), chromedp.SendKeys(`[name="a:note"]`, "x"))
	b.Until("held.length === 1")
	b.Read("(() => { window.late = held[0]; window.held = null; })()")
	b.Do(chromedp.SendKeys(`[name="a:note"]`, "y"))
	const line = `document.querySelector('[data-line="cli"]')`
	b.Until(line + `.textContent.includes("note=xy")`)
	b.Read(`(() => { window.line = ` + line + `; late(); setTimeout(() => { late = null; }, 200); })()`)
	b.Until("late === null")
	if b.Read("line.isConnected") != "true" {
		t.Error("the lines of an earlier form have replaced the newest")
	}
	b.CheckConsole()
}
