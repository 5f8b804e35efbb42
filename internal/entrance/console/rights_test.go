package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

// TestPeopleSeeWhatTheyMay takes persons of each role to pages of things that are not theirs.
func TestPeopleSeeWhatTheyMay(t *testing.T) {
	w := newWorld(t, demoConfig)
	_, cut, _ := w.furnish() // calls of the one who was here before there were keys
	root, eye, ann := w.key("root", "*", access.Admin), w.key("eye", "default", access.Viewer), w.key("ann", "orders", access.Caller)
	tests := []struct {
		name, path string
		form       url.Values
		ann, eye   int // the status; an administrator is never refused
	}{
		{"another's call", "/calls/" + cut, nil, 404, 200},
		{"another's call beside the one before", "/calls/compare?b=" + cut, nil, 404, 200},
		{"accepting a suggestion", "/results/suggestions",
			url.Values{"id": {"x"}, "mode": {"shadow"}, "tool": {"shop__list_orders"}, "way": {"keep"}, "expression": {"orders"}}, 403, 403},
		{"a tool of another profile", "/tools/cloud__envQuery", nil, 404, 200},
		{"another profile", "/tools?profile=default", nil, 403, 200},
		{"a tool of the profile", "/tools/shop__list_orders", nil, 200, 200},
		{"a tool that is held", "/tools/gone__read", nil, 404, 200},
		{"a tool that the profile does not allow", "/tools/shop__find_customers?profile=orders", nil, 404, 403},
		{"what a definition was", "/tools/shop__list_orders/versions/x", nil, 200, 200}, // the page of the tool, to a caller without it
		{"a server of another profile", "/servers/cloud", nil, 404, 200},
		{"calling", "/tools/shop__list_orders/try", url.Values{}, 200, 403},
		{"testing a server", "/servers/shop/refresh", url.Values{}, 403, 403},
		{"the box for servers", "/servers/add", nil, 403, 403},
		{"the form of a server", "/servers/add/form", nil, 403, 403},
		{"pasting", "/servers/add", url.Values{"text": {"npx x"}}, 403, 403},
		{"adding a server", "/servers/add/form", url.Values{"kind": {"url"}, "name": {"x"}, "url": {"http://127.0.0.1:1"}}, 403, 403},
		{"adding what was pasted", "/servers", url.Values{"text": {"npx x"}, "name.0": {"y"}, "use": {"0"}}, 403, 403},
		{"the form of another's server", "/servers/shop/edit", nil, 403, 403},
		{"changing a server", "/servers/gone/edit", url.Values{"kind": {"url"}, "url": {"http://127.0.0.1:1"}}, 403, 403},
		{"restarting", "/servers/shop/restart", url.Values{}, 403, 403},
		{"approving", "/servers/gone/approve", url.Values{"held": {"read"}}, 403, 403},
		{"the policy", "/policy", nil, 403, 200},
		{"asking what would be decided", "/policy/explain", url.Values{"tool": {"shop__list_orders"}}, 403, 403},
		{"the keys", "/keys", nil, 403, 403},
		{"making a key for a client", "/clients/key", url.Values{"name": {"more"}, "profile": {"orders"}}, 403, 403},
		{"adding demo data", "/first/demo", url.Values{}, 403, 403},
		{"importing what is on the machine", "/first/import", url.Values{"server": {"x"}}, 403, 403},
		{"making a key", "/keys", url.Values{"name": {"more"}, "role": {"admin"}}, 403, 403},
	}
	for who, key := range map[string]string{"root": root, "eye": eye, "ann": ann} {
		p := w.person()
		p.signIn(key)
		for _, tt := range tests {
			method, want := "GET", map[string]int{"root": 200, "eye": tt.eye, "ann": tt.ann}[who]
			if tt.form != nil {
				method = "POST"
			}
			if status, body := p.ask(method, tt.path, tt.form); status != want {
				t.Errorf("%s, %s: HTTP %d, want %d: %.300s", who, tt.name, status, want, body[max(0, strings.Index(body, "<main")):])
			}
		}
	}
}

func TestCallersSeeTheirOwnCallsAlone(t *testing.T) {
	w := newWorld(t, demoConfig)
	w.furnish()
	ann := w.person()
	ann.signIn(w.key("ann", "orders", access.Caller))
	for _, path := range []string{"/", "/calls", "/calls/rows", "/calls/export", "/calls?tool=cloud__envQuery"} {
		if _, body := ann.ask("GET", path, nil); strings.Contains(body, "envQuery<") || strings.Contains(body, `"cloud__envQuery"`) &&
			path == "/calls/export" {
			t.Errorf("%s shows calls of others", path)
		}
	}
	if _, body := ann.ask("POST", "/tools/shop__list_orders/try", url.Values{"a:limit": {"1"}}); !strings.Contains(body, "Succeeded") {
		t.Errorf("her own call: %.300s", body)
	}
	w.until("her own call is there", func() bool {
		_, body := ann.ask("GET", "/calls", nil)
		return strings.Contains(body, "shop__list_orders")
	})
	eye := w.person()
	eye.signIn(w.key("eye", "default", access.Viewer))
	if _, body := eye.ask("GET", "/tools/shop__list_orders", nil); strings.Contains(body, "/try") {
		t.Error("a viewer is offered to call")
	}
	if _, body := eye.ask("POST", "/tools/shop__list_orders/try", url.Values{"a:limit": {"1"}}); !strings.Contains(body, "may not call tools") || strings.Contains(body, "Succeeded") {
		t.Errorf("a viewer calls: %.300s", body)
	}
}
