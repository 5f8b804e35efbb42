package run_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/steps/run"
	"github.com/toolfit/toolfit/internal/steps/snapshot"
)

// refsAlone is a server that takes no selectors; evaluate answers what its page has.
func refsAlone(state func(b *fakeBrowser) string) *fakeBrowser {
	b := &fakeBrowser{tree: page(loginPage)}
	b.tools, _ = b.Tools(nil)
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
	for name, early := range map[string]string{"it is not there": `{"count":0}`, "it is hidden": `{"count":1,"visible":0,"tag":"button","names":["登录"]}`} {
		b := refsAlone(func(b *fakeBrowser) string {
			if b.now.Sub(time.Unix(0, 0)) < 3*time.Second {
				return early
			}
			return `{"count":1,"visible":1,"tag":"button","names":["登录"]}`
		})
		if c, _ := one(b, run.Options{}, "- click: \"#late\"\n"); c.Status != run.Passed || !strings.Contains(strings.Join(b.acted(), " "), `"e19"`) {
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
	b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){"browser_click": func(map[string]any) (string, bool) {
		return "### Error\nError: strict mode violation: locator('.a') resolved to 2 elements:\n    1) <b>x</b> aka getByText('x')\n    2) <b>y</b> aka getByText('y')\n", true
	}}}
	c, res := one(b, run.Options{}, "- click: .a\n")
	if got := c.Steps[0].Candidates; len(got) != 2 || got[1].Path != "getByText('y')" || c.Error.Details.Code != snapshot.Ambiguous || res.Metrics.Ambiguous != 1 {
		t.Errorf("%+v %+v", got, c.Error)
	}
}
