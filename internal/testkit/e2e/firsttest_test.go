package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// testFolder is a folder in which toolfit test finds a playwright server.
func testFolder(t *testing.T) string {
	t.Helper()
	node := testparts.Need(t)
	browserServer(t, "0.0.83") // it needs the same parts
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", "@playwright"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(node.Dir(), "node_modules", "playwright-mcp-0.0.83"),
		filepath.Join(dir, "node_modules", "@playwright", "mcp")); err != nil {
		t.Skip("no symbolic links here")
	}
	return dir
}

func TestTheFirstTestPassesWithNothingButNodeAndAChromium(t *testing.T) {
	t.Chdir(testFolder(t))
	t.Setenv("PATH", filepath.Dir(testparts.Need(t).Program())+string(os.PathListSeparator)+os.Getenv("PATH"))
	if code, out := toolfit(t, "test", "init"); code != 0 || !strings.Contains(out, "now run: toolfit test") {
		t.Fatalf("exit %d: %s", code, out)
	}
	code, out := toolfit(t, "test", "--trace", "--report", "junit=out/j.xml,html=out/r.html")
	if code != 0 || !strings.Contains(out, "3 of 3 passed") {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, path := range []string{"out/j.xml", "out/r.html", "trace"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// An agent finds an element by words and clicks it by its ref, in the browser where it ran steps.
func TestAnAgentUsesStepsAndItsOwnCallsInOneBrowser(t *testing.T) {
	pages := site(t)
	cfg, err := config.Load(browserConfig(t, "0.0.83", "profiles:\n  default: {tests: true}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	api := a.API(func(*http.Request) (access.Principal, error) { return access.Local(), nil })
	call := func(tool string, args map[string]any) map[string]any {
		t.Helper()
		body, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return callOwn(t, api, tool, string(body))
	}
	if got := call("run_steps", map[string]any{"base_url": pages.URL, "steps": "open /table.html\n在搜索框输入 \"SO\""}); got["passed"] != true {
		t.Fatalf("%v", got)
	}
	found := call("find_element", map[string]any{"description": "SO-1003 行的删除按钮", "action": "click"})
	if found["text"] != "删除" || found["ref"] == nil {
		t.Fatalf("%v", found)
	}
	call("web__browser_click", map[string]any{"element": "delete", "target": found["ref"]})
	if got := call("run_steps", map[string]any{"steps": "expect \"删除 SO-1003\""}); got["passed"] != true {
		t.Errorf("%v", got)
	}
}

// callOwn calls a tool over REST and returns what it says by structure, if it does.
func callOwn(t *testing.T, api http.Handler, tool, args string) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/tools/"+tool+"/call", strings.NewReader(args)))
	var answer struct {
		Result struct {
			StructuredContent map[string]any
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: HTTP %d: %s", tool, w.Code, w.Body)
	}
	return answer.Result.StructuredContent
}
