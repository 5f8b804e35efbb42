package console_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// newcomer is somebody with a Cursor that has two servers.
func newcomer(t *testing.T) *world {
	home := t.TempDir()
	t.Setenv("TEST_HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	file := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"mcpServers": {"files": {"command": "no-such-program-here", "args": ["--token", "sk-abcdefghijklmnop1234", "/my data"]},
		"tracker": {"url": "https://127.0.0.1:1/s/abcdefghij0123456789ab/mcp", "headers": {"Authorization": "Bearer ${TRACKER_KEY}"}},
		"toolfit": {"url": "http://127.0.0.1:8420/mcp"}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return newPlainWorld(t)
}

// newPlainWorld is a gateway without anything.
func newPlainWorld(t *testing.T) *world {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte("store: t.db\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, cfg)
}

func TestWhatIsOnTheMachineIsForItsOwnerAlone(t *testing.T) {
	w := newcomer(t)
	_, body := w.person().ask("GET", "/", nil)
	for _, has := range []string{`value="files"`, "no-such-program-here --token ••• &#39;/my data&#39;", `value="tracker"`, "https://127.0.0.1:1/s/•••/mcp", "Authorization=•••", "Cursor"} {
		if !strings.Contains(body, has) {
			t.Errorf("no %s in %s", has, body[strings.Index(body, "<main"):])
		}
	}
	if strings.Contains(body, "sk-abc") || strings.Contains(body, `value="toolfit"`) {
		t.Error("it shows a secret, or the gateway itself")
	}
	if len(w.app.Servers()) != 0 {
		t.Error("something was added before the click")
	}
	if _, body = w.person().ask("POST", "/first/import", url.Values{}); !strings.Contains(body, "no server was chosen") {
		t.Errorf("nothing was chosen: %.300s", body)
	}
	_, body = w.person().ask("POST", "/first/import", url.Values{"server": {"files", "none", "tracker"}})
	if !strings.Contains(body, "no client on this machine has a server") || !strings.Contains(body, "TRACKER_KEY is not set") ||
		len(w.app.Servers()) != 1 {
		t.Errorf("one of two could be imported: %d, %.300s", len(w.app.Servers()), body[strings.Index(body, "<main"):])
	}
	root := w.key("root", "*", access.Admin)
	remote := w.person()
	remote.signIn(root)
	if status, body := remote.ask("POST", "/first/import", url.Values{"server": {"tracker"}}); !strings.Contains(body, "no client on this machine") || len(w.app.Servers()) != 1 {
		t.Errorf("with a key: HTTP %d", status)
	}
	remote.ask("POST", "/servers/files/remove", url.Values{})
	if _, body := remote.ask("GET", "/", nil); strings.Contains(body, "tracker") || !strings.Contains(body, "/first/demo") {
		t.Errorf("an admin with a key is shown the machine: %s", body[strings.Index(body, "<main"):])
	}
	ann := w.person()
	ann.signIn(w.key("ann", "default", access.Caller))
	if _, body := ann.ask("GET", "/", nil); !strings.Contains(body, "An administrator adds them") || strings.Contains(body, "/first/") {
		t.Error("a caller is asked to add servers")
	}
}

// TestFirstRunInARealBrowser goes from nothing to the first call of a client.
func TestFirstRunInARealBrowser(t *testing.T) {
	b := testparts.NewBrowser(t, "en-US")
	w := newcomer(t)
	lookAtFirst(t, b, w, "first")
	b.Do(chromedp.Navigate(w.URL + "/"))
	b.Until(has("Three steps to the first call") + " && " + has("no-such-program-here"))
	b.Do(chromedp.Click(`[value="tracker"]`), chromedp.Click(`form[action="/first/import"] button`))
	b.Until(has("The servers have been added"))
	if all := w.app.Servers(); len(all) != 1 || all[0].ID != "files" {
		t.Errorf("imported: %+v", all)
	}
	w.until("a server that does not work leaves the others to import", func() bool {
		_, body := w.person().ask("GET", "/", nil)
		return strings.Contains(body, `value="tracker"`) && !strings.Contains(body, `value="files"`)
	})

	w = newPlainWorld(t)
	b.Do(chromedp.Navigate(w.URL+"/"), chromedp.Click(`form[action="/first/demo"] button`))
	b.Until(has("The servers with demo data have been added"))
	w.app.Catalog.Ready(t.Context(), "default")
	lookAtFirst(t, b, w, "first-slim")
	b.Do(chromedp.Navigate(w.URL+"/"), chromedp.Click(`.first [aria-current] a`))
	b.Until(`location.pathname.startsWith("/tools/") && document.querySelector("#try-form button.go")`)
	b.Do(chromedp.Click("#try-form button.go"))
	b.Until(has("Succeeded"))
	w.until("the call is recorded", func() bool {
		_, body := w.person().ask("GET", "/", nil)
		return strings.Count(body, `class="done"`) == 2
	})
	b.Do(chromedp.Navigate(w.URL + "/"))
	b.Until(has("Waiting for the first call of a client…"))
	w.connect("cursor-vscode", "1.7", "/mcp/default", "", "shop__list_orders")
	b.Until(`document.querySelector(".first .came")?.innerText.startsWith("Cursor 1.7")`)
	b.Do(chromedp.Navigate(w.URL + "/"))
	b.Until(has("Demo data:") + ` && !document.querySelector(".first")`)
	b.Read(`window.confirm = () => true`)
	b.Do(chromedp.Click(`form[action="/first/demo/remove"] button`))
	b.Until(has("The servers with demo data have been removed") + " && !" + has("Demo data:"))
	b.CheckConsole()
}

// lookAtFirst shows the overview in every look, the first look last.
func lookAtFirst(t *testing.T, b *testparts.Browser, w *world, name string) {
	b.EmulateFocus()
	for _, l := range slices.Backward(looks()) {
		l.take(b, w)
		tryPage(t, b, w.URL+"/", l.width)
		b.Accessible(testparts.Axe(t), l.rules()...)
		b.Screenshot(name + "." + l.String())
	}
}
