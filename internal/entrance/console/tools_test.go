package console_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestASearchStaysWithinTheChosenServer(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	_, all := p.ask("GET", "/tools?q=orders+and+environments", nil)
	_, some := p.ask("GET", "/tools?q=orders+and+environments&server=cloud", nil)
	for _, c := range []struct {
		page, tool string
		want       bool
	}{{all, "shop__", true}, {all, "cloud__", true}, {some, "shop__", false}, {some, "cloud__", true}} {
		if strings.Contains(c.page, `href="/tools/`+c.tool) != c.want {
			t.Errorf("tools of %s: found is %v", c.tool, !c.want)
		}
	}
}

func TestAToolWhoseNameWasTooLongIsKnownByItsServersName(t *testing.T) {
	p := newWorld(t, "store: t.db\nmcpServers:\n  the-shop-of-the-whole-company-in-the-central-region-of-europe: {builtin: demo-shop}\n").person()
	_, list := p.ask("GET", "/tools", nil)
	if !strings.Contains(list, "<small>find_customers</small>") {
		t.Fatal("the list does not say which tool is find_customers")
	}
	before, _, _ := strings.Cut(list, "<small>find_customers</small>")
	name, _, _ := strings.Cut(before[strings.LastIndex(before, `href="/tools/`)+len(`href="/tools/`):], `"`)
	if _, one := p.ask("GET", "/tools/"+name, nil); !strings.Contains(one, `<span class="mono">find_customers</span>`) {
		t.Error("the page of the tool does not say what its server calls it")
	}
}

func tryToolList(t *testing.T, b *testparts.Browser, w *world) {
	b.Do(chromedp.Navigate(w.URL+"/tools"), chromedp.Click(`.chips a[href*="destructive"]`))
	b.Until(`location.search === "?is=destructive" && document.readyState === "complete" && ` + has("gone__upload"))
	if b.Read(`document.querySelectorAll(".rows tbody tr").length`) != b.Read(`document.querySelectorAll(".tag.bad").length`) {
		t.Error("tools are listed that are not destructive")
	}
	b.Do(chromedp.Click(`.group > summary`))
	b.Until(`!document.querySelector(".group .rows").checkVisibility()`)
	b.Do(chromedp.Click(`.group > summary`), chromedp.Click(`.chips .all`))
	b.Until(`location.search === "" && ` + has("gone__read"))
	b.Do(chromedp.Click(`a[href="/tools/gone__read"]`))
	b.Until(`document.querySelector("#history") && ` + has("waits for approval"))
	b.Until(`document.querySelector(".group[open] .minus").textContent.includes("Read a file.") && ` + has("~/.ssh"))
	b.Do(chromedp.Click(`.group:not([open]) > summary`))
	b.Until(`document.querySelectorAll(".group .diff").length === 2`) // the first version, loaded when it is opened
	b.CheckConsole()
}

func TestToolsAreListedByServerWithWhatIsSaidOfThem(t *testing.T) {
	w := newWorld(t, demoConfig+"policy: [{name: no-single, then: deny, tools: [shop__get_order]}]\n"+
		"overrides: [{tool: shop__list_orders, rename: {limit: most}, fix: {status: paid}}]\n")
	p := w.person()
	_, page := p.ask("GET", "/tools", nil)
	for _, want := range []string{"denied: no-single", ">held</span>", ">overridden</span>", ">destructive</span>", "<b>shop</b>", "not shown"} {
		if !strings.Contains(page, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	for _, c := range []struct {
		query string
		want  []string // and no other
	}{
		{"?is=denied", []string{"shop__get_order"}},
		{"?is=overridden", []string{"shop__list_orders"}},
		{"?is=held", []string{"gone__read", "gone__upload"}},
		{"?is=held&is=destructive", []string{"gone__upload"}},
		{"?is=suspicious", []string{"gone__read"}},
		{"?is=held&server=shop", nil},
		{"?profile=orders&is=held", nil},
		{"?q=orders&is=overridden", []string{"shop__list_orders"}}, // a search finds others, too
		{"?q=orders&is=destructive", nil},
	} {
		_, page := p.ask("GET", "/tools"+c.query, nil)
		var got []string
		for _, m := range toolLinks.FindAllStringSubmatch(page, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s has %q, want %q", c.query, got, c.want)
		}
	}
	if _, page = p.ask("GET", "/tools?q=orders&is=overridden", nil); !strings.Contains(page, `<a class="all" href="/tools?q=orders">`) {
		t.Error("a search that is filtered has no way back to all")
	}
	_, page = p.ask("GET", "/tools/shop__list_orders", nil)
	for _, want := range []string{"Overridden by the configuration", "limit → most", "Fixed value", "status"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of what is overridden lacks %q", want)
		}
	}
	if _, fixed, _ := strings.Cut(page, "Fixed value"); strings.Contains(fixed[:200], "paid") {
		t.Error("a fixed value is shown")
	}
	_, page = p.ask("GET", "/tools/shop__get_order", nil)
	if !strings.Contains(page, "the policy denies it to you") || !strings.Contains(page, `<a href="/policy">no-single</a>`) {
		t.Error("the page of what is denied does not say by which rule")
	}
	ann := w.person()
	ann.signIn(w.key("ann", "default", access.Caller))
	_, page = ann.ask("GET", "/tools", nil)
	for _, secret := range []string{"no-single", "gone__read", "gone__upload", "shop__get_order", ">held<", "not shown", "suspicious"} {
		if strings.Contains(page, secret) {
			t.Errorf("a caller sees %s", secret)
		}
	}
	if _, page = ann.ask("GET", "/tools/shop__list_orders", nil); strings.Contains(page, "Overridden by") || strings.Contains(page, `id="history"`) {
		t.Error("a caller sees what is overridden, or what was before")
	}
}

var toolLinks = regexp.MustCompile(`<a (?:class="mono" )?href="/tools/([a-z_]+)`)

// TestPagesOfManyToolsStaySmall holds with 2,000 tools of ten servers, whose descriptions are long.
func TestPagesOfManyToolsStaySmall(t *testing.T) {
	text := "store: t.db\nmcpServers:\n"
	for i := range 10 {
		text += fmt.Sprintf("  s%d: {command: no-such-program-here}\n", i)
	}
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), cfg.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		srv := store.Server{ID: tool.ServerID(fmt.Sprint("s", i)), ListedAt: time.Now()}
		for j := range 200 {
			srv.Tools = append(srv.Tools, store.Tool{Name: fmt.Sprint("tool_of_some_length_", j), Definition: json.RawMessage(fmt.Sprintf(
				`{"name":"tool_of_some_length_%d","description":"%s","annotations":{"destructiveHint":true,"idempotentHint":true,"openWorldHint":true},"inputSchema":{"type":"object"}}`,
				j, strings.Repeat("很长的说明", 100)))})
		}
		if err := st.SaveTools(t.Context(), srv); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	p := open(t, cfg).person()
	for _, c := range []struct {
		path string
		htmx string
		rows int
	}{
		{"/tools", "", 0}, {"/tools?is=destructive", "", 0}, {"/tools?server=s3", "", 100}, {"/tools?server=s3&page=2", "", 100}, {"/tools?server=s3&rows=1", "true", 100},
	} {
		p.header.Set("HX-Request", c.htmx)
		_, page := p.ask("GET", c.path, nil)
		if got := strings.Count(page, `href="/tools/s`); got != c.rows || len(page) > 150_000 {
			t.Errorf("%s has %d rows, want %d, in %d bytes", c.path, got, c.rows, len(page))
		}
		if c.rows == 0 && (strings.Count(page, `hx-trigger="toggle once"`) != 10 || !strings.Contains(page, "about")) {
			t.Errorf("%s has not ten groups to open", c.path)
		}
	}
}

func TestADialectThatFallsBackIsStillTheOneThatWasAskedFor(t *testing.T) {
	srv := newAppServer(t, `{"tools":[{"name":"any","inputSchema":{"type":"object","properties":{"x":{"type":"object","nullable":true}}}}]}`)
	p := newWorld(t, fmt.Sprintf("store: t.db\nmcpServers:\n  s: {url: %q}\n", srv.URL)).person()
	_, page := p.ask("GET", "/tools/s__any?for=openai-strict", nil)
	for _, want := range []string{`aria-current="true">openai-strict</a> <small>→ openai</small>`, `aria-label="In dialect openai-strict">{`} {
		if strings.Count(page, want) != 1 {
			t.Errorf("the page has %d of %s", strings.Count(page, want), want)
		}
	}
}
