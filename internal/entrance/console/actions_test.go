package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestWhatAPersonDoes takes one browser through everything that can be done on the pages.
func TestWhatAPersonDoes(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	for _, c := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser, w *world)
	}{
		{"pastes servers, looks at them, and adds them", tryPaste},
		{"edits, restarts, disables and removes a server", tryServer},
		{"approves one changed tool and keeps the other out", tryApprove},
		{"finds a tool and tries it", tryTool},
		{"looks for destructive tools, folds a group and sees what changed in a definition", tryToolList},
		{"sees calls as they end, and chooses among them", tryLive},
		{"sees calls without a WebSocket, and that they are stale", tryPolling},
		{"sees a live part go on, break off and come back", tryLivePart},
		{"is told when no answer came", tryLostAnswer},
		{"sees calls that ended before the page was connected", tryMissedRows},
		{"goes by keyboard, and chooses colors", tryKeyboard},
		{"chooses among rows on a phone", tryFilters},
		{"filters calls, takes filters away, keeps one", tryCallFilter},
		{"compares two calls", tryCompare},
		{"stops new rows for a while", tryTail},
		{"has many rows wait, and misses none without being told", tryHeldRows},
		{"filters by times in a zone of one's own", tryTimesOfFilters},
		{"makes a key, signs in and out, and revokes it", tryKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, demoConfig)
			b.Begin(t)
			b.Prefer("light")
			b.Do(chromedp.EmulateViewport(1280, 800))
			defer b.Begin(t) // it leaves the page, which asks again and again
			c.try(t, b, w)
		})
	}
}

// has is the condition that the page says something.
func has(text string) string { return `document.body.innerText.includes(` + "`" + text + "`)" }

// press clicks the button, or the link that looks like one, with this text; of several the n-th, from 0.
func press(b *testparts.Browser, text string, n int) {
	b.Read(fmt.Sprintf("[...document.querySelectorAll('main button, main a.button')].filter((e) => e.textContent.trim() === %q)[%d].click(), ''", text, n))
}

func tryPaste(t *testing.T, b *testparts.Browser, w *world) {
	pasted := `{"mcpServers": {"one": {"builtin": "demo-shop", "gallery": true}, "shop": {"command": "no-such-program", "args": ["--token", "sk-abcdefgh12345678"], "env": {"MODE": "fast"}}}}`
	b.Do(chromedp.Navigate(w.URL+"/servers"), chromedp.Click(".head .button"))
	b.Until(`location.pathname === "/servers/add" && document.activeElement.name === "text"`)
	b.Do(chromedp.SetValue("[name=text]", pasted))
	press(b, "Continue", 0)
	b.Until(has("This was understood") + ` && document.querySelectorAll(".pasted section").length === 2`)
	for what, so := range map[string]string{
		"a secret is masked":           `!document.querySelector(".pasted").innerText.includes("sk-abc") && ` + has("no-such-program --token •••"),
		"a variable is masked":         has("MODE=•••"),
		"what was left out is said":    has("one: ignored gallery"),
		"a name that is taken is said": has("has a server shop already") + ` && !document.querySelectorAll("[name=use]")[1].checked`,
		"nothing was added":            `document.querySelectorAll("[name=use]")[0].checked`,
	} {
		if b.Read(`Boolean(`+so+`)`) != "true" {
			t.Errorf("%s: no, on %s", what, b.Read(`document.querySelector("main").innerText`))
		}
	}
	if w.app.Servers(); len(w.app.Servers()) != 4 {
		t.Errorf("%d servers before anything was added", len(w.app.Servers()))
	}
	b.Accessible(testparts.Axe(t))
	b.Screenshot("understood")
	b.Do(chromedp.SetValue(`[name="name.1"]`, "two"))
	press(b, "Edit", 1)
	b.Until(`document.querySelector(".server-form [name=command]")?.value.startsWith("no-such-program")`)
	b.Do(chromedp.SetValue(".server-form [name=command]", "no-such-program"))
	b.Read(`document.querySelector(".server-form [name=env]").value = ""`)
	press(b, "Add", 0)
	b.Until(`location.pathname === "/servers/two" && ` + has("Added. It does not work.") + " && " + has(`"no-such-program" does not exist`))
	if n := b.Read(`document.querySelectorAll(".notice").length`); n != "1" {
		t.Errorf("%s messages, want one", n)
	}
	b.Do(chromedp.Navigate(w.URL+"/servers/add"), chromedp.SetValue("[name=text]", `{"one": {"builtin": "demo-shop"}, "three": {"builtin": "demo-cloud"}}`))
	press(b, "Continue", 0)
	b.Until(has("This was understood"))
	b.Do(chromedp.SendKeys(`[name="name.1"]`, kb.Enter))
	b.Until(`location.pathname === "/servers" && ` + has("Added: one (up), three (up)"))
	b.Do(chromedp.Click(`.servers a[href="/tools?server=one"]`))
	b.Until(has("one__list_orders"))
	b.CheckConsole()
}

func tryServer(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL + "/servers/" + w.extra()))
	press(b, "Edit", 0)
	b.Until(`location.pathname === "/servers/stored/edit" && document.querySelector("[name=more]").value.includes("demo-shop")`)
	b.Do(chromedp.SetValue("[name=more]", `{"builtin": "demo-cloud", "timeout": "2m"}`))
	press(b, "Save", 0)
	b.Until(`location.pathname === "/servers/stored" && ` + has("Saved. It works.") + " && " + has("demo-cloud"))
	press(b, "Restart", 0)
	b.Until(has("Restarted. It works."))
	press(b, "Disable", 0)
	b.Until(has("Disabled. Its tools are hidden") + ` && ` + has("Enable") + ` && !` + has("Restart"))
	if v, err := w.app.Catalog.View("default"); err != nil || slices.ContainsFunc(v.Entries, func(e *catalog.Entry) bool { return e.Server == "stored" }) {
		t.Errorf("its tools are still there: %v", err)
	}
	press(b, "Enable", 0)
	b.Until(has("Enabled. It works."))
	press(b, "Refresh", 0)
	b.Until(has("Refreshed. It works."))
	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click(".actions .danger"))
	b.Until(`location.pathname === "/servers" && ` + has("Server removed"))
	b.Do(chromedp.Navigate(w.URL + "/servers/gone"))
	press(b, "Restart", 0)
	b.Until(has("Restarted. It does not work.") + " && " + has(`"no-such-program-here" does not exist`))
	b.CheckConsole()
}

func tryApprove(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL+"/servers/gone"), chromedp.Click(`input[value="read"]`), chromedp.Click(".held ~ .row button"))
	b.Until(has("Selected definitions approved") + ` && document.querySelectorAll(".held").length === 4`)
	b.Do(chromedp.Click(`input[value="upload"]`), chromedp.Click(".held ~ .row button.plain"))
	b.Until(has("Selected definitions rejected") + ` && document.querySelector('section:has(#out) input[value="upload"]')`)
	b.CheckConsole()
	v, err := w.app.Catalog.View("default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Find("gone__read"); err != nil {
		t.Error(err)
	}
	if _, err := v.Find("gone__upload"); err == nil {
		t.Error("what was not ticked is let through")
	}
}

func tryTool(_ *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL+"/tools"), chromedp.SendKeys("#q", "orders by status"))
	b.Until(`document.querySelector(".found a") && location.search.includes("q=orders")`)
	b.Do(chromedp.Navigate(w.URL+"/tools/shop__list_orders"), chromedp.SetValue(`[name="a:status"]`, `"paid"`),
		chromedp.SendKeys(`[name="a:limit"]`, `"2"`), chromedp.Click("#try-form button.go"))
	b.Until(`document.querySelector("#tried .beside") && ` + has("Succeeded") + " && " + has("Arguments after repair"))
	b.Until(`/"limit": 2\b/.test(document.querySelector("#tried .beside > :nth-child(2) pre").textContent)`)
	b.Do(chromedp.Navigate(w.URL+"/tools/shop__get_order"), chromedp.Click("#try-form button.go"))
	b.Until(`document.querySelector("#tried .notice.bad") && ` + has("bad_arguments"))
	b.CheckConsole()
}

// post calls a tool as a service would.
func (w *world) post(tool, args string) {
	w.t.Helper()
	resp, err := http.Post(w.URL+"/api/v1/tools/"+tool+"/call", "application/json", strings.NewReader(args))
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
}

func tryLive(_ *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	b.Until(has("No calls yet"))
	b.Read(`window.stays = true`)
	w.post("shop__list_orders", `{"limit":"1"}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 1 && window.stays && ` + has("repaired") + " && !" + has("No calls yet"))
	b.Do(chromedp.SetValue(`[name="outcome"]`, "error"), chromedp.Click(".filter button"))
	b.Until(`location.search.includes("outcome=error") && ` + has("No call matches"))
	b.Read(`window.stays = true`)
	w.post("shop__list_orders", `{}`)
	w.post("shop__get_order", `{}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 1 && window.stays && ` + has("bad_arguments"))
	b.Do(chromedp.Click("#calls a"))
	b.Until(`location.pathname.startsWith("/calls/c_") && ` + has("the call was rejected before it reached the tool"))
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	w.post("shop__list_orders", `{}`) // told of behind those that are there already, and are not shown twice
	b.Until(`document.querySelectorAll("#calls tr").length === 4`)
	b.CheckConsole()
}

func tryPolling(t *testing.T, b *testparts.Browser, w *world) {
	var gone atomic.Bool
	without := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/calls/live" || gone.Load() {
			http.NotFound(rw, r)
			return
		}
		w.Config.Handler.ServeHTTP(rw, r)
	}))
	defer without.Close()
	defer b.Begin(t) // it leaves the page, which asks again and again
	b.Do(chromedp.Navigate(without.URL + "/calls"))
	b.Until(has("No calls yet"))
	b.Read(`window.stays = true`)
	w.post("shop__list_orders", `{}`)
	b.Until(`document.querySelectorAll("#calls tr").length === 1 && window.stays`)
	if got := b.Read(`document.getElementById("stale").hidden`); got != "true" {
		t.Error("it says that it is stale, and it is not")
	}
	gone.Store(true)
	b.Read(`Date.now = ((now) => () => now() + 60_000)(Date.now)`) // a minute goes by
	b.Until(`!document.getElementById("stale").hidden && ` + has("Last updated"))
}

func tryKeyboard(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL + "/"))
	b.Until(`document.readyState === "complete"`)
	press := func(key string) { b.Do(chromedp.KeyEvent(key)) }
	b.Read(`Object.defineProperty(Event.prototype, "timeStamp", {get: () => 1})`) // however long the machine takes for a key
	press("g")
	press("t")
	b.Until(`location.pathname === "/tools" && document.readyState === "complete"`)
	press("/")
	b.Until(`document.activeElement.id === "q"`)
	b.Do(chromedp.SetValue("#theme", "dark")) // which sends the form
	b.Until(`document.documentElement.dataset.theme === "dark" && location.pathname === "/tools"`)
	if got := b.Read(`getComputedStyle(document.body).backgroundColor`); got != "rgb(20, 23, 22)" {
		t.Errorf("dark is %s", got)
	}
	b.Until(`document.readyState === "complete"`)
	b.Do(chromedp.Focus("#theme"))
	press(kb.ArrowUp)
	press(kb.ArrowUp)
	b.Until(`document.getElementById("theme").value === "system"`)
	if b.Read(`document.documentElement.dataset.theme`) != "dark" {
		t.Error("going through the choices chose one")
	}
	press(kb.Enter)
	b.Until(`!("theme" in document.documentElement.dataset) && document.readyState === "complete"`)
	b.Do(chromedp.EmulateViewport(390, 844), chromedp.Click("button.menu"))
	b.Until(`document.getElementById("nav").checkVisibility()`)
	press(kb.Escape)
	b.Until(`!document.getElementById("nav").checkVisibility() && document.activeElement.matches("button.menu")`)
	b.CheckConsole()
}

func tryKeys(_ *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL+"/keys"), chromedp.SendKeys(`[name="name"]`, "root"), chromedp.SetValue(`[name="role"]`, "admin"),
		chromedp.Click(".row button"))
	b.Until(has("Key root created"))
	key := b.Read(`document.querySelector(".sheet.good pre").textContent`)
	b.CheckConsole()
	b.Begin(w.t)
	b.Do(chromedp.Navigate(w.URL + "/calls"))
	b.Until(has("Enter yours to sign in"))
	b.Accessible(testparts.Axe(w.t))
	b.Screenshot("sign-in")
	b.Begin(w.t) // a browser complains of HTTP 401
	b.Do(chromedp.Navigate(w.URL+"/calls"), chromedp.SendKeys(`[name="key"]`, key), chromedp.Click(".sign-in button"))
	b.Until(`location.pathname === "/calls" && ` + has("Sign out") + ` && document.readyState === "complete"`)
	b.Begin(w.t)
	b.Do(chromedp.Navigate(w.URL+"/keys"), chromedp.SendKeys(`[name="name"]`, "ann"), chromedp.Click(".row button"))
	b.Until(has("Key ann created"))
	b.Do(chromedp.Click(`a[aria-label="Rotate ann"]`))
	b.Until(`location.search.startsWith("?rotate=") && ` + has("Make new secret"))
	b.Accessible(testparts.Axe(w.t))
	b.Screenshot("rotate")
	b.Do(chromedp.SetValue(`#rotate [name="overlap"]`, "1h"), chromedp.SetValue(`#rotate [name="expires"]`, "90d"), chromedp.Click("#rotate button"))
	b.Until(has("Key ann has a new secret") + ` && ` + has("The old secret works until"))
	b.Accessible(testparts.Axe(w.t))
	b.Screenshot("rotated")
	b.Do(chromedp.SendKeys(`[name="name"]`, "several"), chromedp.SetValue(`.stack [name="expires"]`, "30d"),
		chromedp.Click(`[name="more"][value="orders"]`))
	if again := b.Read(`(() => {
		const form = document.querySelector("form.stack");
		form.requestSubmit();
		return form.dispatchEvent(new SubmitEvent("submit", { bubbles: true, cancelable: true }));
	})()`); again != "false" {
		w.t.Error("a second click sends the form again, and its answer hides the key")
	}
	b.Until(has("Key several created") + ` && ` + has("default, orders"))
	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click(`form[data-confirm*="several"] button`))
	b.Until(has("Key revoked") + ` && document.querySelectorAll("tbody tr").length === 2`)
	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click(`form[data-confirm*="ann"] button`))
	b.Until(has("Key revoked") + ` && document.querySelectorAll("tbody tr").length === 1`)
	b.CheckConsole()
	b.Do(chromedp.Click(`form[action="/sign-out"] button`))
	b.Until(has("Enter yours to sign in"))
}
