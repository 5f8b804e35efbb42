package console_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testparts"
)

// pages are the paths of all pages, for what is tried on each of them. A new page is one
// more line here.
func pages(w *world) []string {
	return append([]string{"/", "/keys", "/no-such-page"}, resultPages(w)...)
}

// look is how a person looks at a page.
type look struct {
	lang, theme   string
	width, height int64
}

func (l look) String() string { return fmt.Sprintf("%s-%s-%d", l.lang, l.theme, l.width) }

var looks = []look{
	{"en", "light", 1280, 800}, {"en", "dark", 390, 844}, {"zh", "dark", 1280, 800}, {"zh", "light", 390, 844},
}

// TestEveryPageInARealBrowser shows every page in both languages, light and dark, wide and on
// a phone: nothing is complained of, nothing hangs over, everything can be read.
func TestEveryPageInARealBrowser(t *testing.T) {
	w := newWorld(t, demoConfig)
	axe := testparts.Axe(t)
	b := testparts.NewBrowser(t, "en-US")
	for _, l := range looks {
		for _, path := range pages(w) {
			t.Run(l.String()+path, func(t *testing.T) { tryLook(t, b, w, l, path, axe) })
		}
	}
}

func tryLook(t *testing.T, b *testparts.Browser, w *world, l look, path, axe string) {
	b.Begin(t)
	b.Prefer(l.theme)
	var how []chromedp.EmulateViewportOption
	if l.width < 500 {
		how = append(how, chromedp.EmulateMobile)
	}
	b.Do(chromedp.EmulateViewport(l.width, l.height, how...), chromedp.Navigate(w.URL+"/"))
	if want := map[string]string{"en": "en-US", "zh": "zh-CN"}[l.lang]; b.Read("document.documentElement.lang") != want {
		b.Do(chromedp.Click(`button[name="language"]`))
		b.Until(`document.documentElement.lang === "` + want + `"`)
	}
	b.Do(chromedp.Navigate(w.URL + path))
	b.Until(`document.readyState === "complete" && window.htmx`)
	if over := b.Read(`document.documentElement.scrollWidth - innerWidth`); strings.HasPrefix(over, "-") == false && over != "0" {
		t.Errorf("the page is %s px wider than the window", over)
	}
	b.Accessible(axe)
	name := strings.Trim(strings.NewReplacer("/", "_", "?", "_", "=", "-").Replace(path), "_")
	if name == "" {
		name = "overview"
	}
	b.Keep(name + "." + l.String())
	if path != "/no-such-page" { // a browser complains of a page that is not there
		b.Quiet()
	}
}
