package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	stepsrun "github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/program/cli"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// stepCase is one thing that tests do in browsers.
type stepCase struct {
	name, good, planted string
	code                string // of the planted mistake
}

// stepVersions are playwright servers whose tools, answers and snapshots differ.
var stepVersions = []string{"0.0.41", "0.0.62", "0.0.83"}

// browserServer is the command line of a playwright server with a real Chromium that does
// not leave this machine, or ends the test when a part is missing.
func browserServer(t *testing.T, version string) []string {
	t.Helper()
	node := testparts.Need(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		testparts.Missing(t, "needs chromium on PATH: apt-get install chromium fonts-noto-cjk")
	}
	name := "playwright-mcp-" + version
	if _, err := os.Stat(filepath.Join(node.Dir(), "node_modules", name)); err != nil {
		testparts.Missing(t, "needs the npm package "+name+": run scripts/install-test-parts")
	}
	config := filepath.Join(t.TempDir(), "browser.json")
	const offline = `{"browser":{"launchOptions":{"args":["--disable-background-networking","--disable-component-update",` +
		`"--disable-sync","--disable-default-apps","--no-first-run","--no-pings","--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE ` +
		`127.0.0.1 , EXCLUDE localhost"]}}}`
	if err := os.WriteFile(config, []byte(offline), 0o600); err != nil {
		t.Fatal(err)
	}
	return node.Script(name+"/cli.js", "--executable-path", chromium, "--headless", "--isolated", "--no-sandbox", "--config", config,
		"--output-dir", t.TempDir())
}

// browserConfig writes a configuration with that server.
func browserConfig(t *testing.T, version, more string) string {
	t.Helper()
	line := browserServer(t, version)
	args, err := json.Marshal(line[1:])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	// Nothing is slept away that steps wait for themselves; versions that cannot do that ignore it.
	text := fmt.Sprintf("mcpServers:\n  web: {command: %s, args: %s, env: {PLAYWRIGHT_MCP_TIMEOUT_SETTLE: \"0\", "+
		"PLAYWRIGHT_MCP_SNAPSHOT_MODE: none}}\n%s", line[0], args, more)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// site serves the pages of the tests on loopback.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("testdata", "pages"))))
	t.Cleanup(s.Close)
	return s
}

// toolfit runs a command in this process.
func toolfit(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var text bytes.Buffer
	code = cli.Run(t.Context(), args, &cli.Env{In: strings.NewReader(""), Out: &text, Err: &text, Lookup: os.LookupEnv, Version: "test"})
	return code, text.String()
}

// Older servers sleep a second after every action, so the cases are shared out among workers,
// and the versions run side by side.
func TestStepsInRealBrowsersOfEveryVersion(t *testing.T) {
	pages := site(t)
	for _, version := range stepVersions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			config := browserConfig(t, version, "")
			dir := t.TempDir()
			mistakes := writeStepCases(t, dir, 3)
			path := filepath.Join(t.TempDir(), "report.json")
			code, out := toolfit(t, "test", dir, "--config", config, "--base-url", pages.URL, "--workers", "3", "--timeout", "30s", "--report",
				"json="+path)
			if code != 1 {
				t.Errorf("exit %d, want 1:\n%s", code, out)
			}
			var report struct{ Results []stepsrun.Result }
			data, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(data, &report)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			found := stepsByLine(report.Results)
			for _, m := range mistakes {
				t.Run(m.name, func(t *testing.T) { m.check(t, found) })
				delete(found, m.at)
			}
			for _, list := range found { // everything else must have passed
				for _, s := range list {
					if s.Status != stepsrun.Passed && s.Status != stepsrun.Healed {
						t.Errorf("no mistake is planted here: %s", toldStep(&s))
					}
				}
			}
		})
	}
}

// mistake is a planted one, in the step at one line of a file.
type mistake struct {
	name, at, code string
	last           bool // of its file: it is not optional, and fails the case
}

// check looks whether the mistake was reported, in its own step and under its own code.
func (m *mistake) check(t *testing.T, found map[string][]stepsrun.StepResult) {
	t.Helper()
	list := found[m.at]
	if len(list) != 1 {
		t.Fatalf("%d steps stand at %s", len(list), m.at)
	}
	s := &list[0]
	want := stepsrun.Noted
	if m.last {
		want = stepsrun.Failed
	}
	if s.Error == nil || string(s.Error.Details.Code) != m.code || s.Status != want {
		t.Errorf("want %s %s, got %s", want, m.code, toldStep(s))
	}
}

func stepsByLine(results []stepsrun.Result) map[string][]stepsrun.StepResult {
	found := map[string][]stepsrun.StepResult{}
	for _, r := range results {
		for _, c := range r.Cases {
			for _, s := range c.Steps {
				at := fmt.Sprintf("%s:%d", s.File, s.Line)
				found[at] = append(found[at], s)
			}
		}
	}
	return found
}

// writeStepCases writes the cases into so many files, each one case, so that a browser starts
// once for many. The planted mistakes are optional but for the last of each file, so that the
// next steps are tried.
func writeStepCases(t *testing.T, dir string, files int) (mistakes []mistake) {
	t.Helper()
	for n := range files {
		path := filepath.Join(dir, fmt.Sprintf("part%d.yaml", n))
		var b strings.Builder
		for i := n; i < len(stepCases); i += files {
			c := stepCases[i]
			fmt.Fprintf(&b, "# %s%s%s\n", c.name, c.good, c.planted)
			last := i+files >= len(stepCases)
			mistakes = append(mistakes, mistake{c.name, fmt.Sprintf("%s:%d", path, strings.Count(b.String(), "\n")), c.code, last})
			if !last {
				text := b.String()
				at := strings.LastIndex(strings.TrimRight(text, "\n"), "\n- ") + len("\n- ")
				step := strings.TrimSpace(text[at:])
				b.Reset()
				b.WriteString(text[:at])
				b.WriteString(optional(step))
			}
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := steps.Load(path, os.ReadFile); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
	}
	return mistakes
}

// optional is a step whose failure does not end its case.
func optional(step string) string {
	if rest, ok := strings.CutPrefix(step, "{"); ok {
		return "{optional: true, " + rest + "\n"
	}
	text, _ := json.Marshal(step) // a string
	return fmt.Sprintf("{optional: true, step: %s}\n", text)
}

// toldStep is what happened in a step that did not go as it should.
func toldStep(s *stepsrun.StepResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s %s", filepath.Base(s.File), s.Line, s.Status, s.Text)
	if s.Error != nil {
		fmt.Fprintf(&b, ": %s %s", s.Error.Details.Code, s.Error.Message)
	}
	for _, c := range s.Calls {
		fmt.Fprintf(&b, "\n    %s %s %s", c.Tool, c.After, c.Error)
	}
	return b.String()
}
