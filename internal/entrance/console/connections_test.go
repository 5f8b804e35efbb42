package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// whoami is an MCP server with one tool, which tells whose token it gets.
func whoami(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     json.RawMessage
		Method string
	}
	json.NewDecoder(r.Body).Decode(&in) // a test says so if it is nothing
	answers := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tracker","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"whoami","inputSchema":{"type":"object"}}]}`,
		"tools/call": `{"content":[{"type":"text","text":"you are ` + r.Header.Get("X-Subject") + `"}]}`,
		"ping":       `{}`,
	}
	switch {
	case in.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case answers[in.Method] == "":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, in.ID)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, in.ID, answers[in.Method])
	}
}

// withTracker starts a gateway with two servers that need a sign-in: each person's own, and one for all; and with more
// servers.
func withTracker(t testing.TB, host string, more ...string) (w *world, as *authserver.Server) {
	t.Helper()
	t.Setenv("TOOLFIT_SECRET_KEY", strings.Repeat("k", 43)+"=")
	as = authserver.New(t)
	as.Set(func() { as.Next = http.HandlerFunc(whoami) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	public := fmt.Sprintf("http://%s:%d", host, l.Addr().(*net.TCPAddr).Port)
	text := fmt.Sprintf(`
store: t.db
publicURL: %s
mcpServers:
  tracker: {url: %q, oauth: {as: user}}
  shared: {url: %q, oauth: {as: gateway}}
`, public, as.MCP, as.MCP) + strings.Join(more, "")
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	w = openOn(t, l, cfg)
	w.URL = public
	return w, as
}

// call calls the tool as who has the key.
func (w *world) call(key string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", w.URL+"/api/v1/tools/tracker__whoami/call", strings.NewReader("{}"))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body) // what is missing is told below
	return string(body)
}

// stored is for how many owners there is a connection.
func (w *world) stored() int {
	w.t.Helper()
	rows, err := w.app.Store.Connections(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return len(rows)
}

// signedIn is a person who has signed in with a new key.
func (w *world) signedIn(name string, role access.Role) (p *person, key string) {
	w.t.Helper()
	key = w.key(name, map[access.Role]string{access.Admin: "*"}[role]+map[access.Role]string{access.Caller: "default"}[role], role)
	p = w.person()
	if status, body := p.signIn(key); status != 200 {
		w.t.Fatalf("HTTP %d: %.500s", status, mainOf(body))
	}
	return p, key
}

var beginLink = regexp.MustCompile(`href="(/connect/[^"]+/begin)"`)

func TestSignInToAServer(t *testing.T) {
	w, as := withTracker(t, "127.0.0.1")
	root, _ := w.signedIn("root", access.Admin)
	ann, annKey := w.signedIn("ann", access.Caller)
	bob, bobKey := w.signedIn("bob", access.Caller)

	_, body := ann.get("/servers/tracker")
	if !strings.Contains(body, `href="/connect/tracker">Sign in</a>`) {
		t.Errorf("no way to sign in on the server's page: %.3000s", mainOf(body))
	}
	if _, body := ann.get("/servers/shared"); strings.Contains(body, `href="/connect/`) {
		t.Errorf("a caller is to sign in for the gateway: %.3000s", mainOf(body))
	}
	_, body = ann.get("/connect/tracker")
	link := beginLink.FindStringSubmatch(body)
	if link == nil || !strings.Contains(body, "Sign in to tracker") || !strings.Contains(body, strings.TrimPrefix(as.URL, "http://")) {
		t.Fatalf("%.3000s", mainOf(body))
	}
	if as.Count("/register") != 0 {
		t.Error("looking at the page registers a client")
	}
	resp, body := ann.get(html.UnescapeString(link[1]))
	if resp.StatusCode != 200 || resp.Request.URL.RequestURI() != "/connect/tracker?said=connected" ||
		!strings.Contains(body, "You are connected.") {
		t.Fatalf("%s at %s: %.3000s", resp.Status, resp.Request.URL, mainOf(body))
	}
	w.until("ann's call", func() bool { return strings.Contains(w.call(annKey), "you are alice") })
	if got := w.call(bobKey); !strings.Contains(got, "login_required") || !strings.Contains(got, w.URL+"/connect/tracker") {
		t.Errorf("bob's call: %s", got)
	}

	for who, p := range map[string]*person{"ann": ann, "bob": bob} {
		_, body := p.get("/connections")
		if got := strings.Contains(body, "connected</span>"); got != (who == "ann") {
			t.Errorf("%s sees: %.3000s", who, mainOf(body))
		}
	}
	if status, _ := ann.ask("GET", "/connections?all=true", nil); status != 403 {
		t.Errorf("a caller sees everybody's: HTTP %d", status)
	}
	_, body = root.get("/connections?all=true")
	if !strings.Contains(body, "connected</span>") || !strings.Contains(body, "<td>ann <code") || strings.Contains(body, "secret-") {
		t.Errorf("%.3000s", mainOf(body))
	}
	owner := regexp.MustCompile(`name="owner" value="([^"]+)"`).FindStringSubmatch(body)
	if owner == nil {
		t.Fatalf("an administrator cannot sign out others: %.3000s", mainOf(body))
	}
	if status, body := bob.ask("POST", "/connections/tracker/end", url.Values{"owner": owner[1:]}); status != 403 || w.stored() != 1 {
		t.Errorf("bob signs out ann: HTTP %d: %.500s", status, mainOf(body))
	}
	if status, body := root.ask("POST", "/connections/tracker/end", url.Values{"owner": owner[1:]}); status != 200 || w.stored() != 0 ||
		!as.Ended() {
		t.Errorf("HTTP %d: %.500s", status, mainOf(body))
	}
}

// TestWhoFollowsAnothersSignInGivesNothingAway: bob agrees at the authorization server, by a link that ann has sent.
func TestWhoFollowsAnothersSignInGivesNothingAway(t *testing.T) {
	w, as := withTracker(t, "127.0.0.1")
	ann, _ := w.signedIn("ann", access.Caller)
	bob, _ := w.signedIn("bob", access.Caller)
	stranger := w.person()
	ann.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ := ann.get("/connect/tracker/begin")
	link := resp.Header.Get("Location")
	if resp.StatusCode != 302 || !strings.HasPrefix(link, as.URL+"/authorize?") {
		t.Fatalf("%s to %s", resp.Status, link)
	}
	as.Set(func() { as.Subject = "bob" })
	req, _ := http.NewRequestWithContext(t.Context(), "GET", link, nil) // the address is the server's own
	resp, body := bob.do(req)
	if resp.StatusCode != 200 || !strings.Contains(body, "begun by somebody else") || w.stored() != 0 || as.Count("/token") != 0 {
		t.Errorf("%s, %d stored: %.3000s", resp.Status, w.stored(), mainOf(body))
	}
	req, _ = http.NewRequestWithContext(t.Context(), "GET", link, nil)
	resp, body = stranger.do(req)
	if resp.StatusCode != 200 || resp.Header.Get("Refresh") == "" || w.stored() != 0 || as.Count("/token") != 0 {
		t.Errorf("%s, %d stored: %.3000s", resp.Status, w.stored(), mainOf(body))
	}
	as.Set(func() { as.Subject = "alice" })
	ann.client.CheckRedirect = nil
	req, _ = http.NewRequestWithContext(t.Context(), "GET", link, nil)
	if resp, body := ann.do(req); resp.StatusCode != 200 || !strings.Contains(body, "You are connected.") || w.stored() != 1 {
		t.Errorf("ann cannot finish her own: %s: %.3000s", resp.Status, mainOf(body))
	}
}

// TestWhoIsNotSignedInWhenTheyComeBackFinishesAfterwards, and sees the page first if a link of another site brings them.
func TestWhoIsNotSignedInWhenTheyComeBackFinishesAfterwards(t *testing.T) {
	w, _ := withTracker(t, "127.0.0.1")
	ann, key := w.signedIn("ann", access.Caller)
	ann.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ := ann.get("/connect/tracker/begin")
	p := w.person()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", resp.Header.Get("Location"), nil)
	resp, _ = p.do(req)
	again, ok := strings.CutPrefix(resp.Header.Get("Refresh"), "0; url=")
	if !ok || !strings.HasPrefix(again, "/connect/tracker/callback?") {
		t.Fatalf("%s %v", resp.Status, resp.Header)
	}
	status, body := p.ask("GET", again, nil)
	back := regexp.MustCompile(`name="back" value="([^"]+callback[^"]+)"`).FindStringSubmatch(body)
	if status != 401 || back == nil {
		t.Fatalf("HTTP %d: %.3000s", status, mainOf(body))
	}
	status, body = p.ask("POST", "/sign-in", url.Values{"key": {key}, "back": {html.UnescapeString(back[1])}})
	if status != 200 || !strings.Contains(body, "You are connected.") {
		t.Errorf("HTTP %d: %.3000s", status, mainOf(body))
	}
	resp, body = p.get("/connect/tracker/begin?again=1")
	if resp.Request.URL.Path != "/connect/tracker" || !strings.Contains(body, "Sign in again") {
		t.Errorf("a link of another site begins a sign-in: %s: %.3000s", resp.Request.URL, mainOf(body))
	}
}

func TestAnAdministratorSignsInForTheGateway(t *testing.T) {
	w, as := withTracker(t, "127.0.0.1")
	root, _ := w.signedIn("root", access.Admin)
	ann, _ := w.signedIn("ann", access.Caller)
	for _, path := range []string{"/connect/shared", "/connect/shared/begin", "/connect/shared/callback?state=x&code=y"} {
		if status, body := ann.ask("GET", path, nil); status != 403 {
			t.Errorf("%s: HTTP %d: %.500s", path, status, mainOf(body))
		}
	}
	if _, body := root.get("/connect/shared/begin"); !strings.Contains(body, "You are connected.") ||
		!strings.Contains(body, "for the gateway") {
		t.Errorf("%.3000s", mainOf(body))
	}
	as.Set(func() { as.Fault = authserver.Refuses })
	if _, body := root.get("/connect/tracker/begin"); !strings.Contains(body, "it refused: access_denied") ||
		strings.Contains(body, "+1 555") {
		t.Errorf("%.3000s", mainOf(body))
	}
	as.Set(func() { as.Fault = authserver.NoPKCE })
	if _, body := root.get("/connect/tracker"); !strings.Contains(body, `role="alert"`) || beginLink.MatchString(body) {
		t.Errorf("a sign-in can begin where it cannot end: %.3000s", mainOf(body))
	}
	if status, _ := root.ask("GET", "/connect/nothing", nil); status != 404 {
		t.Errorf("HTTP %d", status)
	}
}

func TestATokenFromElsewhere(t *testing.T) {
	w, as := withTracker(t, "127.0.0.1")
	ann, _ := w.signedIn("ann", access.Caller)
	if _, body := ann.ask("POST", "/connect/tracker/token", url.Values{"token": {"expired"}}); !strings.Contains(body, "refuses this token") {
		t.Errorf("%.3000s", mainOf(body))
	}
	for _, wrong := range []string{"", "two words", "令牌"} {
		if _, body := ann.ask("POST", "/connect/tracker/token", url.Values{"token": {wrong}}); !strings.Contains(body, "this is not a token") {
			t.Errorf("%q: %.3000s", wrong, mainOf(body))
		}
	}
	token := as.Token("ann")
	_, body := ann.ask("POST", "/connect/tracker/token", url.Values{"token": {" Bearer " + token + " "}})
	if !strings.Contains(body, "You are connected.") || strings.Contains(body, token) || w.stored() != 1 {
		t.Errorf("%.3000s", mainOf(body))
	}
	if _, body := ann.ask("POST", "/connections/tracker/end", url.Values{}); !strings.Contains(body, "Signed out.") || w.stored() != 0 {
		t.Errorf("%.3000s", mainOf(body))
	}
}

// withValue is a server that gets a value of each person's own.
const withValue = "  jira: {url: 'http://127.0.0.1:1/mcp', headers: {X-Token: '${user:jira_token}'}}\n"

func TestValuesOfOnesOwn(t *testing.T) {
	w, _ := withTracker(t, "127.0.0.1", withValue)
	ann, _ := w.signedIn("ann", access.Caller)
	bob, _ := w.signedIn("bob", access.Caller)
	wants := func(p *person, state string) {
		t.Helper()
		_, body := p.get("/connections")
		if !strings.Contains(body, `action="/values/jira_token"`) || !strings.Contains(body, state+"</span>") ||
			strings.Contains(body, "hunter") {
			t.Errorf("it is not %s: %.3000s", state, mainOf(body))
		}
	}
	wants(ann, "missing")
	for _, wrong := range []string{"", "a\r\nX-Admin: 1", strings.Repeat("x", 9000)} {
		if _, body := ann.ask("POST", "/values/jira_token", url.Values{"value": {wrong}}); !strings.Contains(body, "the value ") {
			t.Errorf("%.20q: %.3000s", wrong, mainOf(body))
		}
	}
	wants(ann, "missing")
	if status, _ := ann.ask("POST", "/values/other", url.Values{"value": {"hunter2"}}); status != 404 {
		t.Errorf("a value that nobody asks for: HTTP %d", status)
	}
	if _, body := ann.ask("POST", "/values/jira_token", url.Values{"value": {"hunter2"}}); !strings.Contains(body, "The value is saved.") {
		t.Errorf("%.3000s", mainOf(body))
	}
	wants(ann, "given")
	wants(bob, "missing")
	if status, _ := bob.ask("POST", "/values/jira_token/remove", url.Values{}); status != 404 {
		t.Errorf("bob removes what he has not given: HTTP %d", status)
	}
	if _, body := ann.ask("POST", "/values/jira_token/remove", url.Values{}); !strings.Contains(body, "The value is removed.") {
		t.Errorf("%.3000s", mainOf(body))
	}
	wants(ann, "missing")
}

func TestConnectionsOfARemovedServer(t *testing.T) {
	w, as := withTracker(t, "127.0.0.1")
	root, _ := w.signedIn("root", access.Admin)
	ann, _ := w.signedIn("ann", access.Caller)
	ann.get("/connect/tracker/begin")
	next, err := config.Parse(w.app.Config().Path, []byte("store: t.db\npublicURL: "+w.URL+"\nmcpServers: {}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.app.Reload(next)
	_, body := root.get("/connections?all=true")
	owner := regexp.MustCompile(`name="owner" value="([^"]+)"`).FindStringSubmatch(body)
	if owner == nil || !strings.Contains(body, "removed</span>") || strings.Contains(body, `href="/servers/tracker"`) ||
		strings.Contains(body, `href="/connect/`) {
		t.Fatalf("%.3000s", mainOf(body))
	}
	if _, body := root.ask("POST", "/connections/tracker/end", url.Values{"owner": owner[1:]}); !strings.Contains(body, "Signed out.") ||
		!as.Ended() {
		t.Errorf("%.3000s", mainOf(body))
	}
}

// TestSignInToAServerInARealBrowser goes by a link to the page, to another site and back, without and with our cookie.
func TestSignInToAServerInARealBrowser(t *testing.T) {
	w, as := withTracker(t, "localhost", withValue)
	as.Set(func() { as.Asks = true })
	key := w.key("ann", "default", access.Caller)
	axe := testparts.Axe(t)
	b := testparts.NewBrowser(t, "zh-CN")
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.Do(chromedp.Navigate(w.URL + "/connect/tracker"))
	b.Until(`document.querySelector("input[name=key]")`)
	b.Do(chromedp.SendKeys(`input[name=key]`, key), chromedp.Click(`form.stack button`))
	b.Until(`document.querySelector("a.go")?.pathname === "/connect/tracker/begin"`)
	for _, theme := range []string{"light", "dark"} {
		b.Prefer(theme)
		b.Accessible(axe)
		b.Screenshot("connect." + theme)
	}
	b.Do(chromedp.Click(`a.go`))
	b.Until(`document.title === "Agree"`)
	b.Do(chromedp.Click(`button`))
	b.Until(`location.pathname === "/connect/tracker" && document.querySelector("#notice .good")`)
	b.Accessible(axe)
	b.Screenshot("connected.dark")
	w.until("the call", func() bool { return strings.Contains(w.call(key), "you are alice") })
	b.Begin(t) // a browser complains of the page that asks for the key
	b.Do(chromedp.Navigate(w.URL + "/connect/tracker"))
	b.Until(`document.querySelector("details")`)
	b.Do(chromedp.Navigate(w.URL + "/connections"))
	b.Until(`document.querySelector("td .badge.good")`)
	b.Accessible(axe)
	b.Screenshot("connections.dark")
	b.Do(chromedp.SendKeys(`input[name=value]`, "hunter2"), chromedp.Click(`form.row button`))
	b.Until(`document.querySelector("#notice .good") && document.querySelector("form.row .badge.good")`)
	b.Prefer("light")
	b.Accessible(axe)
	b.Screenshot("values.light")
	b.CheckConsole()
}

// TestWhoMaySignInByREST: each for themselves, and nobody whom any program on this machine could be.
func TestWhoMaySignInByREST(t *testing.T) {
	w, _ := withTracker(t, "127.0.0.1")
	ask := func(key, method, path, body string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, w.URL+"/api/v1/connections"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body) // what is missing is told below
		return resp.Status + " " + string(text)
	}
	ann := w.key("ann", "default", access.Caller)
	bob := w.key("bob", "default", access.Caller)
	eve := w.key("eve", "default", access.Viewer)
	var begun restapi.DeviceLogin
	answer := ask(ann, "POST", "/tracker/device", "")
	if err := json.Unmarshal([]byte(answer[len("200 OK "):]), &begun); err != nil || begun.State == "" {
		t.Fatal(answer)
	}
	state := `{"state":"` + begun.State + `"}`
	for _, c := range []struct{ key, method, path, body, want string }{
		{eve, "POST", "/tracker", "", "403"},
		{ann, "POST", "/shared", "", "403"},
		{ann, "POST", "/shared/device", "", "403"},
		{ann, "GET", "?all=true", "", "403"},
		{bob, "POST", "/tracker/device/finish", state, "404"},
		{ann, "POST", "/tracker/device/finish", `{}`, "400"},
		{ann, "POST", "/tracker/device/finish", `[]`, "400"},
		{ann, "POST", "/shared/device/finish", state, "403"},
		{ann, "POST", "/nothing/device", "", "404"},
		{ann, "POST", "/tracker/device/finish", state, `200 OK {"connected":"tracker"}`},
		{ann, "POST", "/tracker/device/finish", state, "404"},
		{bob, "DELETE", "/tracker", "", "404"},
		{ann, "DELETE", "/tracker", "", "200"},
	} {
		if got := ask(c.key, c.method, c.path, c.body); !strings.HasPrefix(got, c.want) || strings.Contains(got, "secret-") {
			t.Errorf("%s %s %s: %s", c.method, c.path, c.body, got)
		}
	}
	local := w.app.API(func(*http.Request) (access.Principal, error) { return access.Local(), nil })
	for _, path := range []string{"/tracker", "/tracker/device", "/shared"} {
		got := httptest.NewRecorder()
		local.ServeHTTP(got, httptest.NewRequest("POST", "/api/v1/connections"+path, nil))
		if got.Code != 403 {
			t.Errorf("%s as anybody on this machine: %d %s", path, got.Code, got.Body)
		}
	}
}
