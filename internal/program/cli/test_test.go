package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/program/cli/browser"
)

// in runs a command in a folder of its own.
func in(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	env := &Env{In: strings.NewReader(""), Out: &out, Err: &out, Lookup: func(string) (string, bool) { return "", false }}
	return Run(t.Context(), args, env), out.String()
}

func TestWithoutNodeAndBrowserItSaysWhatToInstall(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	code, out := in(t, "test", "init")
	if code != 0 || !strings.Contains(out, "missing  Node was not found (version 20 or newer is required)") ||
		!strings.Contains(out, "install what is missing, then run: toolfit test") {
		t.Errorf("exit %d: %s", code, out)
	}
	if elsewhereHas() {
		t.Skip("a browser is installed outside of PATH")
	}
	code, out = in(t, "test")
	if code != 1 || !strings.Contains(out, "browser tests cannot run: Node was not found (version 20 or newer is required); Chromium or Chrome was not found") || !strings.Contains(out, "→ install Node: ") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestRecordingsAreNamedWhereTheyAreKept(t *testing.T) {
	b := &browserConfig{traces: filepath.Join("/tmp dir", "toolfit-test-1", "trace")}
	for said, want := range map[string]string{
		"- [Trace](../../tmp/toolfit-test-1/trace/traces/a.trace)\n- [Resources](../x/toolfit-test-1/trace)": "- [Trace](out/traces/a.trace)\n- [Resources](out)",
		"saved to /tmp dir/toolfit-test-1/trace/traces.":                                                     "saved to out/traces.",
		"Tracing stopped": "Tracing stopped",
	} {
		if got := b.placed("out")(filepath.FromSlash(said)); got != filepath.FromSlash(want) {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

func elsewhereHas() bool {
	p := browser.Find(context.Background(), os.LookupEnv)
	return p.Chromium != ""
}

func TestAnOldNodeIsRefusedWithItsVersion(t *testing.T) {
	bin := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("PATH", bin)
	script := "#!/bin/sh\necho v18.19.0\n"
	if err := os.WriteFile(filepath.Join(bin, "node"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, out := in(t, "test", "init"); !strings.Contains(out, "Node v18.19.0 at ") ||
		!strings.Contains(out, "is too old: version 20 or newer is required") {
		t.Error(out)
	}
}

func TestTheFirstTestCanBeRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := writeFirstTest(dir); err != nil {
		t.Fatal(err)
	}
	s, err := steps.Load(filepath.Join(dir, "first.yaml"), os.ReadFile)
	if err != nil || len(s.Cases) != 3 || s.Serve != "site" {
		t.Errorf("%+v %v", s, err)
	}
}

func TestFoldersAreSearchedForTests(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yml", "sub/c.md", "sub/README.md", "_part.yaml", ".hidden/x.yaml", "node_modules/x.yaml", "data.json", "空.YAML"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := testFiles([]string{dir, filepath.Join(dir, "b.yaml")})
	var names []string
	for _, path := range found {
		name, _ := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
	}
	if got := strings.Join(names, " "); err != nil || got != "a.yml b.yaml sub/c.md 空.YAML" {
		t.Errorf("%s %v", got, err)
	}
}

func TestABrowserURLIsAServerOrABrowser(t *testing.T) {
	for text, server := range map[string]bool{
		"http://localhost:8931/mcp": true, "http://localhost:8931/sse/": true, "https://h/x/mcp": true,
		"http://127.0.0.1:9222": false, "ws://127.0.0.1:9222/devtools/browser/1": false, "http://h/mcps": false,
	} {
		if _, got, err := parseBrowserURL(text); err != nil || got != server {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"localhost:9222", "ftp://h/mcp", "http://", "::"} {
		if _, _, err := parseBrowserURL(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestInitAsJSONSaysWhatIsMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", t.TempDir())
	if _, out := in(t, "test", "init", "--json"); !strings.Contains(out, `"what": "Node was not found (version 20 or newer is required)"`) ||
		!strings.Contains(out, `"install": "install Node: `) {
		t.Error(out)
	}
}
