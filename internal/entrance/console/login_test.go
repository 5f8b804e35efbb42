package console_test

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// here is the address of a gateway.
const here = "http://127.0.0.1:{port}"

// withProvider starts a gateway where people sign in at the provider, or with the key. In its public address {port}
// is its port.
func withProvider(t testing.TB, p *idp.Provider, public string) (w *world, key string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public = strings.ReplaceAll(public, "{port}", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	text := demoConfig + fmt.Sprintf(`
publicURL: %s
identity:
- issuer: %s
  login: {clientId: toolfit, clientSecret: s+3, name: Example 登录}
  map: [{groups: [platform], role: admin}, {groups: [eng], profile: orders}]
`, public, p.URL)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	w = openOn(t, l, cfg)
	return w, w.key("root", "*", access.Admin)
}

var providerLink = regexp.MustCompile(`<a class="button go" href="([^"]+)">([^<]+)</a>`)

// begin is the link on the page that begins a sign-in.
func (p *person) begin(path string) string {
	p.t.Helper()
	status, body := p.ask("GET", path, nil)
	m := providerLink.FindStringSubmatch(body)
	if status != 401 || m == nil {
		p.t.Fatalf("HTTP %d, no link to a provider: %.2000s", status, mainOf(body))
	}
	return html.UnescapeString(m[1])
}

// follow opens an address and returns the last answer.
func (p *person) follow(address string) (*http.Response, string) {
	p.t.Helper()
	path, ok := strings.CutPrefix(address, p.URL)
	if !ok {
		p.t.Fatalf("%s is not at %s", address, p.URL)
	}
	return p.get(path)
}

// mainOf is what a page says, without its frame.
func mainOf(body string) string {
	_, main, _ := strings.Cut(body, "<main")
	return main
}

func TestSignInAtAProvider(t *testing.T) {
	provider := idp.New(t)
	provider.Login.Person = map[string]any{"name": "Ann <b>"}
	w, _ := withProvider(t, provider, here)
	p := w.person()
	link := p.begin("/calls?outcome=error")
	resp, body := p.follow(link)
	if resp.StatusCode != 200 || resp.Header.Get("Refresh") != "0; url=/calls?outcome=error" || !strings.Contains(body, `href="/calls?outcome=error"`) {
		t.Fatalf("%s %v: %.2000s", resp.Status, resp.Header, mainOf(body))
	}
	status, body := p.ask("GET", "/calls", nil)
	if status != 200 || !strings.Contains(body, "Ann &lt;b&gt;") || !strings.Contains(body, "Sign out") {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
	if status, _ := p.ask("GET", "/keys", nil); status != 403 {
		t.Errorf("a caller sees the keys: HTTP %d", status)
	}
	if status, _ := p.ask("GET", "/api/v1/tools", nil); status != 401 {
		t.Errorf("the cookie opens the REST API: HTTP %d", status)
	}
	if status, body := p.ask("POST", "/sign-out", url.Values{}); status != 401 || strings.Contains(body, "Ann") {
		t.Errorf("after the sign-out: HTTP %d: %.2000s", status, mainOf(body))
	}
}

// TestWhoSignedInIsOutSoonWhenDisabled, and learns why.
func TestWhoSignedInIsOutSoonWhenDisabled(t *testing.T) {
	provider := idp.New(t)
	w, _ := withProvider(t, provider, here)
	p := w.person()
	p.follow(p.begin("/"))
	if status, body := p.ask("GET", "/", nil); status != 200 {
		t.Fatalf("HTTP %d: %.2000s", status, mainOf(body))
	}
	if _, err := w.app.Store.DisablePerson(t.Context(), "alice", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := w.app.Keys.Reload(t.Context()); err != nil { // as after ten seconds
		t.Fatal(err)
	}
	status, body := p.ask("GET", "/", nil)
	if status != 403 || !strings.Contains(body, "alice is disabled here") || !strings.Contains(body, "Sign out") {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
	p.ask("POST", "/sign-out", url.Values{})
	resp, body := p.follow(p.begin("/"))
	if resp.StatusCode != 403 || !strings.Contains(body, "alice is disabled here") || len(resp.Cookies()) > 0 {
		t.Errorf("signed in again: %s: %.2000s", resp.Status, mainOf(body))
	}
	if _, err := w.app.Store.DisablePerson(t.Context(), "alice", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := w.app.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if resp, body := p.follow(p.begin("/")); resp.StatusCode != 200 {
		t.Errorf("enabled again: %s: %.2000s", resp.Status, mainOf(body))
	}
}

func TestWhoHasNoRightsIsToldSo(t *testing.T) {
	provider := idp.New(t)
	provider.Login.Person = map[string]any{"groups": []string{"sales"}}
	w, key := withProvider(t, provider, here)
	p := w.person()
	resp, body := p.follow(p.begin("/"))
	if resp.StatusCode != 403 || !strings.Contains(body, "alice is signed in, but no mapping gives rights here") {
		t.Errorf("%s: %.2000s", resp.Status, mainOf(body))
	}
	if status, body := p.ask("GET", "/", nil); status != 401 {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
	if status, _ := p.signIn(key); status != 200 {
		t.Errorf("the key does not help: HTTP %d", status)
	}
}

func TestSignInBelowABasePath(t *testing.T) {
	provider := idp.New(t)
	w, _ := withProvider(t, provider, here+"/tools\nbasePath: /tools")
	p := w.person()
	resp, body := p.follow(p.begin("/tools/calls"))
	if resp.StatusCode != 200 || resp.Header.Get("Refresh") != "0; url=/tools/calls" {
		t.Fatalf("%s %v: %.2000s", resp.Status, resp.Header, mainOf(body))
	}
	if status, body := p.ask("GET", "/tools/calls", nil); status != 200 || !strings.Contains(body, "alice") {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
}

// TestAttacksOnTheSignIn: none of them signs anybody in.
func TestAttacksOnTheSignIn(t *testing.T) {
	provider := idp.New(t)
	w, _ := withProvider(t, provider, here)
	// callback is where the provider sends the browser of p, which does not get there.
	callback := func(p *person) string {
		var at string
		p.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path == "/sign-in/callback" {
				at = r.URL.RequestURI()
				return http.ErrUseLastResponse
			}
			return nil
		}
		p.follow(p.begin("/"))
		p.client.CheckRedirect = nil
		if at == "" {
			t.Fatal("the provider did not send the browser back")
		}
		return at
	}
	change := func(at, name, value string) string {
		u, _ := url.Parse(at)
		q := u.Query()
		q.Set(name, value)
		if value == "" {
			q.Del(name)
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	attacks := map[string]struct {
		try  func(victim, attacker *person) (int, string)
		want string
	}{
		"the answer to another browser's sign-in": {func(victim, attacker *person) (int, string) {
			return victim.ask("GET", callback(attacker), nil)
		}, "no sign-in was begun in this browser"},
		"while the victim signs in": {func(victim, attacker *person) (int, string) {
			callback(victim)
			return victim.ask("GET", callback(attacker), nil)
		}, "this is not the answer to the sign-in that was begun last"},
		"the attacker's code with the victim's state": {func(victim, attacker *person) (int, string) {
			at, _ := url.Parse(callback(attacker))
			return victim.ask("GET", change(callback(victim), "code", at.Query().Get("code")), nil)
		}, "it refused: invalid_grant"},
		"wrong state": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", change(callback(victim), "state", "x"), nil)
		}, "this is not the answer"},
		"no state": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", change(callback(victim), "state", ""), nil)
		}, "this is not the answer"},
		"the promised iss is missing": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", change(callback(victim), "iss", ""), nil)
		}, "does not say which provider"},
		"the iss of another": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", change(callback(victim), "iss", "https://evil.example"), nil)
		}, "the answer is from another provider"},
		"an error with text": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", change(callback(victim), "error", "EVIL")+"&error_description=EVIL&error_uri=EVIL", nil)
		}, "no reason is known"},
		"an error to nothing": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", "/sign-in/callback?error=EVIL&error_description=EVIL", nil)
		}, "no sign-in was begun in this browser"},
		"a cookie that we have not sealed": {func(victim, _ *person) (int, string) {
			victim.header.Set("Cookie", "toolfit_login=EVIL; __Host-toolfit_login=EVIL")
			return victim.ask("GET", "/sign-in/callback?code=x&state=y", nil)
		}, "no sign-in was begun in this browser"},
		"a pending sign-in as a signed-in person": {func(victim, _ *person) (int, string) {
			callback(victim)
			at, _ := url.Parse(w.URL)
			for _, c := range victim.client.Jar.Cookies(at) {
				victim.header.Set("Cookie", "toolfit_sign_in="+c.Value)
			}
			return victim.ask("GET", "/", nil)
		}, "Sign in with"},
		"posted by a page of the provider": {func(victim, _ *person) (int, string) {
			at := callback(victim)
			victim.header.Set("Origin", provider.URL)
			return victim.ask("POST", at, url.Values{})
		}, "is not allowed"},
		"posted by our own page": {func(victim, _ *person) (int, string) {
			return victim.ask("POST", callback(victim), url.Values{})
		}, "Sign in with"},
		"posted to begin": {func(victim, _ *person) (int, string) {
			return victim.ask("POST", "/sign-in/oidc?issuer="+url.QueryEscape(provider.URL), url.Values{})
		}, "Sign in with"},
		"in a frame of another page": {func(victim, _ *person) (int, string) {
			victim.header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}
			return victim.ask("GET", "/sign-in/oidc?issuer="+url.QueryEscape(provider.URL), nil)
		}, "a page of another origin"},
		"at a provider of the attacker": {func(victim, _ *person) (int, string) {
			return victim.ask("GET", "/sign-in/oidc?issuer=https://evil.example", nil)
		}, "nobody can sign in at"},
		"the pass of another process": {func(victim, _ *person) (int, string) {
			victim.header.Set("Authorization", "Bearer tfp_AAAA")
			return victim.ask("GET", "/", nil)
		}, "Sign in with"},
	}
	for name, a := range attacks {
		victim := w.person()
		status, body := a.try(victim, w.person())
		if text := html.UnescapeString(body); status < 400 || !strings.Contains(text, a.want) || strings.Contains(text, "EVIL") {
			t.Errorf("%s: HTTP %d, want %q: %.2000s", name, status, a.want, mainOf(body))
		}
		victim.header = http.Header{}
		if status, _ := victim.ask("GET", "/", nil); status != 401 {
			t.Errorf("%s: HTTP %d, somebody is signed in", name, status)
		}
	}
	victim := w.person()
	at := callback(victim)
	if status, body := victim.ask("GET", at, nil); status != 200 {
		t.Fatalf("HTTP %d: %.2000s", status, mainOf(body))
	}
	for range 2 {
		if status, body := victim.ask("GET", at, nil); status != 400 || !strings.Contains(body, "no sign-in was begun") {
			t.Errorf("once more: HTTP %d: %.2000s", status, mainOf(body))
		}
	}
}

func TestSignInAtAProviderLeadsOnlyToOurPages(t *testing.T) {
	provider := idp.New(t)
	w, _ := withProvider(t, provider, here)
	for _, back := range []string{
		"https://evil.example/", "//evil.example", `/\evil.example`, "/\t/evil.example", "/ /evil.example", "\x00//evil.example", "/\n/evil.example",
		"/\u200b/x", "javascript:alert(1)", "evil", "", "/" + strings.Repeat("x", 5000), "/;url=https://evil.example",
	} {
		p := w.person()
		resp, body := p.follow(w.URL + "/sign-in/oidc?" + url.Values{"issuer": {provider.URL}, "back": {back}}.Encode())
		want := "0; url=/"
		if strings.HasPrefix(back, "/;") {
			want += back[1:] // a path like any other
		}
		if got := resp.Header.Get("Refresh"); got != want || strings.Contains(body, `href="https://evil`) {
			t.Errorf("%q: %s leads to %q", back, resp.Status, got)
		}
	}
}

func TestTheCookieOfAPendingSignIn(t *testing.T) {
	provider := idp.New(t)
	for public, want := range map[string]string{
		here:                               "toolfit_login=…; Path=/; Max-Age=600; HttpOnly; SameSite=Lax",
		"https://tools.example.com":        "__Host-toolfit_login=…; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
		"https://tools.example.com/tools/": "__Host-toolfit_login=…; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax",
	} {
		w, _ := withProvider(t, provider, public)
		p := w.person()
		p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, _ := p.follow(w.URL + "/sign-in/oidc?" + url.Values{"issuer": {provider.URL}}.Encode())
		got := regexp.MustCompile("login=[^;]+;").ReplaceAllString(resp.Header.Get("Set-Cookie"), "login=…;")
		to, _ := url.Parse(resp.Header.Get("Location"))
		back := strings.TrimSuffix(w.cfg.PublicURL, "/") + "/sign-in/callback"
		if got != want || resp.StatusCode != 302 || to.Query().Get("redirect_uri") != back {
			t.Errorf("%s: %s %s to %s", public, resp.Status, got, to)
		}
		if strings.HasPrefix(public, "https:") { // where anybody could set the other cookie, it counts for nothing
			value := resp.Cookies()[0].Value
			p = w.person()
			p.header.Set("Cookie", "toolfit_login="+value)
			_, body := p.ask("GET", "/sign-in/callback?code=x&state="+to.Query().Get("state"), nil)
			if !strings.Contains(body, "no sign-in was begun") {
				t.Errorf("%.2000s", mainOf(body))
			}
			p.header.Set("Cookie", "__Host-toolfit_login="+value)
			q := url.Values{"code": {"x"}, "state": {to.Query().Get("state")}, "iss": {provider.URL}}
			if _, body = p.ask("GET", "/sign-in/callback?"+q.Encode(), nil); !strings.Contains(body, "invalid_grant") {
				t.Errorf("%.2000s", mainOf(body))
			}
		}
	}
}

// TestAnotherReplicaFinishesTheSignIn: the cookies hold everything.
func TestAnotherReplicaFinishesTheSignIn(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "shared between replicas")
	provider := idp.New(t)
	first, _ := withProvider(t, provider, "http://127.0.0.1:1")
	second, _ := withProvider(t, provider, "http://127.0.0.1:1")
	p := first.person()
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ := p.follow(first.URL + "/sign-in/oidc?" + url.Values{"issuer": {provider.URL}}.Encode())
	there, err := p.client.Get(resp.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	there.Body.Close()
	back, _ := there.Location()
	other := &person{second, p.client, http.Header{}} // cookies know no ports
	if status, body := other.ask("GET", back.RequestURI(), nil); status != 200 {
		t.Fatalf("HTTP %d: %.2000s", status, mainOf(body))
	}
	if status, body := other.ask("GET", "/", nil); status != 200 || !strings.Contains(body, "alice") {
		t.Errorf("HTTP %d: %.2000s", status, mainOf(body))
	}
}

func TestAProviderThatIsAway(t *testing.T) {
	provider := idp.New(t)
	provider.Down.Store(true)
	w, _ := withProvider(t, provider, here)
	p := w.person()
	p.header.Set("Accept-Language", "zh-CN")
	resp, body := p.follow(p.begin("/"))
	if resp.StatusCode != 502 || !strings.Contains(body, "身份提供方 ") || !strings.Contains(body, `name="key"`) {
		t.Errorf("%s: %.2000s", resp.Status, mainOf(body))
	}
}

// TestSignInInARealBrowser goes to another site and back: the cookies that a browser sends differ by where a request
// comes from.
func TestSignInInARealBrowser(t *testing.T) {
	provider := idp.New(t) // at 127.0.0.1
	provider.Login.Person = map[string]any{"name": "Ann"}
	provider.Login.Page = true // so that it is the provider's page which leads back
	w, _ := withProvider(t, provider, "http://localhost:{port}")
	at := strings.Replace(w.URL, "127.0.0.1", "localhost", 1)
	axe := testparts.Axe(t)
	b := testparts.NewBrowser(t, "zh-CN")
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	for _, theme := range []string{"light", "dark"} {
		b.Prefer(theme)
		b.Do(chromedp.Navigate(at + "/calls"))
		b.Until(`document.querySelector("a.go")`)
		b.Accessible(axe)
		b.Screenshot("sign-in." + theme)
		b.Do(chromedp.Navigate(at + "/sign-in/callback?error=x"))
		b.Until(`document.querySelector("[role=alert]")`)
		b.Accessible(axe)
		b.Screenshot("sign-in-refused." + theme)
	}
	b.Do(chromedp.Navigate(at + "/calls"))
	b.Do(chromedp.Click(`a.go`))
	b.Until(`document.title === "Provider"`)
	b.Do(chromedp.Click(`button`))
	b.Until(`location.pathname === "/calls" && document.querySelector(".who")?.textContent === "Ann"`)
	b.Do(chromedp.Click(`form[action="/sign-out"] button`))
	b.Until(`document.querySelector("a.go") && !document.querySelector(".who")`)
}
