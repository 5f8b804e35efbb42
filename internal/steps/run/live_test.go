package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/fit"
	"github.com/toolfit/toolfit/internal/steps"
	"github.com/toolfit/toolfit/internal/steps/run"
	"github.com/toolfit/toolfit/internal/testparts"
)

// liveVersions are the servers that the tests run against, each installed under its own name.
var liveVersions = []string{"0.0.32", "0.0.41", "0.0.62", "0.0.83"}

// liveBrowser is a real server with a real Chromium, over stdio.
type liveBrowser struct{ session *mcp.ClientSession }

func (b liveBrowser) Tools(ctx context.Context) ([]run.Tool, error) {
	list, err := b.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(list.Tools)
	if err != nil {
		return nil, err
	}
	var tools []run.Tool
	return tools, json.Unmarshal(raw, &tools)
}

func (b liveBrowser) Call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	res, err := b.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err
	}
	return json.Marshal(res)
}

// fitted fits every call to the live schemas, as the gateway does.
func fitted(tools []run.Tool) run.Fitter {
	schemas, names := map[string]json.RawMessage{}, []string{}
	for _, t := range tools {
		schemas[t.Name] = t.InputSchema
		names = append(names, t.Name)
	}
	server := fit.Recognise(fit.Builtin(), names)
	return func(c run.Call) (run.Call, error) {
		name, args, _ := server.Route(c.Tool, c.Arguments)
		t, err := fit.Compile(schemas[name], &fit.Options{Known: server.Tool(name), Validation: fit.Light})
		if err != nil {
			return c, err
		}
		res, err := t.Fit(args)
		return run.Call{Tool: name, Arguments: res.Args}, err
	}
}

const offline = `{"browser":{"launchOptions":{"args":["--disable-background-networking","--disable-component-update","--disable-sync","--disable-default-apps","--no-first-run","--no-pings","--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"]}}}`

// startLive starts a server of the version, or ends the test when a part is missing.
func startLive(t *testing.T, version string) liveBrowser {
	t.Helper()
	node := testparts.Need(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs chromium on PATH: apt-get install chromium fonts-noto-cjk")
	}
	cli := "playwright-mcp-" + version + "/cli.js"
	if _, err := os.Stat(filepath.Join(node.Dir(), "node_modules", cli)); err != nil {
		t.Skip("needs the npm package playwright-mcp-" + version + ", an alias of @playwright/mcp@" + version)
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "browser.json")
	if err := os.WriteFile(config, []byte(offline), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--executable-path", chromium, "--headless", "--isolated", "--no-sandbox", "--config", config, "--output-dir", dir}
	if version == "0.0.83" {
		args = append(args, "--timeout-settle", "0", "--snapshot-mode", "none")
	}
	line := node.Script(cli, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = dir
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("start the server: %v", err)
	}
	t.Cleanup(func() { session.Close() }) // the server ends with its input
	return liveBrowser{session}
}

// liveSite serves the recorded pages and a few of its own on loopback.
func liveSite(t *testing.T) *httptest.Server {
	t.Helper()
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("needs TOOLFIT_DATA, the folder with the pages")
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(dir, "browser", "pages"))))
	mux.HandleFunc("/ask.html", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><meta charset="utf-8"><title>Ask</title><button onclick="out.textContent=confirm('确定删除吗')?'deleted':'kept'">Delete</button>
<button onclick="out.textContent='hello '+prompt('Name?')">Greet</button><p id="out"></p><a href="/login-en.html" target="_blank">New window</a>`)
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site
}

func TestRealBrowsersOfEveryVersion(t *testing.T) {
	site := liveSite(t)
	good, bad := liveSuite(t, false), liveSuite(t, true)
	for _, version := range liveVersions {
		t.Run(version, func(t *testing.T) {
			r := run.New(startLive(t, version), &run.Options{Base: site.URL, Fit: fitted, Timeout: 5 * time.Second, Screenshots: "off"})
			for _, s := range r.Suite(t.Context(), good).Cases[0].Steps {
				if s.Status != run.Passed && s.Status != run.Healed {
					t.Errorf("%s", told(s))
				}
			}
			for i, s := range r.Suite(t.Context(), bad).Cases[0].Steps {
				planted := bad.Cases[0].Steps[i].Optional
				if planted && s.Status != run.Noted || !planted && s.Status != run.Passed {
					t.Errorf("planted %v, but %s", planted, told(s))
				}
			}
		})
	}
}

// liveSuite is all cases as one, so that the browser starts once. The last step of each
// planted one must fail; it is optional, so that the next is tried.
func liveSuite(t *testing.T, planted bool) *steps.Suite {
	t.Helper()
	all := &steps.Suite{Cases: []steps.Case{{Name: "all"}}}
	for _, c := range liveCases {
		text := c.yaml
		if planted {
			text = c.bad
		}
		s, err := steps.Parse(c.name, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		list := s.Cases[0].Steps
		list[len(list)-1].Optional = planted
		all.Cases[0].Steps = append(all.Cases[0].Steps, list...)
	}
	return all
}

// told is what happened in a step that did not go as it should.
func told(s run.StepResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s", s.File, s.Status, s.Text)
	if s.Error != nil {
		fmt.Fprintf(&b, ": %s %s", s.Error.Details.Code, s.Error.Message)
	}
	for _, c := range s.Calls {
		fmt.Fprintf(&b, "\n    %s %s %s", c.Tool, c.After, c.Error)
	}
	return b.String()
}
