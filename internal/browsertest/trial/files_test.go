package trial_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestAServedFolderGivesNothingFromOutside(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "site"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret": "s3cret", "site/index.html": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(dir, "site", "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	s := &steps.Suite{File: filepath.Join(dir, "t.yaml"), Serve: "site"}
	stop, err := trial.Serve([]*steps.Suite{s})
	if err != nil || !strings.HasPrefix(s.Base, "http://127.0.0.1:") {
		t.Fatalf("%q %v", s.Base, err)
	}
	for path, want := range map[string]bool{"/": true, "/link": false, "/../secret": false} {
		resp, err := http.Get(s.Base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body) // what there is decides
		resp.Body.Close()
		if got := string(body) == "hello"; got != want || strings.Contains(string(body), "s3cret") {
			t.Errorf("%s: %s", path, body)
		}
	}
	stop()
	if _, err := http.Get(s.Base); err == nil {
		t.Error("it is still served")
	}
	http.DefaultClient.CloseIdleConnections()
	if _, err := trial.Serve([]*steps.Suite{{File: "t.yaml", Serve: "nowhere"}}); err == nil {
		t.Error("a folder that is not there is served")
	}
}

func TestLocatorsAreWrittenOnlyWhenAskedAndHoldNoRef(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locators.json")
	if l, err := trial.OpenLocators(path, false); l != nil || err != nil || l.Save() != nil {
		t.Errorf("%v %v", l, err)
	}
	l, err := trial.OpenLocators(path, true)
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(t, (&fakeBrowsers{}).start(t))
	o := order(parsed(t, "- open http://127.0.0.1:1/\n- click More\n- {click: Save, optional: true, timeout: 1s}\n"))
	o.Options.Memory = l
	if k, err := a.RunTests(t.Context(), o); err != nil || k.Outcome != trial.Passed {
		t.Fatalf("%+v %v", k, err)
	}
	if err := l.Save(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), `"name": "More"`) || strings.Contains(string(data), "e1") ||
		strings.Contains(string(data), "Save") {
		t.Errorf("%s %v", data, err)
	}
	read, err := trial.OpenLocators(path, false)
	if err != nil {
		t.Fatal(err)
	}
	read.Put("x", run.Remembered{Element: find.Descriptor{Role: "button"}})
	if _, known := read.Get("x"); known {
		t.Error("it learned without being asked to")
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trial.OpenLocators(path, false); err == nil {
		t.Error("a broken file is taken")
	}
}

func TestARunThatIsStartedGoesOnByItself(t *testing.T) {
	a := newApp(t, (&fakeBrowsers{}).start(t))
	api := a.API(func(*http.Request) (access.Principal, error) { return access.Owner(), nil })
	ask := func(method, path, body string) (int, map[string]any) {
		w := &answer{header: http.Header{}, status: 200}
		req, err := http.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		api.ServeHTTP(w, req)
		var out map[string]any
		json.Unmarshal([]byte(w.body.String()), &out) // what is missing shows
		return w.status, out
	}
	status, started := ask("POST", "/runs", `{"steps":"open http://127.0.0.1:1/\nclick More -> see \"count 1\""}`)
	if status != http.StatusCreated {
		t.Fatalf("HTTP %d %v", status, started)
	}
	id := started["id"].(string)
	var shown map[string]any
	for shown["outcome"] != trial.Passed && t.Context().Err() == nil {
		if _, shown = ask("GET", "/runs/"+id, ""); shown["outcome"] == trial.Failed {
			t.Fatalf("%v", shown)
		}
	}
	if status, again := ask("POST", "/runs", `{"again":"`+id+`"}`); status != http.StatusCreated || again["id"] == id {
		t.Errorf("again: HTTP %d %v", status, again)
	}
}

// answer is a ResponseWriter that keeps what is written.
type answer struct {
	header http.Header
	status int
	body   strings.Builder
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

func TestSentencesKeepTheLinesThatTheyCameOn(t *testing.T) {
	s, err := trial.ParseText("\nopen /\n\n点击 \"登录\"\nclick \"a\\b\"\n")
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, step := range s.Cases[0].Steps {
		lines = append(lines, step.Line)
	}
	if !slices.Equal(lines, []int{2, 4, 5}) {
		t.Errorf("on the lines %v", lines)
	}
}

func FuzzWritten(f *testing.F) {
	for _, text := range []string{"click Save", "- 点击登录\n- expect: {text: 好}", "# 计划\n- 打开 /", "name: x\nsteps: [click A]", "{",
		"serve: /etc\nsteps: [open /]", "a: b", "点击 \"a:b\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := trial.ParseText(text)
		if err == nil && (s == nil || s.Serve != "" || len(s.Cases) == 0) {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
