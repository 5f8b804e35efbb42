package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestByKeyboardAlone does in a real browser what the keyboard can do on every page.
func TestByKeyboardAlone(t *testing.T) {
	w := newWorld(t, demoConfig)
	w.furnish()
	b := testparts.NewBrowser(t, "en-US")
	b.EmulateFocus()
	for _, act := range []struct {
		name string
		try  func(t *testing.T, b *testparts.Browser, w *world)
	}{
		{"the palette leads to a page", tryPalette},
		{"the palette changes a setting", tryPaletteSetting},
		{"rows are gone through", tryRows},
		{"a chosen row stays chosen while rows come in", tryRowsThatComeIn},
	} {
		t.Run(act.name, func(t *testing.T) {
			b.Begin(t)
			act.try(t, b, w)
			b.CheckConsole()
		})
	}
}

// pressKeys presses keys one after another.
func pressKeys(b *testparts.Browser, keys ...string) {
	for _, key := range keys {
		b.Do(chromedp.KeyEvent(key))
	}
}

const inPalette = `document.querySelector("#palette [aria-selected=true]")`

func tryPalette(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/calls")
	b.Do(chromedp.Focus("a.brand"))
	open := func() {
		b.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		b.Until(`document.getElementById("palette").open && ` + inPalette)
	}
	open()
	if got := b.Read(`document.activeElement.getAttribute("role")`); got != "combobox" {
		t.Errorf("the focus is in %s", got)
	}
	pressKeys(b, kb.Escape)
	b.Until(`!document.getElementById("palette").open && document.activeElement.matches("a.brand")`) // the focus is back
	open()
	b.Accessible(testparts.Axe(t))
	pressKeys(b, "o", "r", "d", "e", "r", "s")
	b.Until(inPalette + `?.textContent.includes("list_orders") && document.activeElement.getAttribute("aria-activedescendant") === ` + inPalette + `.id`)
	b.Screenshot("palette.en-US-light-1280")
	first := b.Read(inPalette + `.id`)
	pressKeys(b, kb.ArrowDown)
	b.Until(inPalette + `.id !== "` + first + `"`)
	pressKeys(b, kb.ArrowUp, kb.ArrowUp) // the last
	b.Until(inPalette + `.matches(":last-of-type")`)
	pressKeys(b, kb.ArrowDown, kb.Enter)
	b.Until(`location.pathname === "/tools/shop__list_orders" && document.readyState === "complete" && window.htmx`)
	open() // what was opened last comes first
	b.Until(inPalette + `.getAttribute("href") === "/tools/shop__list_orders"`)
	pressKeys(b, "n", "o", "b", "o", "d", "y", "!")
	b.Until(`document.querySelector("#palette [aria-disabled]") && !document.activeElement.hasAttribute("aria-activedescendant")`)
	pressKeys(b, kb.Enter, kb.Escape)
	b.Until(`!document.getElementById("palette").open`)
}

func tryPaletteSetting(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/tools")
	b.Do(chromedp.Click("a.find"))
	b.Until(inPalette)
	pressKeys(b, "d", "a", "r", "k", kb.Enter) // before the list is there
	b.Until(`document.documentElement.dataset.theme === "dark" && location.pathname === "/tools" && document.readyState === "complete" && window.htmx`)
	b.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierMeta)))
	b.Until(inPalette)
	pressKeys(b, "s", "y", "s", "t", "e", "m", kb.Enter)
	b.Until(`!document.documentElement.dataset.theme && document.readyState === "complete" && window.htmx`)
	pressKeys(b, "?")
	b.Until(`document.getElementById("shortcuts").open`)
	b.Accessible(testparts.Axe(t))
	b.Screenshot("shortcuts.en-US-light-1280")
	pressKeys(b, kb.Enter) // its button
	b.Until(`!document.getElementById("shortcuts").open`)
}

const chosenRow = `document.activeElement.closest("tr")`

func tryRows(t *testing.T, b *testparts.Browser, w *world) {
	visitPage(b, w, "/tools")
	pressKeys(b, "j", "j", "k", kb.ArrowDown)
	b.Until(chosenRow + `?.rowIndex === 2 && getComputedStyle(document.activeElement).outlineStyle !== "none"`)
	b.Screenshot("row.en-US-light-1280")
	name := b.Read(`document.activeElement.textContent.trim()`)
	pressKeys(b, kb.Enter)
	b.Until(`location.pathname === "/tools/" + ` + "`" + name + "`")
	visitPage(b, w, "/tools")
	pressKeys(b, "/", "j", "x", "?")
	b.Until(`document.activeElement.value?.endsWith("jx?") && !document.getElementById("shortcuts").open`) // what is typed is text
	visitPage(b, w, "/results/"+w.kept())
	pressKeys(b, "j", "j")
	const ticked = `document.activeElement.closest(".node")?.querySelector("input").checked`
	was := b.Read(ticked)
	pressKeys(b, "x")
	b.Until(`String(` + ticked + `) !== "` + was + `"`)
}

func tryRowsThatComeIn(t *testing.T, b *testparts.Browser, w *world) {
	q := newQuick(t, w)
	defer b.Begin(t) // it leaves the page, which asks again and again
	b.Do(chromedp.Navigate(q.URL + "/"))
	b.Until(`window.htmx && document.querySelector("#live .scroll")`)
	pressKeys(b, "j", "j")
	chosen := b.Read(`document.activeElement.getAttribute("href")`)
	b.Read(`document.getElementById("live").dataset.old = "yes"`)
	b.Until(`!document.getElementById("live").dataset.old && document.activeElement.getAttribute("href") === "` + chosen + `"`)
	visitPage(b, w, "/calls")
	pressKeys(b, "j", "j")
	chosen = b.Read(`document.activeElement.getAttribute("href")`)
	b.Until(`document.querySelector("[ws-connect]")`)
	w.post("shop__list_orders", `{"limit":3}`)
	b.Until(`document.querySelectorAll("#calls tr").length > 50 && document.activeElement.getAttribute("href") === "` + chosen + `"`)
}

func TestThePaletteIsAPageWithoutJavaScript(t *testing.T) {
	w := newWorld(t, demoConfig)
	repaired, cut, _ := w.furnish()
	p := w.person()
	for typed, want := range map[string]string{
		"list_ord":       `href="/tools/shop__list_orders"`,
		"gone":           `href="/servers/gone"`,
		"Policy":         `not set up, see docs/policy.md`,
		"审批":             `href="/approvals"`,
		"upstream_down":  `href="/help/upstream_down"`,
		"audit":          `href="/audit"`,
		"dark":           `name="theme" value="dark"`,
		"中文":             `name="language" value="zh"`,
		repaired:         `href="/calls/` + repaired + `"`,
		cut[:len(cut)-3]: `href="/calls/` + cut + `"`,
		w.kept():         `href="/results/r_`,
		"no such thing":  `Nothing found`,
		"c_\x00":         `Nothing found`,
		"ses_none":       `Nothing found`,
		"r_none":         `Nothing found`,
	} {
		status, body := p.ask("GET", "/find?q="+url.QueryEscape(typed), nil)
		if _, main, _ := strings.Cut(body, "<main"); status != 200 || !strings.Contains(main, want) {
			t.Errorf("%q: HTTP %d without %s: %.600s", typed, status, want, main)
		}
	}
	if status, body := p.ask("GET", "/help/upstream_down", nil); status != 200 || !strings.Contains(body, "<code>npx</code>") || !strings.Contains(body, "toolfit doctor\ntoolfit servers") {
		t.Errorf("HTTP %d: %s", status, body[strings.Index(body, "<main"):])
	}
	if status, _ := p.ask("GET", "/help/..%2Fpages.go", nil); status != 404 {
		t.Errorf("HTTP %d", status)
	}
}

func TestThePaletteShowsPeopleWhatTheyMaySee(t *testing.T) {
	w := newWorld(t, demoConfig)
	_, cut, _ := w.furnish()
	root := w.person()
	root.signIn(w.key("root", "*", access.Admin))
	for _, path := range []string{"/servers/add", "/keys#new"} {
		if _, body := root.ask("GET", "/find?q=new", nil); !strings.Contains(body, `href="`+path+`"`) {
			t.Errorf("nothing leads to %s", path)
		}
	}
	ann := w.person()
	ann.signIn(w.key("ann", "orders", access.Caller))
	for typed, never := range map[string]string{
		"envQuery": "/tools/cloud__envQuery", "cloud": "/servers/cloud", cut: "/calls/" + cut, "policy": `"/policy"`, "keys": `"/keys"`, "audit": `"/audit"`,
		"add": "/servers/add", "rules": "/results/rules", "ses_orders": "/sessions/ses_orders",
	} {
		status, body := ann.ask("GET", "/find?q="+url.QueryEscape(typed), nil)
		if _, main, _ := strings.Cut(body, "<main"); status != 200 || strings.Contains(main, never) {
			t.Errorf("%q: HTTP %d, with %s", typed, status, never)
		}
	}
	if _, body := ann.ask("GET", "/find?q=list_orders", nil); !strings.Contains(body, `href="/tools/shop__list_orders"`) {
		t.Error("her own tool is not found")
	}
}
