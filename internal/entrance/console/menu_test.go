package console_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

var menuLink = regexp.MustCompile(`<p id="nav-(\w+)">|<a href="[^"]*"(?: aria-current="page")? data-key="\w">([^<]+)(?:<b title="([^"]+)")?`)

var down = regexp.MustCompile(`\(\d down\)`)

// menuOf is the menu of a page as text: its groups, and their entries with what is marked there.
func menuOf(t *testing.T, page string) string {
	t.Helper()
	_, nav, _ := strings.Cut(page, `<nav id="nav"`)
	nav, _, found := strings.Cut(nav, "</nav>")
	if !found {
		t.Fatalf("a page without a menu: %.300s", page)
	}
	var all []string
	for _, m := range menuLink.FindAllStringSubmatch(nav, -1) {
		switch {
		case m[1] != "":
			all = append(all, m[1]+":")
		case m[3] != "":
			all = append(all, fmt.Sprintf("%s (%s)", m[2], m[3]))
		default:
			all = append(all, m[2])
		}
	}
	return strings.Join(all, " ")
}

func TestTheMenuHasWhatTheGatewayIsSetUpFor(t *testing.T) {
	const asks = demoConfig + "policy: [{name: refunds, then: approve, tools: [shop__add_note]}]\n"
	tests := []struct {
		name, config, want string
		more               func(*world) // nil: nothing happens before
	}{
		{"nothing but servers", "store: t.db\nmcpServers: {shop: {builtin: demo-shop}}\n", "use: Overview Tools Connect watch: Calls Results build: Servers Prompt administer: Keys", nil},
		{"agents, actions to look up, servers that are down", demoConfig,
			"use: Overview Tools Chat Connect watch: Calls Results Environments build: Servers (some down) Prompt Recall administer: Keys", nil},
		{"a rule that asks people", asks,
			"use: Overview Tools Chat Connect watch: Calls Results Approvals (1 waiting) Environments build: Servers (some down) Prompt Recall administer: Policy Keys",
			func(w *world) { w.question("q1", "somebody") }},
		{"what was done before counts, too", "store: t.db\n", "use: Overview Tools Connect watch: Calls Results Environments build: Servers Prompt Test runs administer: Keys",
			func(w *world) {
				w.chat("ses_1", "A chat", `{"role":"user","content":"Hello"}`)
				w.saveRun(store.Run{ID: "run_1", Name: "Shop", Outcome: "passed", Duration: time.Second}, `"profile":"default"`)
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.config)
			if tt.more != nil {
				tt.more(w)
			}
			_, page := w.person().ask("GET", "/keys", nil)
			if got := down.ReplaceAllString(menuOf(t, page), "(some down)"); got != tt.want { // one may not have been tried yet
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAPageOutsideTheMenuHasItsAddressAndIsMarkedThere(t *testing.T) {
	p := newWorld(t, "store: t.db\n").person()
	for _, path := range []string{"/chat", "/recall", "/runs", "/environments/logs", "/recipes", "/policy", "/approvals", "/connections"} {
		status, page := p.ask("GET", path, nil)
		if status != 200 || strings.Count(page, `aria-current="page" data-key=`) != 1 {
			t.Errorf("%s: HTTP %d, or not marked in %s", path, status, menuOf(t, page))
		}
	}
}

func TestACallersMenuHasWhatTheyMaySee(t *testing.T) {
	w := newWorld(t, demoConfig)
	ann := w.person()
	ann.signIn(w.key("ann", "orders", access.Caller))
	const want = "use: Overview Tools Chat Connect watch: Calls Results Environments build: Servers Prompt Recall"
	if _, page := ann.ask("GET", "/", nil); menuOf(t, page) != want {
		t.Errorf("%s, want %s", menuOf(t, page), want)
	}
}
