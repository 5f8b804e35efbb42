package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// tryFilters looks at the filters on a phone: they leave the room to the rows, and what is
// chosen is never out of sight.
func tryFilters(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	for path, hidden := range map[string]string{"/calls": "outcome", "/environments/logs": "since", "/environments/sessions": "parent"} {
		b.Do(chromedp.Navigate(w.URL + path))
		b.Until(`document.querySelector(".filter")`)
		if got := b.Read(`document.querySelector(".filter").offsetHeight > innerHeight / 5`); got != "false" {
			t.Errorf("%s: the filters are %s px high", path, b.Read(`document.querySelector(".filter").offsetHeight`))
		}
		field := `document.querySelector(".filter [name=` + hidden + `]")`
		if b.Read(field+`.checkVisibility()`) != "false" {
			t.Errorf("%s: %s is always shown", path, hidden)
		}
		b.Do(chromedp.Focus(".more input"), chromedp.KeyEvent(" "))
		b.Until(field + `.checkVisibility()`)
	}
	b.Do(chromedp.Navigate(w.URL + "/calls?outcome=error"))
	b.Until(`document.querySelector(".chips a")?.checkVisibility()`)
	b.CheckConsole()
}
