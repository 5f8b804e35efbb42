package console_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestThePolicyAndWhatItWouldDecideAreShown(t *testing.T) {
	w := newWorld(t, demoConfig+`
policy:
  - {name: few, tools: [shop__list_orders], when: args.limit > 10, then: deny, say: Ask for at most ten orders.}
  - {name: look, tools: [shop__list_orders], when: args.limit > 1, then: deny, mode: watch}
  - {name: many, tools: ["shop__*"], limit: 20/h}
`)
	p := w.person()
	p.ask("POST", "/tools/shop__list_orders/try", url.Values{"a:limit": {"2"}})
	_, body := p.ask("GET", "/policy", nil)
	for _, want := range []string{"args.limit &gt; 10", "tools: shop__list_orders", "limit 20/h", `href="/calls?policy=look">1</a>`, "would have applied"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q on the page: %s", want, body[strings.Index(body, "<main"):])
		}
	}
	_, body = p.ask("GET", "/calls?policy=look", nil)
	at := strings.Index(body, `href="/calls/c_`)
	if at < 0 {
		t.Fatalf("the call is not listed: %s", body)
	}
	path, _, _ := strings.Cut(body[at+len(`href="`):], `"`)
	if _, body := p.ask("GET", path, nil); !strings.Contains(body, `watch <a href="/calls?policy=look">look</a>`) {
		t.Errorf("the call does not show what the policy decided: %s", body)
	}
	if _, body := p.ask("GET", "/calls?policy=few", nil); strings.Contains(body, path) {
		t.Error("a rule that did not apply has the call")
	}
	_, body = p.ask("POST", "/policy/explain", url.Values{"tool": {"shop__list_orders"}, "arguments": {`{"limit":"11"}`}})
	for _, want := range []string{"denied", "Ask for at most ten orders.", "Fitted arguments", "watched only"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in the explanation: %s", want, body[strings.Index(body, "<main"):])
		}
	}
	for _, form := range []url.Values{{"tool": {"shop__nope"}}, {"tool": {"shop__list_orders"}, "arguments": {"{"}}} {
		if _, body := p.ask("POST", "/policy/explain", form); !strings.Contains(body, `notice bad`) || !strings.Contains(body, form.Get("tool")) {
			t.Errorf("%v: %s", form, body[strings.Index(body, "<main"):])
		}
	}
}
