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
	repaired, cut, refused := w.furnish()
	chat, failed, running := w.furnishTalk()
	script, inner := w.furnishScript()
	asks := w.waits("local")
	w.asks(asks, "Which quarter is the report for?")
	w.waits("local")
	return append([]string{
		"/", "/servers", "/servers/shop", "/servers/gone", "/tools", "/tools?q=orders+of+a+customer", "/tools/shop__list_orders", "/tools/cloud__envQuery?for=openai-strict",
		"/calls", "/calls?outcome=error", "/calls/" + repaired, "/calls/" + cut, "/calls/" + refused, "/calls/" + asks.ID, "/calls/" + script, "/calls/" + inner, "/calls?parent=" + script, "/keys", "/policy", "/connections", "/no-such-page",
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
				b.Accessible(axe, l.rules()...)
				name := strings.Trim(strings.NewReplacer("/", "_", "?", "_", "=", "-").Replace(path), "_")
				b.Screenshot(cmp.Or(name, "overview") + "." + l.String())
			})
		}
	}
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
