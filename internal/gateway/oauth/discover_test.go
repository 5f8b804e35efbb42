package oauth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	wellResource = "/.well-known/oauth-protected-resource"
	wellServer   = "/.well-known/oauth-authorization-server"
	wellOpenID   = "/.well-known/openid-configuration"
)

// about is the metadata of an authorization server. $ is the address of the test's server.
func about(issuer, more string) string {
	return `{"issuer":"` + issuer +
		`","authorization_endpoint":"$/authorize","token_endpoint":"$/token","code_challenge_methods_supported":["S256"]` + more + `}`
}

func resource(of, issuers string) string {
	return `{"resource":"` + of + `","authorization_servers":[` + issuers + `],"scopes_supported":["all"]}`
}

// site serves pages, by path; those that begin with a digit are a status. It notes what it was asked for.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newSite(t *testing.T, pages map[string]string) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		page, ok := pages[r.URL.Path]
		page = strings.ReplaceAll(page, "$", s.URL)
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.HasPrefix(page, "500"):
			http.Error(w, page, 500)
		case strings.HasPrefix(page, "to "):
			http.Redirect(w, r, page[3:], http.StatusFound)
		default:
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestDiscovery(t *testing.T) {
	type pages = map[string]string
	root := about("$", "")
	for _, c := range []struct {
		name      string
		path      string // of the MCP server
		challenge string
		cfg       config.OAuth
		pages     pages
		want      string // issuer, resource and scopes, or a part of the error
	}{
		{"the place that the challenge names", "/mcp", `Bearer resource_metadata="$/here"`, asUser,
			pages{"/here": resource("$/mcp", `"$"`), wellServer: root}, "$ $/mcp [all]"},
		{"the second challenge", "/mcp", `Basic realm="x", Bearer resource_metadata="$/here"`, asUser,
			pages{"/here": resource("$/mcp", `"$"`), wellServer: root}, "$ $/mcp [all]"},
		{"the place with the path", "/mcp", "Bearer", asUser,
			pages{wellResource + "/mcp": resource("$/mcp", `"$"`), wellResource: "500", wellServer: root}, "$ $/mcp [all]"},
		{"the root, after a page and an error", "/mcp", `Bearer resource_metadata="$/here"`, asUser,
			pages{"/here": "<html>", wellResource + "/mcp": "500", wellResource: resource("$", `"$"`), wellServer: root}, "$ $ [all]"},
		{"the scope of the challenge before all others", "/mcp", `Bearer scope="a b"`, asUser,
			pages{wellResource: resource("$", `"$"`), wellServer: root}, "$ $ [a b]"},
		{"the scopes of the configuration before that", "/mcp", `Bearer scope="a b"`, config.OAuth{As: config.AsUser, Scopes: []string{"mine"}},
			pages{wellResource: resource("$", `"$"`), wellServer: root}, "$ $ [mine]"},
		{"the resource of the configuration", "/mcp", "", config.OAuth{As: config.AsUser, Resource: "urn:x"},
			pages{wellResource: resource("$", `"$"`), wellServer: root}, "$ urn:x [all]"},
		{"no resource if the configuration says so", "/mcp", "", config.OAuth{As: config.AsUser, Resource: config.OmitResource},
			pages{wellResource: resource("$", `"$"`), wellServer: root}, "$  [all]"},
		{"a final slash of the resource is forgiven", "/mcp/", "", asUser,
			pages{wellResource + "/mcp": resource("$/mcp", `"$"`), wellServer: root}, "$ $/mcp [all]"},
		{"a resource that is a parent", "/a/mcp", "", asUser, pages{wellResource + "/a/mcp": resource("$/a", `"$"`), wellServer: root},
			"$ $/a [all]"},
		{"a resource that only begins alike", "/abc", "", asUser, pages{wellResource + "/abc": resource("$/ab", `"$"`), wellServer: root},
			"about another server"},
		{"a resource below", "/a", "", asUser, pages{wellResource + "/a": resource("$/a/b", `"$"`), wellServer: root}, "about another server"},
		{"a resource of another origin", "/mcp", "", asUser, pages{wellResource: resource("https://evil.example/mcp", `"$"`)},
			"about another server"},
		{"a resource with a name in it", "/mcp", "", asUser, pages{wellResource: resource("http://u@127.0.0.1/mcp", `"$"`)},
			"about another server"},
		{"the second authorization server", "/mcp", "", asUser,
			pages{wellResource: resource("$", `"$/dead","$/live"`), wellServer + "/live": about("$/live", "")}, "$/live $ [all]"},
		{"OpenID with the path inserted, after a page", "/mcp", "", asUser,
			pages{wellResource: resource("$", `"$/t"`), wellServer + "/t": "<html>", wellOpenID + "/t": about("$/t", "")}, "$/t $ [all]"},
		{"OpenID with the path before, after errors", "/mcp", "", asUser,
			pages{wellResource: resource("$", `"$/t"`), wellServer + "/t": "500", "/t" + wellOpenID: about("$/t", "")}, "$/t $ [all]"},
		{"a final slash of the issuer is forgiven", "/mcp", "", asUser,
			pages{wellResource: resource("$", `"$/t/"`), wellServer + "/t": about("$/t", "")}, "$/t $ [all]"},
		{"another issuer", "/mcp", "", asUser, pages{wellResource: resource("$", `"$/t"`), wellServer + "/t": about("$/other", "")},
			"calls itself"},
		{"another issuer that the configuration names", "/mcp", "", config.OAuth{As: config.AsUser, Issuer: "$/other"},
			pages{wellResource: resource("$", `"$/t"`), wellServer + "/t": about("$/other", "")}, "$/other $ [all]"},
		{"an issuer of the configuration alone", "/mcp", "", config.OAuth{As: config.AsUser, Issuer: "$/t"},
			pages{wellServer + "/t": about("$/t", "")}, "$/t  []"},
		{"a server of the first revision", "/mcp", "", asUser, pages{wellServer: root}, "$  []"},
		{"one that calls itself otherwise on its origin", "/mcp", "", asUser, pages{wellServer: about("$/oauth", "")}, "$/oauth  []"},
		{"one that calls itself another", "/mcp", "", asUser, pages{wellServer: about("https://accounts.example.com", "")}, "calls itself"},
		{"one without metadata", "/mcp", "", asUser, nil, "$  []"},
		{"no PKCE", "/mcp", "", asUser, pages{wellServer: `{"issuer":"$","authorization_endpoint":"$/a","token_endpoint":"$/t"}`},
			"PKCE with S256"},
		{"no PKCE, and the configuration knows better", "/mcp", "", config.OAuth{As: config.AsUser, PKCE: config.AssumePKCE},
			pages{wellServer: `{"issuer":"$","authorization_endpoint":"$/a","token_endpoint":"$/t"}`}, "$  []"},
		{"no token endpoint", "/mcp", "", asUser, pages{wellServer: `{"issuer":"$","code_challenge_methods_supported":["S256"]}`},
			"names no token_endpoint"},
		{"an endpoint that is a program", "/mcp", "", asUser, pages{wellServer: strings.Replace(root, "$/authorize", "javascript:alert(1)", 1)},
			"is not https"},
		{"an endpoint on another host without TLS", "/mcp", "", asUser,
			pages{wellServer: strings.Replace(root, "$/token", "http://a.example/t", 1)}, "is not https"},
		{"an issuer without TLS", "/mcp", "", asUser, pages{wellResource: resource("$", `"http://as.example"`)}, "is not https"},
		{"an issuer that is no address", "/mcp", "", asUser, pages{wellResource: resource("$", `"","::","file:///etc/passwd"`)}, "is not https"},
		{"metadata of wrong types", "/mcp", "", asUser, pages{wellResource: `{"resource":7}`, wellServer: root}, "$  []"},
		{"a redirect within the origin", "/mcp", "", asUser, pages{wellResource: "to /moved", "/moved": resource("$", `"$"`), wellServer: root},
			"$ $ [all]"},
		{"a redirect elsewhere", "/mcp", "", asUser, pages{wellResource: "to https://elsewhere.example/", wellServer: root}, "$  []"},
	} {
		s := newSite(t, c.pages)
		c.cfg.Issuer = strings.ReplaceAll(c.cfg.Issuer, "$", s.URL)
		client, err := NewClient(&config.Server{ID: "notes", URL: s.URL + c.path, OAuth: &c.cfg})
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		if c.challenge != "" {
			header.Set("WWW-Authenticate", strings.ReplaceAll(c.challenge, "$", s.URL))
		}
		got := ""
		if f, err := client.Discover(t.Context(), header); err != nil {
			got = err.Error()
			if !fault.Is(err, fault.LoginRequired) {
				t.Errorf("%s: %v", c.name, fault.As(err).Code)
			}
		} else {
			got = fmt.Sprintf("%s %s %v", f.Issuer, f.Resource, f.Scopes)
		}
		want := strings.ReplaceAll(c.want, "$", s.URL)
		if got != want && (strings.HasPrefix(c.want, "$") || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, not %s", c.name, got, want)
		}
	}
}

// TestWhatIsBrokenForNowIsNotTakenForAbsent: nothing is guessed, and nobody is told that they cannot sign in.
func TestWhatIsBrokenForNowIsNotTakenForAbsent(t *testing.T) {
	type pages = map[string]string
	for name, c := range map[string]pages{
		"all is broken":             {wellResource: "500", wellResource + "/mcp": "500", wellServer: "500", wellOpenID: "500"},
		"the resource is broken":    {wellResource + "/mcp": "500"},
		"the first place is broken": {wellServer: "500"},
		"a named server is broken":  {wellResource: resource("$", `"$/t"`), wellServer + "/t": "500"},
		"one of two named is":       {wellResource: resource("$", `"$/t","$/u"`), wellOpenID + "/u": "500"},
	} {
		s := newSite(t, c)
		client, err := NewClient(&config.Server{ID: "notes", URL: s.URL + "/mcp", OAuth: &asUser})
		if err != nil {
			t.Fatal(err)
		}
		f, err := client.Discover(t.Context(), http.Header{})
		if !fault.Is(err, fault.UpstreamDown) || !strings.Contains(err.Error(), "HTTP 500") {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
}

// TestForbiddenAddressesAreNotDialed: whatever a server names, from the metadata to the token endpoint.
func TestForbiddenAddressesAreNotDialed(t *testing.T) {
	var dialed atomic.Int32
	inside := httptest.NewUnstartedServer(http.NotFoundHandler())
	inside.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dialed.Add(1)
		}
	}
	inside.Start()
	defer inside.Close()
	port := netip.MustParseAddrPort(inside.Listener.Addr().String()).Port()
	cfg := config.Server{ID: "notes", URL: "https://mcp.example.com/mcp", OAuth: &asUser}
	client, err := NewClient(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1",
		"0.0.0.0", "[fe80::1]", "[fd00::1]", "[64:ff9b::7f00:1]", "2130706433", "0x7f.1",
	} {
		address := fmt.Sprintf("https://%s:%d/", host, port)
		f := &Found{Issuer: address, Token: address, Register: address, Revoke: address, Device: address}
		r := &Registration{ClientID: "x"}
		for what, do := range map[string]func() error{
			"metadata": func() error { return client.getJSON(ctx, address, &struct{}{}) },
			"token":    func() error { _, err := client.Refresh(ctx, f, r, &Token{Refresh: "x"}); return err },
			"register": func() error { _, err := client.RegisterAt(ctx, f, "https://tools.example.com/cb"); return err },
			"revoke":   func() error { return client.Revoke(ctx, f, r, &Token{Access: "x"}) },
			"device":   func() error { _, err := client.BeginDevice(ctx, f, r); return err },
		} {
			if err := do(); err == nil {
				t.Errorf("%s at %s was reached", what, host)
			}
		}
		if client.acceptable(strings.Replace(address, "https", "http", 1)) {
			t.Errorf("http to %s is acceptable", host)
		}
	}
	if n := dialed.Load(); n > 0 {
		t.Errorf("%d connections came through", n)
	}
	if conn, err := net.Dial("tcp", inside.Listener.Addr().String()); err == nil { // the test would notice
		conn.Close()
	}
	for dialed.Load() == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if n := dialed.Load(); n != 1 {
		t.Errorf("%d connections are counted, not 1", n)
	}
}

// TestOnlyTheServerItselfMayBeInside: its own origin may be in a private network, other ports of its host not.
func TestOnlyTheServerItselfMayBeInside(t *testing.T) {
	client, err := NewClient(&config.Server{ID: "notes", URL: "https://notes.localtest.example:8443/mcp", OAuth: &asUser})
	if err != nil {
		t.Fatal(err)
	}
	for address, own := range map[string]bool{
		"https://notes.localtest.example:8443/.well-known/x": true, "https://NOTES.localtest.example:8443/": true,
		"https://notes.localtest.example/": false, "https://notes.localtest.example:6379/": false, "https://other.example:8443/": false,
	} {
		req, err := http.NewRequest("GET", address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.dials(req.URL) == client.own; got != own {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// A client of the configuration is known to the issuer that it names. A server that shows metadata of its own in that
// one's name must not get the client's secret.
func TestTheIssuerOfTheConfigurationSpeaksForItself(t *testing.T) {
	pages := map[string]string{
		wellResource:           resource("$/", `"$/lying"`),
		wellServer + "/lying":  strings.Replace(about("$/issuer", ""), "$/token", "$/steal", 1),
		wellServer + "/issuer": about("$/issuer", ""),
	}
	s := newSite(t, pages)
	cfg := config.OAuth{As: config.AsUser, Issuer: s.URL + "/issuer", ClientID: "known", ClientSecret: "secret"}
	c, err := NewClient(&config.Server{ID: "one", URL: s.URL + "/mcp", OAuth: &cfg})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Discover(t.Context(), http.Header{})
	if err != nil || found.Token != s.URL+"/token" {
		t.Errorf("%+v %v", found, err)
	}
}
