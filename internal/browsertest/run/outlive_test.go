package run_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// hangingBrowser is one whose keys hang until they are given up.
type hangingBrowser struct{ fakeBrowser }

func (b *hangingBrowser) Call(ctx context.Context, asked, c run.Call) (json.RawMessage, error) {
	if c.Tool == "browser_press_key" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return b.fakeBrowser.Call(ctx, asked, c)
}

func TestTheTeardownOfARunThatIsEndedHasAnEnd(t *testing.T) {
	for name, text := range map[string]string{
		"ended before it":     "teardown: [截图, 按 Esc, 截图]\nsteps: [按 回车]\n",
		"ended in its middle": "teardown: [截图, 按 Esc, 截图]\nsteps: [打开 http://h/]\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				begun := time.Now()
				time.AfterFunc(time.Minute, cancel)
				suite, err := steps.Parse("t.yaml", []byte(text), nil)
				if err != nil {
					t.Fatal(err)
				}
				b := &hangingBrowser{fakeBrowser{tree: page(loginPage)}}
				c := run.New(b, nil).Suite(ctx, suite).Cases[0]
				if took := time.Since(begun); took < time.Minute || took > time.Minute+15*time.Second {
					t.Errorf("it took %s", took)
				}
				for i, want := range []run.Status{run.Passed, run.Failed, run.Skipped} {
					if s := c.Steps[1+i]; s.Status != want || want == run.Failed && s.Error.Details.Code != run.Ended {
						t.Errorf("step %d of the teardown: %s %+v, want %s", i+1, s.Status, s.Error, want)
					}
				}
				if c.Status != run.Broken || c.Error.Details.Code != run.Ended {
					t.Errorf("%s %+v", c.Status, c.Error)
				}
			})
		})
	}
}
