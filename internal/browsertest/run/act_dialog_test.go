package run_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// choosing is a page whose button opens the file chooser, which stays open until it is given
// a file that exists, or none.
func choosing() *fakeBrowser {
	const modal = "### Modal state\n- [File chooser]: can be handled by browser_file_upload\n"
	b := &fakeBrowser{tree: page(loginPage)}
	open := false
	b.on = map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) { open = true; return modal, false },
		"browser_file_upload": func(args map[string]any) (string, bool) {
			if paths, given := args["paths"].([]any); given && strings.Contains(paths[0].(string), "none") {
				return "### Error\nError: ENOENT: no such file or directory, stat 'none.txt'\n", true // the dialog is not named
			}
			open = false
			return "### Page\n", false
		},
		"browser_press_key": func(map[string]any) (string, bool) {
			if open {
				return "### Error\nError: Tool \"browser_press_key\" does not handle the modal state.\n" + modal, true
			}
			return "", false
		},
	}
	return b
}

func TestAFileChooserDoesNotStayOpen(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		status run.Status
		first  snapshot.Code // of the first step that failed
	}{
		"a file that is not there":      {"- {upload: {target: 登录, files: [none.txt]}, optional: true}\n- 按回车\n", run.Passed, snapshot.BadValue},
		"one that no step answers":      {"teardown: [按回车]\nsteps: [点击登录, 点击登录]\n", run.Failed, snapshot.DialogOpen},
		"a step leaves it":              {"- 点击登录\n- dismiss the dialog\n- 按回车\n", run.Passed, ""},
		"the file's policy leaves it":   {"dialogs: dismiss\nsteps: [点击登录, 按回车]\n", run.Passed, ""},
		"no policy can choose the file": {"dialogs: accept\nsteps: [点击登录, 按回车]\n", run.Failed, snapshot.DialogOpen},
	} {
		got, _ := one(choosing(), run.Options{}, c.text)
		at := slices.IndexFunc(got.Steps, func(s run.StepResult) bool { return s.Error != nil })
		if got.Status != c.status || (at >= 0) != (c.first != "") || at >= 0 && got.Steps[at].Error.Details.Code != c.first {
			t.Errorf("%s: %s %+v", name, got.Status, got.Steps)
		}
		if last := got.Steps[len(got.Steps)-1]; strings.Contains(c.text, "teardown") && last.Status != run.Passed {
			t.Errorf("%s: the teardown: %+v", name, last.Error)
		}
	}
}

func TestAddressesThatCannotBeOpenedSayWhatToWrite(t *testing.T) {
	for value, want := range map[string]string{"/a": "add base", "file:///etc/passwd": "serve: FOLDER", "file://h/x": "serve: FOLDER",
		"http://": "no address"} {
		b := &fakeBrowser{tree: page(loginPage)}
		c, _ := one(b, run.Options{}, "- navigate: "+value+"\n")
		if c.Error == nil || c.Error.Details.Code != snapshot.BadValue || !strings.Contains(c.Error.Message, want) || len(b.acted()) != 0 {
			t.Errorf("%s: %+v %v", value, c.Error, b.acted())
		}
	}
}
