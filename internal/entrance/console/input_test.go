package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

func TestWhatIsRefusedStaysInItsForm(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	for _, c := range []struct {
		name, path string
		form       url.Values
		want       []string
	}{
		{"a server whose name is taken", "/servers/add/form",
			url.Values{"kind": {"command"}, "name": {"shop"}, "command": {"npx '<b>' one"}, "env": {"A=1"}},
			[]string{"conflict", `value="shop"`, "npx &#39;&lt;b&gt;&#39; one</textarea>", "A=1</textarea>", `value="command" checked`}},
		{"a line without a value", "/servers/add/form",
			url.Values{"kind": {"url"}, "name": {"cloud2"}, "url": {"https://example.com/mcp"}, "headers": {"no colon"}},
			[]string{"a line has no", `value="https://example.com/mcp"`, "no colon</textarea>", `value="url" checked`}},
		{"a command for a shell", "/servers/add/form", url.Values{"kind": {"command"}, "name": {"x"}, "command": {"a | b"}}, []string{"is for a shell", "a | b</textarea>"}},
		{"other settings that are no JSON", "/servers/add/form", url.Values{"kind": {"command"}, "name": {"x"}, "command": {"a"}, "more": {"{"}},
			[]string{"are not a JSON object", "{</textarea>"}},
		{"other settings that are null", "/servers/add/form", url.Values{"kind": {"command"}, "name": {"x"}, "command": {"a"}, "more": {"null"}},
			[]string{"the other settings are not a JSON object", "null</textarea>"}},
		{"a name that a page has", "/servers/add/form", url.Values{"kind": {"command"}, "name": {"add"}, "command": {"a"}}, []string{"a page of the console has the name"}},
		{"a text without servers", "/servers/add", url.Values{"text": {"{}"}}, []string{"there is no server in this text", "{}</textarea>"}},
		{"a key without a good name", "/keys", url.Values{"name": {"two words"}, "role": {"viewer"}, "profile": {"orders"}},
			[]string{"bad_request", `value="two words"`, `value="viewer" selected`, `value="orders" selected`}},
		{"a key with several profiles and no good name", "/keys", url.Values{"name": {"-"}, "more": {"orders"}, "expires": {"90d"}},
			[]string{"bad_request", `name="more" value="orders" checked`, `value="90d" selected`}},
		{"an administrator of all and one more", "/keys", url.Values{"name": {"boss"}, "role": {"admin"}, "more": {"orders"}},
			[]string{"is all profiles, and stands alone", `value="boss"`}},
		{"a session with bad metadata", "/environments/sessions", url.Values{"title": {"A title"}, "metadata": {"{"}},
			[]string{"metadata must be a JSON object", `value="A title"`, `value="{"`}},
	} {
		_, page := p.ask("POST", c.path, c.form)
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is not there", c.name, want)
			}
		}
	}
}

func TestASignInLeadsBackToTheFormThatWasSent(t *testing.T) {
	w := newWorld(t, demoConfig)
	key := w.key("root", "*", access.Admin)
	p := w.person()
	p.header.Set("Referer", w.URL+"/tools/shop__list_orders?profile=orders")
	if status, page := p.ask("POST", "/tools/shop__list_orders/try", url.Values{}); status != http.StatusUnauthorized ||
		!strings.Contains(page, `name="back" value="/tools/shop__list_orders?profile=orders"`) {
		t.Errorf("HTTP %d, and it leads elsewhere", status)
	}
	p.header.Set("Referer", "https://evil.example/tools")
	if _, page := p.ask("POST", "/keys", url.Values{}); !strings.Contains(page, `name="back" value="/"`) {
		t.Error("it leads where a stranger wants")
	}
	p.header.Del("Referer")
	if _, page := p.ask("GET", "/sign-in", nil); !strings.Contains(page, `name="back" value="/"`) {
		t.Error("a sign-in leads to the page of sign-ins, which is none")
	}
	if status, page := p.signIn(key); status != http.StatusOK || !strings.Contains(page, "Overview") {
		t.Errorf("HTTP %d after the sign-in", status)
	}
}

func TestAPageOfToolsThatIsGoneLeadsToTheLast(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	if _, page := p.ask("GET", "/tools?page=999", nil); !strings.Contains(page, "shop__list_orders") {
		t.Error("it says that there are no tools")
	}
	if _, page := p.ask("GET", "/tools?server=lost&page=3", nil); !strings.Contains(page, "Server lost has no tools") {
		t.Error("it does not say whose tools are missing")
	}
}
