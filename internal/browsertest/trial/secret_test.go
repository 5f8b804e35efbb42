package trial_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/trial"
)

// What one file takes from the environment is on the pages of another, in the errors of the
// server and, where all results are kept, in these.
func TestNoSecretIsInTheStore(t *testing.T) {
	f := &fakeBrowsers{fail: func(tool string) string {
		if tool == "browser_click" {
			return "Error: hunter2 is no element"
		}
		return ""
	}}
	a := openApp(t, f.start(t), "resultStore: all\n")
	used := parsed(t, "steps:\n  - open http://127.0.0.1:1/\n  - type \"${env:PW}\" into User name\n  - {click: More, optional: "+
		"true}\n  - {expect: {text: never}, timeout: 1s}\n")
	seen := parsed(t, "- open http://127.0.0.1:1/?hunter2\n- {expect: {url: /never}, timeout: 1s}\n")
	seen.File = "seen.yaml"
	o := order(seen, used)
	o.Options.Vars = map[string]string{"given": "also hunter2"}
	o.Options.Env = func(string) (string, bool) { return "hunter2", true }
	k, err := a.RunTests(t.Context(), o)
	if err != nil || k.Outcome != trial.Failed || k.Totals.Failed != 2 {
		t.Fatalf("%+v %v", k, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(a.Config().Path), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v %v", files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(data), "hunter2"); at >= 0 {
			t.Errorf("%s holds %q", filepath.Base(path), data[max(0, at-100):min(len(data), at+50)])
		}
	}
}

func TestAnEmptyVariableOfTheEnvironmentIsNoSecret(t *testing.T) {
	o := order(parsed(t, "- open http://127.0.0.1:1/${env:NONE}${env:SPACE}${env:PW}${env:UNSET}\n"))
	o.Options.Env = func(name string) (string, bool) {
		value, set := map[string]string{"NONE": "", "SPACE": " \n", "PW": "hunter2"}[name]
		return value, set
	}
	if got := o.Secrets(); len(got) != 1 || got[0] != "hunter2" {
		t.Errorf("%q", got)
	}
}
