package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	w := newWorld(t, demoConfig)
	for _, path := range []string{"/", "/keys", "/no/such/page", "/-/nothing.css"} {
		resp, err := http.Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "same-origin",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestPagesNeedNothingThatThePolicyForbids(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	for _, path := range pages(w) {
		_, body := p.ask("GET", path, nil)
		for _, bad := range []string{"style=", "<style", "http-equiv", " onclick", " onload", "hx-on", "javascript:", "ZgotmplZ", "<no value>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: %s is in the page", path, bad)
			}
		}
	}
}

func TestChangesOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t, demoConfig)
	tests := []struct {
		name   string
		header http.Header
		status int
	}{
		{"from our own page", http.Header{"Origin": {w.URL}}, 200},
		{"a browser says it is ours", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		{"from another port of this machine", http.Header{"Origin": {"http://127.0.0.1:1"}}, 403},
		{"a browser says it is another site's", http.Header{"Origin": {""}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		{"the same site is not the same page", http.Header{"Origin": {""}, "Sec-Fetch-Site": {"same-site"}}, 403},
		{"from nowhere", http.Header{"Origin": {"null"}}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/settings", "/sign-in", "/sign-out", "/keys"} {
				p := w.person()
				p.header = tt.header
				status, body := p.ask("POST", path, url.Values{"theme": {"dark"}})
				if (status == 403) != (tt.status == 403) {
					t.Errorf("%s: HTTP %d, want %d: %.200s", path, status, tt.status, body)
				}
			}
		})
	}
}

func TestGetChangesNothing(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	for _, path := range []string{"/settings?theme=dark", "/sign-out", "/keys/abc/delete"} {
		if status, _ := p.ask("GET", path, nil); status != 404 {
			t.Errorf("%s: HTTP %d, want 404", path, status)
		}
	}
}

func TestSignIn(t *testing.T) {
	w := newWorld(t, demoConfig)
	admin, viewer, caller := w.key("root", "*", access.Admin), w.key("eye", "default", access.Viewer), w.key("ann", "orders", access.Caller)
	p := w.person()
	if status, body := p.ask("GET", "/keys", nil); status != 401 || !strings.Contains(body, `name="back" value="/keys"`) {
		t.Errorf("HTTP %d, want the page for the key: %.300s", status, body)
	}
	if status, body := p.signIn("tf_wrong"); status != 401 || !strings.Contains(body, "The key is wrong") {
		t.Errorf("HTTP %d: %.300s", status, body)
	}
	if status, body := p.signIn(admin); status != 200 || !strings.Contains(body, "Sign out") {
		t.Errorf("HTTP %d, want the first page: %.300s", status, body)
	}
	at, _ := url.Parse(w.URL)
	for _, c := range p.client.Jar.Cookies(at) {
		if strings.Contains(c.Value, strings.Split(admin, "_")[2]) {
			t.Error("the cookie shows the key")
		}
	}
	if status, _ := p.ask("GET", "/api/v1/keys", nil); status != 401 {
		t.Errorf("the cookie opens the REST API: HTTP %d", status)
	}
	for name, c := range map[string]struct {
		key    string
		status int
	}{"a viewer": {viewer, 403}, "a caller": {caller, 403}, "an administrator": {admin, 200}} {
		p := w.person()
		p.signIn(c.key)
		if status, body := p.ask("GET", "/keys", nil); status != c.status {
			t.Errorf("%s sees the keys: HTTP %d: %.200s", name, status, body)
		}
		if _, body := p.ask("GET", "/", nil); strings.Contains(body, `href="/keys"`) != (c.status == 200) {
			t.Errorf("%s: the navigation and the rights differ", name)
		}
	}
	if status, _ := p.ask("POST", "/sign-out", url.Values{}); status != 401 {
		t.Errorf("after the sign-out: HTTP %d", status)
	}
}

func TestSignInLeadsOnlyToOurPages(t *testing.T) {
	w := newWorld(t, demoConfig)
	key := w.key("root", "*", access.Admin)
	p := w.person()
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, back := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "evil", ""} {
		req, _ := http.NewRequest("POST", w.URL+"/sign-in", strings.NewReader(url.Values{"key": {key}, "back": {back}}.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := p.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if at := resp.Header.Get("Location"); at != "/" {
			t.Errorf("%q leads to %q", back, at)
		}
	}
}

func TestRevokedKeyAndLastKeyLeaveNobodyOutside(t *testing.T) {
	w := newWorld(t, demoConfig)
	key := w.key("root", "*", access.Admin)
	p := w.person()
	p.signIn(key)
	if _, err := w.app.Store.DeleteKey(t.Context(), strings.Split(key, "_")[1]); err != nil {
		t.Fatal(err)
	}
	if err := w.app.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, body := p.ask("GET", "/", nil); status != 200 {
		t.Errorf("without keys everybody here is let in, whatever the cookie says: HTTP %d %.200s", status, body)
	}
	w.key("other", "*", access.Admin)
	if status, _ := p.ask("GET", "/", nil); status != 401 {
		t.Errorf("a key that is gone opens the door: HTTP %d", status)
	}
}
