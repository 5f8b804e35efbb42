package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// tryCallFilter filters, takes a filter away by its chip, and keeps a filter in the browser.
func tryCallFilter(_ *testing.T, b *testparts.Browser, w *world) {
	w.furnish()
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	b.Until(`window.htmx && !document.querySelector(".chips") && document.querySelectorAll("#calls tr").length === 50`)
	b.Do(chromedp.Click(".filter .more input"), chromedp.SetValue(`[name="repaired"]`, "true"), chromedp.SetValue(`[name="slower"]`, "0.1ms"),
		chromedp.Click(".filter > button"))
	b.Until(`document.querySelectorAll(".chips a").length === 3 && document.querySelectorAll("#calls tr").length === 1 && ` + has("list_orders"))
	b.Do(chromedp.Click(".saved summary"), chromedp.SendKeys("#saved-name", "Mended ones\n"))
	b.Until(`document.querySelector(".saved .own a")?.textContent === "Mended ones"`)
	b.Do(chromedp.Click(".chips li:first-child a"))
	b.Until(`new URLSearchParams(location.search).get("repaired") === null || new URLSearchParams(location.search).get("slower") === null`)
	b.Do(chromedp.Navigate(w.URL+"/calls"), chromedp.Click(".saved summary"), chromedp.Click(".saved .own a"))
	b.Until(`location.search.includes("repaired=true") && location.search.includes("slower=0.1ms") && document.querySelectorAll("#calls tr").length === 1`)
	b.Do(chromedp.Click(".saved summary"), chromedp.Click(".saved .own button"))
	b.Until(`document.querySelector(".saved .own").hidden && localStorage.getItem("toolfit.calls.filters") === "[]"`)
	b.Read(`localStorage.setItem("toolfit.calls.filters", JSON.stringify(Array.from({length: 50}, (_, i) => ({name: "n" + i, query: "cut=true"})))), ""`)
	b.Do(chromedp.Navigate(w.URL+"/calls?cut=true"), chromedp.Click(".saved summary"), chromedp.SendKeys("#saved-name", "One more\n"))
	b.Until(`document.querySelectorAll(".saved .own a").length === 50 && document.querySelector(".saved .own a").textContent === "One more"`)
	b.Do(chromedp.Navigate(w.URL + "/calls?slower=soon"))
	b.Until(has("slower must be a duration such as 500ms or 2s") + ` && document.querySelector("[name=slower]").value === "soon"`)
	b.CheckConsole()
}

// tryCompare ticks two calls in the list.
func tryCompare(t *testing.T, b *testparts.Browser, w *world) {
	w.post("shop__list_orders", `{"status":"paid","limit":1}`)
	w.post("shop__list_orders", `{"status":"PAID","limit":"2"}`)
	w.post("shop__get_order", `{}`)
	b.Do(chromedp.Navigate(w.URL + "/calls?tool=shop__list_orders"))
	b.Until(`document.querySelectorAll("#calls tr").length === 2 && !document.querySelector(".compare").checkVisibility()`)
	b.Do(chromedp.Click("#calls tr:nth-child(1) .pick input"))
	b.Until(`document.querySelector(".compare").disabled`) // with one call
	b.Do(chromedp.Click("#calls tr:nth-child(2) .pick input"), chromedp.Click("button.compare"))
	b.Until(`location.pathname === "/calls/compare" && document.querySelectorAll(".compared tbody tr").length > 2 && ` + has("Repairs"))
	if got := b.Read(`[...document.querySelectorAll(".compared thead a")].map((a) => a.textContent).join() === [...new URLSearchParams(location.search).getAll("id")].reverse().join()`); got != "true" {
		t.Error("the newer call is not the second")
	}
	b.Do(chromedp.Navigate(w.URL + "/calls?tool=shop__list_orders"))
	b.Do(chromedp.Click("#calls tr:nth-child(1) th a"), chromedp.Click(`a[href*="compare?b="]`))
	b.Until(`location.search.startsWith("?b=") && document.querySelectorAll(".compared tbody tr").length > 2`)
	b.CheckConsole()
}

// tryTail pauses the rows that come by themselves, and lets them go on.
func tryTail(t *testing.T, b *testparts.Browser, w *world) {
	w.post("shop__list_orders", `{}`)
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	b.Until(`window.htmx && document.getElementById("tail")?.hidden === false && document.querySelectorAll("#calls tr").length === 1`)
	w.post("shop__list_orders", `{}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 2`) // it is connected
	b.Do(chromedp.KeyEvent("p"))
	b.Until(`document.getElementById("tail").textContent === "Resume"`)
	w.post("shop__get_order", `{}`)
	w.post("shop__get_order", `{}`)
	b.Until(`document.getElementById("tail").textContent === "Resume · 2 new"`)
	if b.Read(`document.querySelectorAll("#calls tr").length`) != "2" {
		t.Error("rows come in while the list is paused")
	}
	b.Screenshot("calls-paused")
	b.Do(chromedp.Click("#tail"))
	b.Until(`document.querySelectorAll("#calls tr").length === 4 && document.getElementById("tail").textContent === "Pause"`)
	b.Read(`document.body.style.minHeight = "9000px", window.scrollTo(0, 4000)`)
	b.Until(`window.scrollY > 1000`)
	w.post("shop__list_orders", `{}`)
	b.Until(`document.getElementById("tail").textContent === "Pause · 1 new" && document.querySelectorAll("#calls tr").length === 4`)
	b.Do(chromedp.Click("#tail")) // it leads to the new row
	b.Until(`window.scrollY === 0 && document.querySelectorAll("#calls tr").length === 5 && document.getElementById("tail").textContent === "Pause"`)
	b.CheckConsole()
}

// comeRows has rows come in, so many in each message: c-KINDfrom to c-KINDto.
func comeRows(b *testparts.Browser, kind string, from, to, each int) {
	b.Read(fmt.Sprintf(`(() => { for (let i = %d; i <= %d; i += %[3]d) {
		const rows = Array.from({length: %[3]d}, (_, j) => '<tr id="c-%[4]s' + (i + %[3]d - 1 - j) + '"><th><a href="/">x</a></th></tr>').join("");
		const message = '<tbody hx-swap-oob="afterbegin:#calls">' + rows + "</tbody>";
		if (document.body.dispatchEvent(new CustomEvent("htmx:wsBeforeMessage", {detail: {message}, bubbles: true, cancelable: true})))
			htmx.swap(document.body, message, {swapStyle: "none"});
	} })(), ""`, from, to, each, kind))
}

// tryHeldRows has many rows wait: the list has no holes afterwards, and says so where it may have one.
func tryHeldRows(t *testing.T, b *testparts.Browser, w *world) {
	w.post("shop__list_orders", `{}`)
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	b.Until(`window.htmx && document.querySelectorAll("#calls tr").length === 1 && document.getElementById("tail")?.hidden === false`)
	b.Do(chromedp.KeyEvent("p"))
	comeRows(b, "a", 1, 120, 1)
	b.Until(`document.getElementById("tail").textContent === "Resume · 120 new" && document.querySelectorAll("#calls tr").length === 1`)
	b.Do(chromedp.Click("#tail"))
	b.Until(`document.querySelectorAll("#calls tr").length === 121 && document.querySelector("#calls tr").id === "c-a120"`)
	b.Do(chromedp.KeyEvent("p"))
	comeRows(b, "b", 1, 1500, 1)
	b.Until(`document.getElementById("tail").textContent === "Resume · 999+ new"`)
	b.Do(chromedp.Click("#tail"))
	b.Until(`document.querySelectorAll("#calls tr").length === 200 && document.querySelector("#calls tr:last-child").id === "c-b1301"`)
	if b.Read(`document.getElementById("gap").hidden`) != "true" {
		t.Error("it says that calls are missing")
	}
	b.Read(`document.body.dispatchEvent(new CustomEvent("htmx:wsOpen", {bubbles: true})), ""`)
	comeRows(b, "b", 1461, 1510, 50)
	if b.Read(`document.getElementById("gap").hidden`) != "true" {
		t.Error("after a new connection it says that calls are missing, but all are here")
	}
	b.Read(`document.body.dispatchEvent(new CustomEvent("htmx:wsOpen", {bubbles: true})), ""`)
	comeRows(b, "c", 1, 50, 50)
	b.Until(`!document.getElementById("gap").hidden`)
	b.CheckConsole()
}

// tryTimesOfFilters looks at times in another zone than the gateway's.
func tryTimesOfFilters(t *testing.T, b *testparts.Browser, w *world) {
	b.In("Asia/Kathmandu") // 5:45 before UTC
	defer b.In("")
	b.Do(chromedp.Navigate(w.URL + "/calls?since=2026-01-02T03:04:05Z"))
	b.Until(`document.querySelector("[name=since]")?.value === "2026-01-02T08:49:05" && ` + has("08:49:05"))
	b.Do(chromedp.Click(".filter > button"))
	b.Until(`location.search.includes("tool=") && new URLSearchParams(location.search).get("since") === "2026-01-02T03:04:05Z" && document.readyState === "complete"`)
	for _, path := range []string{"/environments/logs", "/environments/sessions"} {
		b.Do(chromedp.Navigate(w.URL + path + "?until=2026-01-02T03:04:05Z"))
		b.Until(`document.querySelector("[name=until]")?.value === "2026-01-02T08:49:05"`)
	}
	b.CheckConsole()
}

func TestCallsOfASessionAreShownAroundOneOfThem(t *testing.T) {
	w := newWorld(t, demoConfig)
	var calls []store.Call
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i, minutes := range []int{0, 1, 2, 9, 10, 11} { // a pause after the third
		calls = append(calls, store.Call{
			ID: w.app.Records.NewID(), At: at.Add(time.Duration(minutes) * time.Minute), Session: "ses_a", Principal: "local", Profile: "default", Server: "shop",
			Tool: "shop__list_orders", Upstream: "list_orders", Outcome: "ok", Level: "info", Duration: time.Second, BytesFull: 10,
		})
		calls[i].ID = string(store.AppendCallTime(nil, calls[i].At)) + "node"
	}
	calls[4].Level, calls[4].Message = "warn", "made again: server shop closed its output"
	if err := w.app.Store.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	p := w.person()
	_, body := p.ask("GET", "/calls/"+calls[4].ID, nil)
	above, within, _ := strings.Cut(body, `<section id="within">`)
	if !strings.Contains(above, "The result is not stored") {
		t.Error("what was around the call comes before its own result")
	}
	if !strings.Contains(above, `href="/environments/sessions/ses_a"`) || !strings.Contains(above, `href="/calls?session=ses_a"`) {
		t.Error("it leads neither to its session nor to the calls of that")
	}
	if strings.Count(within, `<td class="axis"><svg`) != 3 || !strings.Contains(within, `<tr class="here">`) ||
		!strings.Contains(within, "made again: server shop closed") || strings.Contains(within, calls[2].ID) {
		t.Errorf("around it: %s", within)
	}
	until := url.QueryEscape(calls[3].At.Format(time.RFC3339Nano))
	_, body = p.ask("GET", "/calls/timeline?session=ses_a&until="+until, nil)
	if strings.Count(body, `<td class="axis"><svg`) != 3 || !strings.Contains(body, calls[2].ID) || strings.Contains(body, calls[3].ID) {
		t.Errorf("the timeline: %s", body)
	}
}

func TestCallersFindOnlyTheirOwnCalls(t *testing.T) {
	w := newWorld(t, demoConfig)
	script, inner := w.furnishScript()
	root, ann := w.key("root", "*", access.Admin), w.key("ann", "default", access.Caller)
	for key, sees := range map[string]bool{root: true, ann: false} {
		p := w.person()
		p.signIn(key)
		for _, path := range []string{"/calls?principal=local", "/calls/timeline?parent=" + script, "/calls?profile=default&larger=1"} {
			if _, body := p.ask("GET", path, nil); strings.Contains(body, inner) != sees {
				t.Errorf("%s shows the call of another: %v", path, !sees)
			}
		}
		if status, _ := p.ask("GET", "/calls/compare?a="+inner+"&b="+script, nil); (status == 200) != sees {
			t.Errorf("comparing: HTTP %d", status)
		}
	}
}
