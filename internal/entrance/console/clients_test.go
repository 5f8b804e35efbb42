package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// connect lets a client of that name open a session and call a tool.
func (w *world) connect(name, version, path, key, tool string) {
	w.t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, nil)
	session, err := client.Connect(w.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.URL + path, HTTPClient: &http.Client{Transport: bearer{transport, key}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer session.Close()
	if tool == "" {
		return
	}
	if res, err := session.CallTool(w.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}); err != nil || res.IsError {
		w.t.Fatalf("%v, %+v", err, res)
	}
}

// bearer sends a key.
type bearer struct {
	*http.Transport
	key string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.key != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.key)
	}
	return b.Transport.RoundTrip(r)
}

var keyText = regexp.MustCompile(`tf_[a-z0-9]+_[A-Za-z0-9_-]{20,}`)

func TestSnippetsSayHowTheGatewayIsEntered(t *testing.T) {
	open := newWorld(t, demoConfig).person()
	for _, path := range []string{"/clients", "/clients?client=zed", "/clients?client=stdio"} {
		if _, body := open.ask("GET", path, nil); strings.Contains(body, "TOOLFIT_KEY") || !strings.Contains(body, open.URL) {
			t.Errorf("%s without keys: %.600s", path, body[strings.Index(body, "<main"):])
		}
	}
	w := newWorld(t, demoConfig+"publicURL: https://tools.example.com/gate\n")
	root, ann := w.key("root", "*", access.Admin), w.key("ann", "orders", access.Caller)
	caller := w.person()
	caller.signIn(ann)
	_, body := caller.ask("GET", "/clients?client=cursor&profile=default", nil)
	if !strings.Contains(body, "https://tools.example.com/gate/mcp/orders") || strings.Contains(body, "mcp/default") || !strings.Contains(body, "${env:TOOLFIT_KEY}") ||
		!strings.Contains(body, `href="cursor://anysphere.cursor-deeplink/mcp/install?name=toolfit&amp;config=`) || strings.Contains(body, "/clients/key") {
		t.Errorf("a caller: %s", body[strings.Index(body, "<main"):])
	}
	admin := w.person()
	admin.signIn(root)
	_, body = admin.ask("GET", "/clients?client=zed&profile=orders", nil)
	if !strings.Contains(body, "&lt;TOOLFIT_KEY&gt;") || keyText.MatchString(body) {
		t.Errorf("an admin, before a key: %s", body[strings.Index(body, "<main"):])
	}
	_, body = admin.ask("POST", "/clients/key", url.Values{"client": {"zed"}, "profile": {"orders"}, "name": {"zed-of-ben"}})
	made := keyText.FindString(body)
	if made == "" || !strings.Contains(body, "Bearer "+made) || strings.Contains(body, "&lt;TOOLFIT_KEY&gt;") {
		t.Fatalf("with the new key: %s", body[strings.Index(body, "<main"):])
	}
	if _, body = admin.ask("GET", "/clients?client=zed&profile=orders", nil); strings.Contains(body, made) || !strings.Contains(body, ">zed-of-ben</option>") {
		t.Error("the key is shown again, or cannot be waited for")
	}
	if _, body = admin.ask("POST", "/clients/key", url.Values{"client": {"zed"}, "profile": {"orders"}, "name": {""}}); !strings.Contains(body, "notice bad") ||
		keyText.MatchString(body) {
		t.Error("a key without a name")
	}
	_, body = admin.ask("POST", "/clients/key", url.Values{"client": {"codex"}, "profile": {"orders"}, "name": {"codex-of-ben"}})
	if !strings.Contains(body, "export TOOLFIT_KEY="+keyText.FindString(body)+"\ncodex mcp add") || !strings.Contains(body, "Set the environment variable TOOLFIT_KEY") {
		t.Errorf("a client that takes a variable alone: %s", body[strings.Index(body, "<main"):])
	}
	p := w.person()
	if status, _ := p.signIn(made); status != http.StatusOK {
		t.Errorf("the key opens nothing: %d", status)
	}
	if _, body := p.ask("GET", "/keys", nil); !strings.Contains(body, "may not") {
		t.Error("it opens more than a caller's pages")
	}
}

func TestClientsAreSeenByTheirOwnersAndByReaders(t *testing.T) {
	w := newWorld(t, demoConfig)
	root, ann, ben := w.key("root", "*", access.Admin), w.key("ann", "orders", access.Caller), w.key("ben", "orders", access.Caller)
	w.connect("claude-code", "2.1", "/mcp", ann, "")
	w.connect("my own program", "", "/mcp/orders", ben, "shop__list_orders")
	look := func(key, path string) string {
		p := w.person()
		p.signIn(key)
		_, body := p.ask("GET", path, nil)
		return body
	}
	for _, c := range []struct{ name, who, path, has, lacks string }{
		{"her client, without a call", ann, "/clients/live?client=claude-code&profile=orders", "no calls yet", "my own program"},
		{"his client is not hers", ann, "/clients/live?client=python&profile=orders", "Waiting for", "my own program"},
		{"his client", ben, "/clients/live?client=http&profile=orders", "1 call<", "Claude Code"},
		{"another profile", root, "/clients/live?client=claude-code&profile=default", "Waiting for", "<table"},
		{"those of all", root, "/clients/live?client=claude-code&profile=orders", "my own program", "Waiting for"},
		{"with one key", root, "/clients/live?client=claude-code&key=none", "Waiting for", "<table"},
	} {
		if body := look(c.who, c.path); !strings.Contains(body, c.has) || strings.Contains(body, c.lacks) {
			t.Errorf("%s: %q or not %q in %s", c.name, c.has, c.lacks, body)
		}
	}
}

func TestAClientConnectsWhileThePageWaitsInARealBrowser(t *testing.T) {
	w := newWorld(t, demoConfig)
	b := testparts.NewBrowser(t, "en-US")
	b.Do(chromedp.Navigate(w.URL + "/clients?client=claude-code"))
	b.Until(has("claude mcp add --transport http toolfit") + " && " + has("Waiting for the first call of Claude Code…"))
	w.connect("claude-code", "2.1", "/mcp/default", "", "")
	b.Until(has("Claude Code 2.1") + " && " + has("no calls yet") + " && !" + has("Waiting for"))
	w.connect("claude-code", "2.1", "/mcp/default", "", "shop__list_orders")
	b.Until(`/Claude Code 2\.1 connected, last request \d+ s ago · 1 call/.test(document.querySelector(".came").innerText)`)
	b.Do(chromedp.Click(`.kinds a[href*="client=cursor"]`))
	b.Until(`document.querySelector("h2#guide").textContent === "Cursor" && document.querySelector(".connect .go").href.startsWith("cursor://")`)
	b.CheckConsole()
}
