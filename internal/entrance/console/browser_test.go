package console_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// pages are the paths of all pages, for what is tried on each of them. A new page is one
// more line here.
func pages(w *world) []string {
	if err := os.WriteFile(w.cfg.Path, []byte(demoConfig), 0o600); err != nil { // servers show their lines in it
		w.t.Fatal(err)
	}
	repaired, cut, refused := w.furnish()
	chat, failed, running := w.furnishTalk()
	script, inner := w.furnishScript()
	asks := w.waits("local")
	w.asks(asks, "Which quarter is the report for?")
	w.waits("local")
	w.question("q1", "somebody")
	return append([]string{
		"/", "/servers", "/servers/shop", "/servers/gone", "/servers/add?text=npx+-y+some-server", "/servers/add/form", "/servers/" + w.extra(), "/servers/stored/edit", "/tools", "/tools?q=orders+of+a+customer", "/tools?is=read-only&server=shop", "/tools/gone__read", "/tools/shop__list_orders", "/tools/shop__category_tree", "/tools/cloud__envQuery?for=openai-strict",
		"/calls", "/calls?outcome=error", "/calls/" + repaired, "/calls/" + cut, "/calls/" + refused, "/calls/" + asks.ID, "/calls/" + script, "/calls/" + inner, "/calls?parent=" + script, "/calls?level=error&last=24h&cut=false&session=ses_orders", "/calls/timeline?last=1h", "/calls/compare?a=" + refused + "&b=" + repaired, "/keys", "/people", "/audit", "/policy", "/approvals", "/approvals/q1", "/recipes", "/recipes/save/" + script, "/clients", "/clients?client=openai-agents", "/connections", "/find?q=orders", "/help/upstream_down", "/no-such-page",
		"/chat", "/chat/" + chat, "/environments", "/environments/sessions", "/environments/sessions/" + chat, "/environments/logs?level=warn", "/runs", "/runs/" + failed, "/runs/" + running,
	}, resultPages(w)...)
}

// look is how a person looks at a page.
type look struct {
	lang, theme   string
	width, height int64
}

func (l look) String() string { return fmt.Sprintf("%s-%s-%d", l.lang, l.theme, l.width) }

// looks are both languages, light and dark, wide and on a phone: two that have each of these
// once, and all when pictures are wanted.
func looks() []look {
	few := []look{{"en-US", "light", 1280, 800}, {"zh-CN", "dark", 390, 844}}
	if os.Getenv("TOOLFIT_SCREENSHOTS") == "" {
		return few
	}
	all := few[:1]
	for _, lang := range []string{"en-US", "zh-CN"} {
		for _, theme := range []string{"light", "dark"} {
			all = append(all, look{lang, theme, 1280, 800}, look{lang, theme, 390, 844})
		}
	}
	return slices.Compact(all) // the first, which axe-core looks at whole, stays the first
}

// rules are what axe-core looks at: all for the first look, and what differs for the others.
func (l look) rules() []string {
	if l == looks()[0] {
		return nil
	}
	return []string{"color-contrast", "target-size"}
}

// take lets the browser look so from now on.
func (l look) take(b *testparts.Browser, w *world) {
	b.Prefer(l.theme)
	var how []chromedp.EmulateViewportOption
	if l.width < 500 {
		how = append(how, chromedp.EmulateMobile)
	}
	b.Do(chromedp.EmulateViewport(l.width, l.height, how...), chromedp.Navigate(w.URL+"/"))
	b.Read(`document.cookie = "toolfit_sign_in=anything; path=/"`) // whoever has signed in can sign out: the bar is at its widest
	if b.Read("document.documentElement.lang") != l.lang {
		b.Do(chromedp.Click(`button[name="language"]`))
		b.Until(`document.documentElement.lang === "` + l.lang + `"`)
	}
}

// TestEveryPageInARealBrowser shows every page: nothing is complained of, nothing hangs over,
// everything can be read.
func TestEveryPageInARealBrowser(t *testing.T) {
	w := newWorld(t, demoConfig)
	axe := testparts.Axe(t)
	b := testparts.NewBrowser(t, "en-US")
	b.EmulateFocus()
	all := pages(w)
	for _, l := range looks() {
		b.Begin(t)
		l.take(b, w)
		for _, path := range all {
			t.Run(l.String()+path, func(t *testing.T) {
				b.Begin(t)
				tryPage(t, b, w.URL+path, l.width)
				name := strings.Trim(strings.NewReplacer("/", "_", "?", "_", "=", "-").Replace(path), "_")
				b.Screenshot(cmp.Or(name, "overview") + "." + l.String())
				unfold(b)
				b.Accessible(axe, l.rules()...)
			})
		}
	}
}

// unfold opens what is folded, with what is loaded only then.
func unfold(b *testparts.Browser) {
	b.Read(`(() => {
		const folded = [...document.querySelectorAll("main details:not([open])")];
		window.loading = new Set(folded.filter((d) => d.hasAttribute("hx-get")));
		document.addEventListener("htmx:afterSettle", (e) => { window.loading.delete(e.detail.requestConfig.elt) });
		for (const d of folded) d.open = true;
	})()`)
	b.Until(`window.loading.size === 0`)
}

func tryPage(t *testing.T, b *testparts.Browser, address string, width int64) {
	b.Do(chromedp.Navigate(address))
	b.Until(`document.readyState === "complete" && window.htmx`)
	if over := b.Read(fmt.Sprintf(`Math.max(0, document.documentElement.scrollWidth - %d)`, width)); over != "0" {
		t.Errorf("the page is %s px wider than the window", over)
	}
	if lost := b.Read(unreachable); lost != "" {
		t.Errorf("not for those who have only a keyboard: %s", lost)
	}
	if !strings.HasSuffix(address, "/no-such-page") { // a browser complains of a page that is not there
		b.CheckConsole()
	}
}

// unreachable names what can be used, but not be focused, or not be seen to have the focus.
// The field of the chat has its frame drawn by what is around it.
const unreachable = `(() => {
	const lost = [];
	for (const el of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
		if (el.disabled || !el.checkVisibility() || el.closest(".composer")) continue;
		el.focus({ preventScroll: true, focusVisible: true });
		if (document.activeElement !== el || el.tabIndex < 0 || getComputedStyle(el).outlineStyle === "none") lost.push(el.outerHTML.slice(0, 120));
	}
	document.activeElement.blur();
	return lost.join("\n");
})()`
