package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// slowBrowser takes its time for some tools, unless the call is given up.
type slowBrowser struct {
	fakeBrowser
	takes map[string]time.Duration
}

func (b *slowBrowser) Call(ctx context.Context, asked, c run.Call) (json.RawMessage, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(b.takes[c.Tool]):
	}
	return b.fakeBrowser.Call(ctx, asked, c)
}

func TestAPageIsOpenedInTheTimeThatSomebodyNamed(t *testing.T) {
	for name, c := range map[string]struct {
		opts run.Options
		text string
		want time.Duration // 0: it is waited for
	}{
		"the step":      {run.Options{}, "- {navigate: http://h/, timeout: 2s}\n", 2 * time.Second},
		"the file":      {run.Options{Timeout: time.Hour}, "timeout: 3s\nsteps: [打开 http://h/]\n", 3 * time.Second},
		"the order":     {run.Options{Timeout: 4 * time.Second}, "- 打开 http://h/\n", 4 * time.Second},
		"nobody":        {run.Options{}, "- 打开 http://h/\n", 0},
		"of a new tab":  {run.Options{}, "timeout: 3s\nsteps: [{tab: {new: http://h/}}]\n", 3 * time.Second},
		"the page back": {run.Options{}, "- {back: true, timeout: 2s}\n", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				suite, err := steps.Parse("t.yaml", []byte(c.text), nil)
				if err != nil {
					t.Fatal(err)
				}
				b := &slowBrowser{fakeBrowser{tree: page(loginPage)},
					map[string]time.Duration{"browser_navigate": time.Minute, "browser_navigate_back": time.Minute}}
				c.opts.Screenshots = "off"
				got := run.New(b, &c.opts).Suite(t.Context(), suite).Cases[0]
				switch {
				case c.want == 0 && (got.Status != run.Passed || got.Duration.Duration != time.Minute):
					t.Errorf("%s after %s: %+v", got.Status, got.Duration, got.Error)
				case c.want != 0 && (got.Status != run.Failed || got.Duration.Duration != c.want || got.Error.Details.Code != snapshot.TimedOut):
					t.Errorf("%s after %s: %+v", got.Status, got.Duration, got.Error)
				}
			})
		})
	}
}

func TestTheStartOfTheBrowserIsNoPartOfTheTimeForAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		suite, err := steps.Parse("t.yaml", []byte("timeout: 2s\ncases:\n  - {name: a, steps: [打开 http://h/, 打开 http://h/2]}\n  - "+
			"{name: b, steps: [打开 http://h/3]}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &slowBrowser{fakeBrowser{tree: page(loginPage)},
			map[string]time.Duration{"browser_snapshot": 40 * time.Second, "browser_navigate": time.Second}}
		res := run.New(b, nil).Suite(t.Context(), suite)
		if !res.Passed() {
			t.Errorf("%+v %+v", res.Cases[0].Error, res.Cases[1].Error)
		}
		if n := len(slices.DeleteFunc(b.calls, func(c string) bool { return c != "browser_snapshot {}" })); n != 2 {
			t.Errorf("the browser was woken %d times for 2 cases", n)
		}
	})
}

func TestAPageThatDoesNotAnswerDoesNotHoldAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		suite, err := steps.Parse("t.yaml", []byte("- 打开 http://h/\n- {expect: {text: x}, timeout: 1s, optional: true}\n- {click: x, "+
			"timeout: 28s}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		b := &slowBrowser{fakeBrowser{tree: page(loginPage)}, map[string]time.Duration{"browser_snapshot": time.Hour}}
		c := run.New(b, &run.Options{Screenshots: "off"}).Suite(t.Context(), suite).Cases[0]
		for i, want := range []time.Duration{15 * time.Second, 28 * time.Second} {
			if s := c.Steps[i+1]; s.Duration.Duration != want || s.Error == nil || s.Error.Details.Code != snapshot.TimedOut {
				t.Errorf("step %d took %s: %+v", i+1, s.Duration, s.Error)
			}
		}
	})
}

func TestALookAtAPageMayStartTheBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBrowser{fakeBrowser{tree: page(loginPage)}, map[string]time.Duration{"browser_snapshot": time.Minute}}
		found, miss := run.New(b, nil).Find(t.Context(), &steps.Target{Text: "登录"}, "click")
		if miss != nil || found.Ref != "e19" {
			t.Errorf("%+v %+v", found, miss)
		}
	})
}

// Older servers put a snapshot into every answer, and on a busy machine have no time for it. They
// take one before they use an element, too: then nothing was done.
func TestAPageIsOpenThoughTheServerHadNoTimeToLookAtIt(t *testing.T) {
	busy := func(map[string]any) (string, bool) {
		return "### Result\nTimeoutError: page._snapshotForAI: Timeout 5000ms exceeded.", true
	}
	b := &fakeBrowser{tree: page(loginPage), on: map[string]func(map[string]any) (string, bool){"browser_navigate": busy}}
	c, res := one(b, run.Options{}, "- 打开 http://h/\n- expect: {visible: 登录}\n")
	if c.Status != run.Passed || len(c.Steps[0].Warnings) != 1 || res.Metrics.Calls.OK != res.Metrics.Calls.All {
		t.Errorf("%+v %+v", c.Error, c.Steps)
	}
	for _, tool := range []string{"browser_click", "browser_snapshot"} {
		b.on = map[string]func(map[string]any) (string, bool){tool: busy}
		if c, _ := one(b, run.Options{}, "- {click: 登录, timeout: 1s}\n"); c.Error == nil || c.Error.Details.Code != snapshot.TimedOut {
			t.Errorf("%s: %+v", tool, c.Error)
		}
	}
}

func TestAFallbackLivesInTheTimeOfItsStepAndMeetsWhatItExpects(t *testing.T) {
	b := &fakeBrowser{tree: page(`- button "Other" [ref=e1]`)}
	c, _ := one(b, run.Options{Screenshots: "off"}, "- {click: Save, timeout: 5s, fallback: [{click: Store, timeout: 60s}, click Keep]}\n")
	if took := b.now.Sub(time.Unix(0, 0)); c.Error == nil || took > 6*time.Second {
		t.Errorf("%+v after %v", c.Error, took)
	}
	b = &fakeBrowser{tree: page(`- button "Other" [ref=e1]`)}
	c, _ = one(b, run.Options{Screenshots: "off"}, "- {click: Save, timeout: 5s, expect: {text: stored}, fallback: [click Other]}\n")
	if c.Error == nil || c.Error.Details.Code != snapshot.AssertionFailed &&
		!slices.ContainsFunc(c.Steps[0].Failures, func(f string) bool { return strings.Contains(f, "stored") }) {
		t.Errorf("what the step expects was not looked at after its fallback: %+v %q", c.Error, c.Steps[0].Failures)
	}
}

func TestDurationsAreMillisecondsAndNamedSo(t *testing.T) {
	b := &fakeBrowser{tree: page(`- button "Other" [ref=e1]`)}
	_, res := one(b, run.Options{Screenshots: "off"}, "- {click: Save, timeout: 1500ms}\n")
	data, err := json.Marshal(res)
	if err != nil || !strings.Contains(string(data), `"duration_ms":1500`) || strings.Contains(string(data), `"duration":`) {
		t.Errorf("%v %s", err, data)
	}
	var back run.Result
	if err := json.Unmarshal(data, &back); err != nil || back.Duration != res.Duration {
		t.Errorf("%v, %v for %v", err, back.Duration, res.Duration)
	}
}
