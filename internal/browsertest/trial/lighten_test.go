package trial

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/state/store"
)

// heavyRun is a run whose even cases fail, with long calls, errors, names and sources.
func heavyRun() Report {
	long := strings.Repeat("很长 ", 2000)
	call := run.CallRecord{Tool: "browser_click", Before: json.RawMessage(fmt.Sprintf("%q", long))}
	r := Report{Results: []*run.Result{{Name: "all"}}, Sources: map[string]string{"t.yaml": long},
		Settings: Settings{Vars: map[string]string{"a": long}}}
	for i := range 20 {
		c := run.CaseResult{Name: fmt.Sprint(i, long), Status: run.Passed}
		if i%2 == 0 {
			c.Status, c.Error = run.Failed, &run.Error{Message: long}
		}
		for n := range 5 {
			s := run.StepResult{Text: fmt.Sprint(i, "/", n), Status: c.Status, Calls: []run.CallRecord{call}, Failures: []string{long}}
			s.Screenshot = &run.Image{Type: "image/png", Data: []byte(s.Text)}
			c.Steps = append(c.Steps, s)
		}
		r.Results[0].Cases = append(r.Results[0].Cases, c)
	}
	return r
}

func TestAReportIsNeverLongerThanItMay(t *testing.T) {
	whole := heavyRun()
	data, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	before := string(data)
	last := len(data) + 1
	for most := len(data); most > 10; most /= 2 {
		r := whole
		r.Results = run.Copies(whole.Results)
		data, err := lightened(&r, most)
		if err != nil || len(data) > most && most > 40 || len(data) > last {
			t.Fatalf("%d bytes where there is room for %d: %v", len(data), most, err)
		}
		last = len(data)
		if kept, err := Read(store.Run{Summary: json.RawMessage(`{}`), Report: data}); err != nil || len(kept.Results) > 0 &&
			len(kept.Results[0].Cases) != 20 {
			t.Errorf("with room for %d bytes it cannot be read: %v", most, err)
		}
	}
	if data, _ := json.Marshal(whole); string(data) != before {
		t.Error("the report itself has changed")
	}
}

func TestWhatFailedStaysWhenAReportIsTooLong(t *testing.T) {
	r := heavyRun()
	taken := takePictures(r.Results)
	if _, err := lightened(&r, 1_500_000); err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Results[0].Cases {
		if failed := i%2 == 0; failed != (len(c.Steps) == 5) || failed == (c.Reason == notKept) {
			t.Errorf("case %d has %d steps, and says %q", i, len(c.Steps), c.Reason)
		}
	}
	for _, s := range run.Steps(r.Results) {
		if s.Calls != nil || string(taken[s.Screenshot]) != s.Text {
			t.Errorf("step %s has %d calls and the picture %q", s.Text, len(s.Calls), taken[s.Screenshot])
		}
	}
}
