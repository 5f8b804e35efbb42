package testparts

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Browser is a real one, with one open tab.
type Browser struct {
	t   testing.TB
	ctx context.Context

	mu      sync.Mutex
	console []string // what the page wrote to it
}

// NewBrowser starts a browser that prefers the language. Without Chromium the test ends.
func NewBrowser(t testing.TB, language string) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		Missing(t, "no Chromium on PATH: the pages are not tried in a browser")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(patience), chromedp.Flag("accept-lang", language))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	tab, closeTab := chromedp.NewContext(alloc)
	b := &Browser{t: t, ctx: tab}
	var listening sync.WaitGroup
	t.Cleanup(func() {
		closeTab()
		stop()
		listening.Wait()
	})
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil { // starts it
		t.Fatal(err)
	}
	messages := chromedp.Console(tab)
	listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return // it has ended
			}
			b.mu.Lock()
			b.console = append(b.console, m.String())
			b.mu.Unlock()
		}
	})
	return b
}

// Begin lets another test use the browser.
func (b *Browser) Begin(t testing.TB) {
	b.t = t
	b.Do(chromedp.Navigate("about:blank"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = nil
}

// CheckConsole fails the test if the page has written to the console.
func (b *Browser) CheckConsole() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.console) > 0 {
		b.t.Errorf("the browser's console is not empty: %q", b.console)
	}
	b.console = nil
}

const patience = time.Minute // with the machine, not with the page

// Do takes steps in the browser.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// Read gives the value of an expression.
func (b *Browser) Read(expression string) string {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// Until waits for a condition of the page, and until it has loaded: elements found before then are lost to Click. It polls: a
// page that is loading cannot answer.
func (b *Browser) Until(condition string) {
	b.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	holds := `document.readyState === "complete" && Boolean(` + condition + ")"
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		if ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](holds)); err == nil && ok {
			return
		}
	}
	b.t.Fatalf("%s does not hold; the page says %.500s", condition, b.Read("document.body.innerText"))
}

// Prefer sets what the system of the browser prefers: light or dark.
func (b *Browser) Prefer(theme string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// EmulateFocus puts the window in front: only there is the focus visible.
func (b *Browser) EmulateFocus() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		b.t.Fatal(err)
	}
}

// In puts the browser into a time zone; "" is where it really is.
func (b *Browser) In(zone string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone}); err != nil {
		b.t.Fatal(err)
	}
}

// Screenshot writes a picture of the whole page to the folder TOOLFIT_SCREENSHOTS, if it is set.
func (b *Browser) Screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("TOOLFIT_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b.Picture(), 0o644); err != nil {
		b.t.Error(err)
	}
}

// Picture is the whole page.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	return picture
}

// Accessible checks the page by the rules of axe-core, or only by the named ones. Without axe-core
// nothing is checked.
func (b *Browser) Accessible(axe string, rules ...string) {
	b.t.Helper()
	if axe == "" {
		return
	}
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	how, _ := json.Marshal(options) // texts only
	// A fixed bar covers what is scrolled below it, which is no error of the page.
	script := axe + `; scrollTo(0, 0); axe.run(document, ` + string(how) + `).then(r => r.violations.map(v => v.id + ": " +
		v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + (n.any[0] || n.all[0] || n.none[0] || {}).message + ")").join("; "),
	).join("\n"))`
	wrong, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	if wrong != "" {
		b.t.Errorf("not accessible:\n%s", wrong)
	}
}

// Axe is the script of axe-core; "" where the npm parts are not installed.
func Axe(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(os.Getenv("TOOLFIT_NODE_PARTS"), "node_modules", "axe-core", "axe.min.js"))
	switch {
	case err == nil:
		return string(script)
	case os.Getenv("CI") == "true":
		t.Fatal("needs axe-core: run scripts/install-test-parts")
	}
	t.Log("no axe-core: contrast and labels are not checked; run scripts/install-test-parts")
	return ""
}
