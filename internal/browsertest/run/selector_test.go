package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// refsAlone is a server that takes no selectors; evaluate answers what its page has.
func refsAlone(state func(b *fakeBrowser) string) *fakeBrowser {
	b := &fakeBrowser{tree: page(loginPage)}
	b.tools, _ = b.Tools(context.Background())
	for i := range b.tools {
		b.tools[i].InputSchema = json.RawMessage(`{"type":"object","properties":{"ref":{"type":"string"}}}`)
	}
	b.on = map[string]func(map[string]any) (string, bool){"browser_evaluate": func(args map[string]any) (string, bool) {
		if args["target"] != nil {
			return "### Result\ntrue", false
		}
		return "### Result\n" + state(b), false
	}}
	return b
}

func TestASelectorIsWaitedForWhereTheServerTakesRefsAlone(t *testing.T) {
	for name, early := range map[string]string{"it is not there": `{"count":0}`,
		"it is hidden": `{"count":1,"visible":0,"tag":"button","names":["登录"]}`} {
		b := refsAlone(func(b *fakeBrowser) string {
			if b.now.Sub(time.Unix(0, 0)) < 3*time.Second {
				return early
			}
			return `{"count":1,"visible":1,"tag":"button","names":["登录"]}`
		})
		if c, _ := one(b, run.Options{}, "- click: \"#late\"\n"); c.Status != run.Passed ||
			!strings.Contains(strings.Join(b.acted(), " "), `"e19"`) {
			t.Errorf("%s at first: %+v", name, c.Error)
		}
	}
	b := refsAlone(func(*fakeBrowser) string { return `{"count":1,"visible":0,"tag":"button"}` })
	c, _ := one(b, run.Options{}, "- {click: \"#hidden\", timeout: 1s}\n")
	if c.Error == nil || c.Error.Details.Code != snapshot.NotInteractable || c.Error.Message != "the element is not visible" {
		t.Errorf("a hidden one: %+v", c.Error)
	}
}

func TestTheElementsOfASelectorOfSeveralAreNamed(t *testing.T) {
	b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){
		"browser_click": func(map[string]any) (string, bool) {
			return "### Error\nError: strict mode violation: locator('.a') resolved to 2 elements:\n    1) <b>x</b> aka getByText('x')\n    " +
				"2) <b>y</b> aka getByText('y')\n", true
		}}}
	c, res := one(b, run.Options{}, "- click: .a\n")
	if got := c.Steps[0].Candidates; len(got) != 2 || got[1].Path != "getByText('y')" || c.Error.Details.Code != snapshot.Ambiguous ||
		res.Metrics.Ambiguous != 1 {
		t.Errorf("%+v %+v", got, c.Error)
	}
}

// Each of them is there: what says that it is not must not pass, whoever resolves the selector.
func TestAnExpectationOnASelectorCanFail(t *testing.T) {
	const there = `{"count":1,"visible":1,"tag":"button","text":"登录","value":"","names":["登录"]}`
	for _, c := range []struct {
		expect string
		target string // what the server says of a selector that it is given
		refs   bool   // the server takes refs alone
		status run.Status
		code   snapshot.Code
	}{
		{`{hidden: "locator('#a')"}`, there, false, run.Failed, snapshot.AssertionFailed},
		{`{visible: "locator('#a')"}`, there, false, run.Passed, ""},
		{`{text: 登录, target: "ul >> #a"}`, there, false, run.Passed, ""},
		{`{count: 0, target: "locator('#a')"}`, there, false, run.Failed, snapshot.AssertionFailed},
		{`{hidden: "locator('#a')"}`, "several", false, run.Failed, snapshot.AssertionFailed},
		{`{visible: "locator('#a')"}`, "several", false, run.Failed, snapshot.AssertionFailed},
		{`{count: 3, target: "locator('#a')"}`, "several", false, run.Passed, ""},
		{`{hidden: "locator('#a')"}`, "none", false, run.Passed, ""},
		{`{visible: "locator('#a')"}`, "none", false, run.Failed, snapshot.AssertionFailed},
		{`{hidden: "locator('#a')"}`, "", true, run.Failed, snapshot.BadParameters},
		{`{count: 0, target: "ul >> li"}`, "", true, run.Failed, snapshot.BadParameters},
		{`{hidden: {css: "#a", within: 对话框}}`, there, false, run.Failed, snapshot.StepInvalid},
		{`{hidden: "getByRole('button', { name: '登录' })"}`, there, true, run.Failed, snapshot.AssertionFailed},
		{`{visible: "button:has-text('登录')"}`, "", true, run.Passed, ""},
	} {
		b := &fakeBrowser{tree: page(loginPage)}
		if c.refs {
			b = refsAlone(func(*fakeBrowser) string { return there })
		}
		b.on = map[string]func(map[string]any) (string, bool){"browser_evaluate": func(args map[string]any) (string, bool) {
			switch {
			case args["target"] == nil:
				return "### Error\nError: SyntaxError: 'x' is not a valid selector.", true
			case c.target == "several":
				return "### Error\nError: strict mode violation: locator('#a') resolved to 3 elements:\n 1) <b/>", true
			case c.target == "none":
				return "### Error\nError: \"#a\" does not match any elements.", true
			}
			return "### Result\n" + c.target, false
		}}
		got, _ := one(b, run.Options{}, "- {expect: "+c.expect+", timeout: 1s}\n")
		if got.Status != c.status || got.Error != nil && got.Error.Details.Code != c.code {
			t.Errorf("%s of %s: %s %+v", c.expect, c.target, got.Status, got.Error)
		}
	}
}

func TestStepsOnASelectorWaitForItAndTakeNoneForAnAnswer(t *testing.T) {
	for text, code := range map[string]snapshot.Code{
		"- {check: \"#a\", timeout: 5s}\n": "", "- {save: {target: \"#a\", as: x}, timeout: 5s}\n": "",
		"- {check: \"#a\", timeout: 1s}\n": snapshot.NotFound, "- {save: {target: \"#a\", as: x}, timeout: 1s}\n": snapshot.NotFound,
		"- {click: {css: \"#a\", within: 对话框}}\n": snapshot.StepInvalid, "- {click: {css: \"#a\", nth: 2}}\n": snapshot.StepInvalid,
	} {
		b := &fakeBrowser{tree: page(loginPage)}
		b.on = map[string]func(map[string]any) (string, bool){"browser_evaluate": func(map[string]any) (string, bool) {
			if b.now.Sub(time.Unix(0, 0)) < 3*time.Second {
				return "### Result\n{\"count\":0}", false
			}
			return "### Result\n{\"count\":1,\"visible\":1,\"value\":\"v\"}", false
		}}
		got, _ := one(b, run.Options{}, text)
		if (got.Error == nil) != (code == "") || got.Error != nil && got.Error.Details.Code != code {
			t.Errorf("%s: %+v", text, got.Error)
		}
	}
}
