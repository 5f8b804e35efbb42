package console_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/app"
	"github.com/toolfit/toolfit/internal/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const demoConfig = `
store: t.db
mcpServers:
  cloud: {builtin: demo-cloud}
  shop: {builtin: demo-shop}
  gone: {command: no-such-program-here}
profiles:
  default: {}
  orders: {servers: [shop], tools: {allow: ["shop__*order*"]}}
recall:
  actions:
    - {kn_id: shop, at_id: orders, mcp_id: shop, tool_name: list_orders, parameters: {limit: 2}}
`

// world is a whole gateway, as a person's browser meets it.
type world struct {
	*httptest.Server
	t   testing.TB
	app *app.App
}

// newWorld starts a gateway. Without keys the person is an administrator.
func newWorld(t testing.TB, text string) *world {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, &app.Options{Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{httptest.NewServer(a.Handler()), t, a}
	t.Cleanup(func() {
		w.CloseClientConnections()
		w.Close()
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	a.Catalog.Ready(t.Context(), "default")
	return w
}

// key makes a key.
func (w *world) key(name, profile string, role access.Role) string {
	w.t.Helper()
	text, row, err := access.NewKey(name, profile, role, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	row.CreatedAt = time.Now()
	if err := w.app.Store.CreateKey(w.t.Context(), row); err != nil {
		w.t.Fatal(err)
	}
	if err := w.app.Keys.Reload(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return text
}

// person is somebody with a browser that keeps cookies.
type person struct {
	*world
	client *http.Client
	header http.Header // beside what a browser sends itself
}

func (w *world) person() *person {
	jar, _ := cookiejar.New(nil) // never an error
	return &person{w, &http.Client{Jar: jar}, http.Header{}}
}

// ask sends a request and gives the status and the page.
func (p *person) ask(method, path string, form url.Values) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", p.URL)
	}
	for name, values := range p.header {
		req.Header[name] = values
	}
	resp, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// signIn signs in with a key.
func (p *person) signIn(key string) (int, string) {
	return p.ask("POST", "/sign-in", url.Values{"key": {key}, "back": {"/"}})
}
