package console_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// visitPage opens a page and waits until its scripts are there.
func visitPage(b *testparts.Browser, w *world, path string) {
	b.Do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.URL+path))
	b.Until(`document.readyState === "complete" && window.htmx`)
}

// box is the tick of a field, by its name and those above it.
func box(names ...string) string {
	js := `document.querySelector(".tree")`
	for _, name := range names {
		js = `[...` + js + `.querySelectorAll(":scope > ul > li")].find((li) => li.querySelector(":scope > .node label").textContent.trim() === "` + name + `")`
	}
	return js + `.querySelector(":scope > .node input")`
}

// put gives an input of the form another value, as a person would leave it.
func put(b *testparts.Browser, name, value string) {
	b.Read(`((e) => { e.value = ` + strconv.Quote(value) + `; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector('[name="` + name + `"]'))`)
}

// TestWhatPeopleDoWithResults does in a real browser what a person can do on the pages about
// results, prompts and actions. The browser has nothing to complain of.
func TestWhatPeopleDoWithResults(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	for _, act := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser, w *world)
	}{
		{"fields are ticked and the mask follows", tryFieldsAreTickedAndTheMaskFollows},
		{"fields all and none", tryFieldsAllAndNone},
		{"hostile fields stay text", tryHostileFields},
		{"rule is switched edited and deleted", tryRuleIsSwitchedEditedAndDeleted},
		{"prompt follows the wishes", tryPromptFollowsTheWishes},
		{"action is looked up and called", tryActionIsLookedUpAndCalled},
		{"proposal is put in force by a click", tryProposalIsPutInForceByAClick},
	} {
		t.Run(act.name, func(t *testing.T) {
			w := newWorld(t, demoConfig)
			b.Begin(t)
			act.try(t, b, w)
			b.CheckConsole()
		})
	}
}

const (
	expression = `document.querySelector("[name=expression]").value`
	shown      = `document.querySelector("#preview").innerText`
)

// tryFieldsAreTickedAndTheMaskFollows goes the whole way: tick, see, save, see it cut.
func tryFieldsAreTickedAndTheMaskFollows(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/results/"+w.kept())
	b.Until(box("EnvList") + `.indeterminate && ` + box("EnvList", "EnvId") + `.checked && !` + box("EnvList", "Tags") + `.checked`)
	before := b.Read(`document.querySelector(".counts b").textContent`)

	b.Read(box("EnvList", "PackageId") + `.click()`)
	b.Until(expression + `.includes("PackageName,PackageId,IsDefault") && ` + shown + `.includes('"PackageId"')`)
	if after := b.Read(`document.querySelector(".counts b").textContent`); after == before {
		t.Errorf("one field more costs the same %s tokens", after)
	}

	b.Read(box("EnvList", "Tags") + `.click()`) // what is in it is ticked with it
	b.Until(box("EnvList", "Tags", "Key") + `.checked && ` + expression + `.includes("IsDefault,Tags)")`)
	b.Read(box("EnvList", "Tags", "Key") + `.click()`)
	b.Until(`!` + box("EnvList", "Tags") + `.checked && ` + box("EnvList",
		"Tags") + `.indeterminate && ` + expression + `.includes("Tags/Value")`)

	put(b, "expression", "EnvList(EnvId,Alias)")
	b.Until(`!` + box("EnvList", "Status") + `.checked && ` + box("EnvList", "Alias") + `.checked && !` + shown + `.includes('"Status"')`)
	b.Do(chromedp.SendKeys(`[name=expression]`, `(`))
	b.Until(shown + `.includes("at byte")`)
	b.Do(chromedp.SendKeys(`[name=expression]`, "\b"))
	b.Until(shown + `.includes("tokens")`)

	put(b, "id", "my-list")
	b.Do(chromedp.Click(`form#rule button:not([type=button])`))
	b.Until(`location.pathname === "/results/rules" && document.body.innerText.includes("Rule saved") && document.body.innerText.includes("my-list")`)
	if _, body := w.person().ask("GET", "/results/"+w.callModel("cloud__envQuery", `{"action":"list"}`), nil); !strings.Contains(body, "<dd>my-list</dd>") {
		t.Errorf("the next call was not cut by the rule: %.2000s", body)
	}
}

func tryFieldsAllAndNone(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/results/"+w.kept())
	b.Do(chromedp.Click(`[data-tick=all]`))
	b.Until(expression + ` === "" && ` + shown + `.includes("keeps 100%")`)
	b.Do(chromedp.Click(`[data-tick=none]`))
	b.Until(`document.querySelectorAll(".tree input:checked").length === 0`)
	b.Read(box("TotalCount") + `.click()`)
	b.Until(expression + ` === "TotalCount" && ` + shown + `.includes('"TotalCount"')`)
	b.Read(box("TotalCount") + `.click()`)
	b.Until(shown + `.includes("Tick at least one field")`)
	b.Do(chromedp.Click(`.tree .fold-mark`))
	b.Until(`document.querySelector(".tree li").classList.contains("closed")`)
	b.Do(chromedp.Click(`.folds details:last-child summary`))
	b.Until(`document.querySelector("#full pre")?.textContent.includes("structuredContent")`)
}

// tryHostileFields ticks fields whose names and values try to be more than text.
func tryHostileFields(t *testing.T, b *testparts.Browser, w *world) {
	const evil = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`
	name := strconv.Quote(evil)
	deep := strings.Repeat(`{"d":`, 300) + `"\u202eevil"` + strings.Repeat("}", 300)
	w.keep(t, "r_evil", `{"structuredContent":{"rows":[{`+name+`:`+name+`,"plain":1,"\u202etxt.exe":2}],"deep":`+deep+`}}`)
	visitPage(b, w, "/results/r_evil")
	b.Read(`[...document.querySelectorAll(".tree .fold-mark")].forEach((e) => e.click())`)
	b.Read(box("rows", "plain") + `.click()`)
	b.Until(expression + `.includes('img src=x onerror') && !` + shown + `.includes('"plain": 1') && ` + shown + `.includes("<script>")`)
	if b.Read(`window.pwned`) != "undefined" || b.Read(`document.querySelectorAll("main img").length`) != "0" {
		t.Error("a text was more than text")
	}
	if strings.Contains(b.Read(`document.querySelector(".tree").innerText`), "\u202e") {
		t.Error("a name turns the text around")
	}
	if !strings.Contains(b.Read(`document.body.innerText`), "There are more fields") {
		t.Error("the page does not say that the tree is cut")
	}
}

func tryRuleIsSwitchedEditedAndDeleted(t *testing.T, b *testparts.Browser, w *world) {
	said := func(text string) { b.Until(`document.querySelector("#notice").innerText.includes("` + text + `")`) }
	visitPage(b, w, "/results/rules")
	put(b, "tool", "shop__list_orders")
	put(b, "expression", "orders(id")
	put(b, "id", "orders")
	b.Do(chromedp.Click(`#edit button`))
	b.Until(`document.querySelector("#edit .notice")?.innerText.includes("at byte 9")`)
	put(b, "expression", "orders(id)")
	b.Read(`document.querySelector("#edit [name=mode]").value = "shadow"`)
	b.Do(chromedp.Click(`#edit button`))
	said("Rule saved")

	const mode = `form[action="/results/rules/orders/mode"] select`
	b.Until(`document.querySelector('` + mode + `').value === "shadow"`)
	b.Read(`(() => { const s = document.querySelector('` + mode + `'); s.value = "on"; s.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	said("mode changed")
	b.Until(`document.querySelector('` + mode + `').value === "on"`)

	b.Do(chromedp.Click(`a[href="/results/rules?edit=orders#edit"]`))
	b.Until(`location.search === "?edit=orders" && document.querySelector("[name=expression]").value === "orders(id)"`)
	put(b, "budget", "400")
	b.Do(chromedp.Click(`#edit button`))
	said("Rule saved")
	b.Until(`document.body.innerText.includes("Budget 400")`)

	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click(`form[action="/results/rules/orders/delete"] button`))
	said("Rule deleted")
	b.Until(`!document.querySelector('` + mode + `')`)
}

func TestBuiltInRuleIsSwitchedByACopy(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	if status, body := p.ask("POST", "/results/rules/cloud-envQuery-list/mode", map[string][]string{"mode": {"off"}}); status != 200 ||
		!strings.Contains(body, "another rule of this id counts before it") {
		t.Fatalf("HTTP %d: %.500s", status, body)
	}
	if ref := w.callModel("cloud__envQuery", `{"action":"list"}`); ref != "" {
		t.Error("a rule that is off cuts")
	}
	p.ask("POST", "/results/rules/cloud-envQuery-list/delete", map[string][]string{})
	if ref := w.callModel("cloud__envQuery", `{"action":"list"}`); ref == "" {
		t.Error("the built-in rule does not come back")
	}
}

func tryPromptFollowsTheWishes(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/prompt")
	const text = `document.querySelector("#text pre").textContent`
	b.Until(text + `.includes("type shop__list_orders")`)
	put(b, "format", "json")
	b.Until(text + `.trim().startsWith("[")`)
	put(b, "format", "sig")
	b.Do(chromedp.SendKeys(`[name=budget]`, "200"))
	b.Until(`/[1-9]\d* by name/.test(document.querySelector("#text").innerText)`)
	put(b, "profile", "orders")
	b.Until(`!` + text + `.includes("cloud__") && ` + text + `.includes("list_orders")`)
	put(b, "budget", "many")
	b.Until(`document.querySelector("#text").innerText.includes("must be a number")`)
	if status, body := w.person().ask("GET", "/prompt/file?format=md", nil); status != 200 || !strings.Contains(body, "## Available Tools") {
		t.Errorf("HTTP %d: %.200s", status, body)
	}
}

func tryActionIsLookedUpAndCalled(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/recall")
	b.Do(chromedp.Click(`tbody th a`))
	b.Until(`document.body.innerText.includes("mcp/proxy/shop/tools/list_orders/call") && document.querySelector('[name="a:limit"]').value === "2"`)
	put(b, "a:status", `"paid"`)
	b.Do(chromedp.Click(`form.stack > button:not([hidden])`))
	b.Until(`document.querySelector("#called")?.innerText.includes("HTTP 200")`)
	b.Until(`document.body.innerText.includes('"status": "paid"') || document.body.innerText.includes('\\"status\\": \\"paid\\"')`)
	put(b, "a:limit", "much")
	b.Do(chromedp.Click(`form.stack > button:not([hidden])`))
	b.Until(`document.querySelector("#called")?.innerText.includes("HTTP 400")`)
	visitPage(b, w, "/recall?kn_id=shop&at_id=nope")
	b.Until(`document.querySelector(".notice.bad") && !document.querySelector("form.stack")`)
}
