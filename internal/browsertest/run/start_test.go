package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

func TestABrowserThatDoesNotStartIsNotThePagesFault(t *testing.T) {
	const logs = "\nBrowser logs:\n\n<launching> /bin/chromium --headless\n<launched> pid=7\n[pid=7][err] libnss3.so is " +
		"missing\n[pid=7] <process did exit: exitCode=127>\n"
	for text, want := range map[string]string{
		"### Result\nSyntaxError: browserType.launch: Invalid URL: undefined" +
			logs: "reached: libnss3.so is missing",
		"### Error\nError: async initializeServer: Target page, context or browser has been closed" +
			logs: "reached: libnss3.so is missing",
		"### Error\nError: browserType.connectOverCDP: connect ECONNREFUSED 127.0.0.1:9\nCall " +
			"log:\n": "reached: connect ECONNREFUSED 127.0.0.1:9",
		"Error: browserType.launchPersistentContext: Chromium distribution 'chrome' is not found" +
			strings.Repeat("很长", 1000): "reached: Chromium distribution",
	} {
		b := &fakeBrowser{tree: page(loginPage)}
		b.on = map[string]func(map[string]any) (string, bool){"browser_navigate": func(map[string]any) (string, bool) { return text, true }}
		c, _ := one(b, run.Options{}, "- open http://h/\n")
		if c.Status != run.Broken || c.Error.Details.Code != snapshot.ServerGone || !strings.Contains(c.Error.Message, want) ||
			len(c.Error.Message) > 400 {
			t.Errorf("%.60s: %s %+v", text, c.Status, c.Error)
		}
	}
	b := &fakeBrowser{tree: page(loginPage)}
	b.on = map[string]func(map[string]any) (string, bool){"browser_navigate": func(map[string]any) (string, bool) {
		return "### Error\nError: page.goto: net::ERR_CONNECTION_REFUSED at http://h/\nbrowserType.launch is mentioned here", true
	}}
	if c, _ := one(b, run.Options{}, "- 打开 http://h/\n"); c.Status != run.Failed || c.Error.Details.Code != snapshot.NavigationFailed {
		t.Errorf("a page that is not there: %s %+v", c.Status, c.Error)
	}
}

// deafBrowser never answers when a page is to be opened.
type deafBrowser struct{ *fakeBrowser }

func (b deafBrowser) Call(ctx context.Context, asked, fitted run.Call) (json.RawMessage, error) {
	if fitted.Tool == "browser_navigate" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.fakeBrowser.Call(ctx, asked, fitted)
}

func TestAPageThatDoesNotOpenEndsWithItsStepsOwnTime(t *testing.T) {
	suite, err := steps.Parse("t.yaml", []byte("- {navigate: \"http://h/\", timeout: 10ms}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := run.New(deafBrowser{&fakeBrowser{tree: page(loginPage)}}, nil).Suite(t.Context(), suite).Cases[0]
	if c.Status != run.Failed || c.Error.Details.Code != snapshot.TimedOut || c.Error.Message != "http://h/ was not open after 10ms" ||
		c.Steps[0].Screenshot == nil {
		t.Errorf("%+v %+v", c, c.Error)
	}
}
