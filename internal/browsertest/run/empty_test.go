package run_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// A variable may be empty, or hold what is no pattern: what then compares nothing must not pass.
func TestAnExpectationThatComparesNothingFails(t *testing.T) {
	for _, expect := range []string{
		`{text: "${none}"}`, `{no-text: "${none}"}`, `{hidden: "${none}"}`, `{visible: "${none}"}`, `{count: 0, target: "${none}"}`,
		`{url: {contains: "${none}"}}`, `{title: {contains: "${none}"}}`,
		`{title: {matches: "${none}"}}`, `{text: {contains: "${none}"}, target: 登录}`, `{no-text: {matches: "${odd}"}}`,
		`{no-text: {matches: "${odd}"}, target: 登录}`, `{no-text: "${none}", target: 登录}`,
	} {
		b := &fakeBrowser{tree: page(loginPage), url: "http://h/login"}
		c, _ := one(b, run.Options{}, "vars: {none: \"\", odd: \"(\"}\nsteps:\n  - {expect: "+expect+", timeout: 1s}\n")
		if c.Error == nil || c.Error.Details.Code != snapshot.StepInvalid || strings.Contains(c.Error.Message, "%!") {
			t.Errorf("%s: %s %+v", expect, c.Status, c.Error)
		}
	}
	b := &fakeBrowser{tree: page("- textbox \"Name\" [ref=e1]\n")}
	if c, _ := one(b, run.Options{}, "vars: {none: \"\"}\nsteps: [{expect: {value: \"${none}\", target: Name}}]\n"); c.Error != nil {
		t.Errorf("an empty field is empty: %+v", c.Error)
	}
}

func TestTheTextOfAPageIsComparedAsIsSaid(t *testing.T) {
	for expect, ok := range map[string]bool{
		`{text: {matches: "Error [0-9]+"}}`: true, `{text: {matches: "Error [a-z]+"}}`: false,
		`{no-text: {matches: "Error [0-9]+"}}`: false, `{no-text: {matches: "Error [a-z]+"}}`: true,
		`{text: {equals: "Error 42: disk full"}}`: true, `{text: {equals: "Error 42"}}`: false, `{no-text: {equals: "Error 42"}}`: true,
		`{no-text: {equals: "Error 42: disk full"}}`: false,
		`{text: {contains: "42: disk"}}`:             true, `{no-text: {contains: "42: disk"}}`: false, `{text: "call us now"}`: true,
		`{text: {matches: "call us"}}`: true, `{text: {equals: "call us now"}}`: true,
	} {
		b := &fakeBrowser{tree: page("- heading \"Oops\" [ref=e1]\n- paragraph [ref=e2]: \"Error 42: disk full\"\n- paragraph " +
			"[ref=e3]:\n  - text: call\n  - link \"us\" [ref=e4]\n  - text: now\n")}
		c, _ := one(b, run.Options{}, "- {expect: "+expect+", timeout: 1s}\n")
		if (c.Status == run.Passed) != ok || !ok && c.Error.Details.Code != snapshot.AssertionFailed {
			t.Errorf("%s: %s %+v", expect, c.Status, c.Error)
		}
	}
}
