package trial_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// fakeBrowsers is a playwright server: each session has a page of its own, with a counter
// that its one button raises.
type fakeBrowsers struct {
	mu     sync.Mutex
	pages  map[string]*fakePage // by session
	opened int
	got    []string                 // the calls that do something, as they came
	fail   func(tool string) string // an error of the tool's; "": it works
}

type fakePage struct {
	url    string
	clicks int
	typed  string
}

func (f *fakeBrowsers) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := req.Session.ID()
	p := f.pages[id]
	if p == nil {
		p = &fakePage{url: "about:blank"}
		f.pages[id] = p
		f.opened++
	}
	var args map[string]string
	json.Unmarshal(req.Params.Arguments, &args) // other arguments do not matter
	if f.fail != nil {
		if why := f.fail(req.Params.Name); why != "" {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "### Error\n" + why}}}, nil
		}
	}
	if req.Params.Name == "browser_click" || req.Params.Name == "browser_type" {
		f.got = append(f.got, req.Params.Name+" "+string(req.Params.Arguments))
	}
	switch req.Params.Name {
	case "browser_navigate":
		p.url = args["url"]
	case "browser_click":
		p.clicks++
	case "browser_type":
		p.typed = args["text"]
	case "browser_close":
		*p = fakePage{url: "about:blank"}
	}
	text := fmt.Sprintf("### Page\n- Page URL: %s\n- Page Title: Counter\n", p.url)
	if req.Params.Name == "browser_snapshot" {
		text += fmt.Sprintf("### Snapshot\n```yaml\n- button \"More\" [ref=e1]\n- textbox \"User name\" [ref=e2]: %s\n- button \"Save\" "+
			"[ref=e3]\n- button \"Save\" [ref=e4]\n- paragraph [ref=e5]: count %d\n```\n", p.typed, p.clicks)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

// start serves the browsers over HTTP.
func (f *fakeBrowsers) start(t *testing.T) string {
	t.Helper()
	f.pages = map[string]*fakePage{}
	s := mcp.NewServer(&mcp.Implementation{Name: "Playwright", Version: "1"}, nil)
	for name, schema := range map[string]string{
		"browser_navigate": `{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}`,
		"browser_click":    `{"type":"object","properties":{"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}`,
		"browser_type": `{"type":"object","properties":{"ref":{"type":"string"},"text":{"type":"string"}},` +
			`"required":["ref","text"],"additionalProperties":false}`,
		"browser_snapshot": `{"type":"object","properties":{}}`, "browser_close": `{"type":"object","properties":{}}`,
		"browser_take_screenshot": `{"type":"object","properties":{}}`,
	} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, f.handle)
	}
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() {
		srv.Close()
		for left := range s.Sessions() { // a client in a hurry does not wait until we know that it left
			left.Close()
		}
	})
	return srv.URL
}

// newApp is a gateway in front of the browsers.
func newApp(t *testing.T, url string) *app.App {
	t.Helper()
	return newAppWith(t, url, "")
}

// newAppWith is one with more in its configuration.
func newAppWith(t *testing.T, url, more string) *app.App {
	t.Helper()
	a := openApp(t, url, more)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// openApp is one that its test closes.
func openApp(t *testing.T, url, more string) *app.App {
	t.Helper()
	text := more + fmt.Sprintf("store: t.db\nmcpServers:\n  web: {url: %q}\nprofiles:\n  default: {validation: light}\n  agents: "+
		"{tests: true, validation: light}\n", url)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// parsed reads a test file.
func parsed(t *testing.T, text string) *steps.Suite {
	t.Helper()
	s, err := steps.Parse("t.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// manyCases is a file with so many cases, each of which clicks as often as its number says.
func manyCases(n int) string {
	var b strings.Builder
	b.WriteString("name: many\nbase: http://127.0.0.1:1\ncases:\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  - name: case %d\n    tags: [t%d]\n    steps:\n      - open /\n", i, i%2)
		b.WriteString(strings.Repeat("      - click More\n", i))
		fmt.Fprintf(&b, "      - {expect: {text: count %d}, timeout: 1s}\n", i)
	}
	return b.String()
}

func order(suites ...*steps.Suite) trial.Order {
	return trial.Order{Who: access.Owner(), Profile: "default", Suites: suites}
}
