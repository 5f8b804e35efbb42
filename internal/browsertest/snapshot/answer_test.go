package snapshot_test

import (
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// result is a tools/call result with one text.
func result(text string, isError bool) []byte {
	b, _ := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": isError})
	return b
}

func TestThePageIsReadFromTheAnswersOfEveryVersion(t *testing.T) {
	const tree = "```yaml\n- button \"A\" [ref=e1]\n```\n"
	for rule, text := range map[string]string{
		"old headings": "### Page state\n- Page URL: http://h/a\n- Page Title: T\n- Page Snapshot:\n" + tree,
		"new headings": "### Page\n- Page URL: http://h/a\n- Page Title: T\n### Snapshot\n" + tree + "### Events\n- x\n",
		"line ends":    "### Page\r\n- Page URL: http://h/a\r\n- Page Title: T\r\n### Snapshot\r\n```yaml\r\n- button \"A\" [ref=e1]\r\n```\r\n",
	} {
		a := snapshot.ReadAnswer(result(text, false))
		if a.URL != "http://h/a" || a.Title != "T" || a.Page == nil || byRef(a.Page, "e1") == nil || a.Err != nil {
			t.Errorf("%s: %+v", rule, a)
		}
	}
}

func TestAnAnswerWithoutATreeHasNone(t *testing.T) {
	for rule, text := range map[string]string{
		"only a link": "### Snapshot\n- [Snapshot](out/page.yml)\n", "an empty block": "### Snapshot\n```yaml\n\n```\n", "nothing": "",
	} {
		if a := snapshot.ReadAnswer(result(text, false)); a.Page != nil {
			t.Errorf("%s: a page", rule)
		}
	}
	for _, raw := range []string{``, `null`, `[]`, `{"content":"x"}`, `{"content":[1,{"type":"text"},{"type":"image","data":"!"}]}`} {
		if a := snapshot.ReadAnswer([]byte(raw)); a.Page != nil || a.Err != nil || a.Images != nil {
			t.Errorf("%s: %+v", raw, a)
		}
	}
}

func TestTheCurrentTabSaysWhereWeAre(t *testing.T) {
	// One version repeats the address of the tab before in its page section.
	a := snapshot.ReadAnswer(result("### Open tabs\n- 0: [D](http://h/d)\n- 1: (current) [登录 [x]](http://h/l(1))\n### Page\n- Page "+
		"URL: http://h/d\n- Page Title: D\n", false))
	if len(a.Tabs) != 2 || a.URL != "http://h/l(1)" || a.Title != "登录 [x]" {
		t.Errorf("%+v", a)
	}
	if a = snapshot.ReadAnswer(result("### Open tabs\n- 0: (current) [D] (http://h/d)\n", false)); len(a.Tabs) != 1 || a.URL != "http://h/d" {
		t.Errorf("old form: %+v", a)
	}
	if a = snapshot.ReadAnswer(result("### Result\n- 0: [D](http://h/d)\n- 1: (current) [E](http://h/e)\n",
		false)); len(a.Tabs) != 2 || a.URL != "http://h/e" {
		t.Errorf("under Result: %+v", a)
	}
}

func TestOpenDialogsAreRead(t *testing.T) {
	a := snapshot.ReadAnswer(result("### Modal state\n- [\"confirm\" dialog with message \"Sure \"now\"?\"]: can be handled by "+
		"browser_handle_dialog\n", false))
	if a.Modal == nil || a.Modal.Kind != "confirm" || a.Modal.Message != `Sure "now"?` {
		t.Errorf("%+v", a.Modal)
	}
	if a = snapshot.ReadAnswer(result("### Modal state\n- [File chooser]: can be handled by browser_file_upload\n",
		false)); a.Modal == nil || a.Modal.Kind != "file" {
		t.Errorf("%+v", a.Modal)
	}
	if a = snapshot.ReadAnswer(result("### Modal state\n- There is no modal state present\n", false)); a.Modal != nil {
		t.Errorf("%+v", a.Modal)
	}
}

func TestErrorTextsBecomeCodes(t *testing.T) {
	for _, test := range []struct {
		text string
		code snapshot.Code
	}{
		{"Error: Ref e999 not found in the current page snapshot. Try capturing new snapshot.", snapshot.StaleRef},
		{"### Error\nError: \"#x\" does not match any elements.", snapshot.NotFound},
		{"### Error\nError: browserBackend.callTool: Unknown key: \"Foo\"", snapshot.BadValue},
		{"### Result\n[\n {\"code\": \"invalid_type\", \"path\": [\"ref\"]}\n]", snapshot.BadParameters},
		{"### Error\nInvalid arguments for tool \"browser_click\":\n✖ Invalid input\n  → at target", snapshot.BadParameters},
		{"### Error\nError: locator.click: Unexpected token \"\" while parsing css selector \"##\"", snapshot.BadParameters},
		{"### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n\x1b[2m  - <div>Session not found</div> " +
			"intercepts pointer events\x1b[22m", snapshot.NotInteractable},
		{"### Error\nTimeoutError: locator.selectOption: Timeout 5000ms exceeded.\nCall log:\n - did not find some options",
			snapshot.OptionNotFound},
		{"### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n - <p>Tool x not found</p>", snapshot.TimedOut},
		{"### Error\nError: Tool \"browser_click\" does not handle the modal state.\n### Modal state\n- [\"alert\" dialog with message " +
			"\"hi\"]: x", snapshot.DialogOpen},
		{"Error: The tool \"browser_handle_dialog\" can only be used when there is related modal state present.\n### Modal state\n- " +
			"There is no modal state present", snapshot.NoDialog},
		{"### Error\nError: page.goto: net::ERR_UNSAFE_PORT at http://127.0.0.1:1/x\nCall log:\n", snapshot.NavigationFailed},
		{"### Error\nError: Element is not a <select> element", snapshot.NotInteractable},
		{"### Result\nError: Tool \"x\" not found", snapshot.ToolMissing},
		{"### Error\nError: page.evaluate: Execution context was destroyed", snapshot.PageChanged},
		{"### Error\nError: Tab 7 not found", snapshot.BadValue},
		{"### Error\nError: page._evaluateFunction: SyntaxError: Failed to execute 'querySelectorAll' on 'Document': '#a[' is not a " +
			"valid selector.", snapshot.BadParameters},
		{"### Error\nError: page._evaluateFunction: SyntaxError: Failed to execute 'evaluate' on 'Document': The string '//[' is not a " +
			"valid XPath expression.", snapshot.BadParameters},
		{"Error: Either time, text or textGone must be provided", snapshot.BadParameters},
		{"### Error\nError: locator.fill: Error: Malformed value", snapshot.BadValue},
		{"### Error\nError: locator.fill: Error: Cannot type text into input[type=number]", snapshot.BadValue},
		{"### Error\nError: File access denied: /etc/x is outside allowed roots. Allowed roots: /a", snapshot.BadValue},
		{"### Error\nError: ENOENT: no such file or directory, stat '/a/none.txt'", snapshot.BadValue},
		{"### Error\nError: locator.fill: Error: Input of type \"checkbox\" cannot be filled", snapshot.NotInteractable},
		{"### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n - element is not enabled", snapshot.NotInteractable},
		{"### Error\nTimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n - element is not visible", snapshot.NotInteractable},
		{"### Error\nError: page.goto: Navigation to \"http://h/\" is interrupted by another navigation to " +
			"\"chrome-error://chromewebdata/\"", snapshot.NavigationFailed},
		{"### Error\nError: Access to \"file:\" protocol is blocked. Attempted URL: file:///x", snapshot.NavigationFailed},
		{"### Result\nTimeoutError: page._snapshotForAI: Timeout 5000ms exceeded.", snapshot.TimedOut},
		{"### Error\nError: Text not found", snapshot.AssertionFailed},
		{"### Error\nError: Element with role \"button\" and accessible name \"x\" not found", snapshot.AssertionFailed},
		{"### Error\nError: Expected value \"a\", but got \"b\"", snapshot.AssertionFailed},
		{"### Error\nError: Item \"x\" not found", snapshot.AssertionFailed},
		{"### Error\nError: Browser is already in use for /tmp/p, use --isolated to run multiple instances of the same browser",
			snapshot.BrowserBusy},
		{"### Error\nError: Session not found", snapshot.ServerGone},
		{"something new", snapshot.CallFailed},
		{"", snapshot.CallFailed},
	} {
		f := snapshot.ReadAnswer(result(test.text, true)).Err
		if f == nil || f.Code != test.code || f.Error() == "" {
			t.Errorf("%q: %+v, want %s", test.text, f, test.code)
		}
		if a := snapshot.ReadAnswer(result(test.text, false)); a.Err != nil {
			t.Errorf("%q: a failure without isError", test.text)
		}
	}
}

func TestAnErrorSaysWhatWentWrongAndNotInWhichFunction(t *testing.T) {
	for text, want := range map[string]string{
		"Error: browserBackend.callTool: Error: Malformed value":                     "Malformed value",
		"TimeoutError: locator.click: Timeout 5000ms exceeded.":                      "Timeout 5000ms exceeded.",
		"Error: page.goto: net::ERR_UNSAFE_PORT at http://h:9/":                      "net::ERR_UNSAFE_PORT at http://h:9/",
		"Error: page._evaluateFunction: SyntaxError: '#a[' is not a valid selector.": "'#a[' is not a valid selector.",
		"Error: \"#x\" does not match any elements.":                                 "\"#x\" does not match any elements.",
		"Error: ": "the server reported an error without a text",
	} {
		if got := snapshot.ErrorOf(text, nil).Message; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTheServersOwnCandidatesAreKept(t *testing.T) {
	f := snapshot.ErrorOf("Error: locator.click: Error: strict mode violation: locator('.a') resolved to 2 elements:\n    1) "+
		"<b>x</b> aka getByText('x')\n    2) <b>y</b>\n", nil)
	if f.Code != snapshot.Ambiguous || len(f.Candidates) != 2 || f.Candidates[0] != "getByText('x')" {
		t.Errorf("%+v", f)
	}
}

func TestInlineImagesAreKept(t *testing.T) {
	a := snapshot.ReadAnswer([]byte(`{"content":[{"type":"image","mimeType":"image/png","data":"iVBO"}]}`))
	if len(a.Images) != 1 || a.Images[0].Type != "image/png" || len(a.Images[0].Data) != 3 {
		t.Errorf("%+v", a.Images)
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add("### Page state\n- Page URL: x\n```yaml\n- a\n```\n### Open tabs\n- 0: (current) [a](b)\n### Modal state\n- [\"alert\" " +
		"dialog with message \"m\"]: x")
	f.Fuzz(func(t *testing.T, text string) {
		if a := snapshot.ReadAnswer(result(text, true)); a.Err == nil || a.Err.Message == "" {
			t.Fatal("a marked error without a failure")
		}
	})
}

func TestWhatKeepsAnElementFromBeingUsedIsSaid(t *testing.T) {
	const waited = "TimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for element\n"
	for line, want := range map[string]string{
		`    - <span class="inner"></span> intercepts pointer events`:                `the element is covered by <span class="inner"></span>`,
		`    - <div id="mask">…</div> from <body> subtree intercepts pointer events`: `the element is covered by <div id="mask">…</div>`,
		"    - element is not enabled":                                               "the element is disabled",
		"    - element is not visible":                                               "the element is not visible",
	} {
		if f := snapshot.ErrorOf(waited+line, nil); f.Code != snapshot.NotInteractable || f.Message != want {
			t.Errorf("%s: %s %q", line, f.Code, f.Message)
		}
	}
}
