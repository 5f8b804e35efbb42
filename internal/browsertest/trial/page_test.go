package trial

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/state/store"
)

// longRun is a run of cases with so many steps each; every tenth step has a picture.
func longRun(t *testing.T, steps ...int) *Run {
	t.Helper()
	k := &Run{ID: "run_1", Report: Report{Results: []*run.Result{{Name: "all"}}}}
	number := 0
	for i, n := range steps {
		c := run.CaseResult{Name: fmt.Sprint("case ", i+1), Status: run.Passed}
		for range n {
			number++
			s := run.StepResult{Text: fmt.Sprint("step ", number), Status: run.Passed}
			if number%10 == 0 {
				s.Screenshot = &run.Image{Type: "image/png", Data: []byte(s.Text)}
			}
			c.Steps = append(c.Steps, s)
		}
		k.Results[0].Cases = append(k.Results[0].Cases, c)
	}
	return k
}

// stored is the run as the store has it.
func stored(t *testing.T, k *Run) store.Run {
	t.Helper()
	report, pictures, err := parted(k.Report)
	if err != nil {
		t.Fatal(err)
	}
	return store.Run{ID: k.ID, Outcome: Passed, Summary: json.RawMessage(`{"files":["a"]}`), Report: report, Pictures: pictures}
}

func TestPicturesAreKeptApartAndComeBackToTheirSteps(t *testing.T) {
	k := longRun(t, 7, 0, 30)
	row := stored(t, k)
	if len(row.Pictures) != 3 || row.Pictures[1].Step != 20 || strings.Contains(string(row.Report), `"data"`) ||
		k.Results[0].Cases[2].Steps[2].Screenshot.Data == nil {
		t.Fatalf("%d pictures, report %.300s", len(row.Pictures), row.Report)
	}
	got, err := Read(row)
	if err != nil {
		t.Fatal(err)
	}
	got.Fill(append(row.Pictures[:2:2], store.RunPicture{Step: 9999, Data: []byte("of nothing")}))
	for n, s := range run.Steps(got.Results) {
		switch has := s.Screenshot != nil; {
		case has != (n == 10 || n == 20):
			t.Errorf("step %d has a picture: %t", n, has)
		case has && string(s.Screenshot.Data) != s.Text:
			t.Errorf("step %d has the picture of %s", n, s.Screenshot.Data)
		}
	}
}

func TestPicturesOfOlderRunsAreInTheirReports(t *testing.T) {
	k := longRun(t, 12)
	report, err := json.Marshal(k.Report)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(store.Run{ID: "run_0", Summary: json.RawMessage(`{}`), Report: report})
	if err != nil {
		t.Fatal(err)
	}
	got.Fill(nil)
	if p := got.Picture(10); p == nil || string(p.Data) != "step 10" || got.Picture(9) != nil || got.Picture(-1) != nil ||
		got.Picture(99) != nil {
		t.Errorf("the picture is %v", p)
	}
}

func TestARunKeepsAsManyPicturesAsThereIsRoomFor(t *testing.T) {
	k := longRun(t, 30)
	k.Results[0].Cases[0].Steps[9].Screenshot.Data = make([]byte, maxPictures+1)
	row := stored(t, k)
	got, err := Read(row)
	if err != nil {
		t.Fatal(err)
	}
	s := got.Results[0].Cases[0].Steps
	if len(row.Pictures) != 2 || s[9].Screenshot != nil || len(s[9].Warnings) != 1 || s[19].Screenshot == nil ||
		len(k.Results[0].Cases[0].Steps[9].Warnings) != 0 {
		t.Errorf("%d pictures, step %+v", len(row.Pictures), s[9])
	}
}

func TestThePagesOfARunHaveEveryStepOnce(t *testing.T) {
	for _, steps := range [][]int{{}, {0}, {1}, {pageSteps}, {pageSteps + 1}, {pageSteps, 0}, {5, 0, 3*pageSteps + 7, 0, 0, 2},
		{pageSteps - 1, 0, 1, 4}} {
		row := stored(t, longRun(t, steps...))
		seen, cases, last := 0, map[string]bool{}, 1
		for n := 1; n <= last; n++ {
			p, err := ReadPage(row, n)
			if err != nil {
				t.Fatal(err)
			}
			last = p.Last
			shown := 0
			for _, s := range p.Suites {
				for _, c := range s.Cases {
					cases[c.Anchor] = true
					if c.Before+len(c.Steps)+c.After != steps[len(cases)-1] {
						t.Errorf("%v: page %d says %d + %d + %d steps", steps, n, c.Before, len(c.Steps), c.After)
					}
					for i, step := range c.Steps {
						if seen++; step.Text != fmt.Sprint("step ", seen) || c.First+i != seen {
							t.Fatalf("%v: page %d shows %s as step %d, want step %d", steps, n, step.Text, c.First+i, seen)
						}
					}
					shown += len(c.Steps)
				}
			}
			if shown > pageSteps {
				t.Errorf("%v: page %d has %d steps", steps, n, shown)
			}
		}
		all := 0
		for _, n := range steps {
			all += n
		}
		if seen != all || len(cases) != len(steps) {
			t.Errorf("%v: %d steps and %d cases are shown", steps, seen, len(cases))
		}
	}
}

func TestAPageThatIsNotThereIsTheNearest(t *testing.T) {
	row := stored(t, longRun(t, 2*pageSteps))
	for asked, want := range map[int]int{-1: 1, 0: 1, 2: 2, 1 << 40: 2} {
		if p, err := ReadPage(row, asked); err != nil || p.Number != want {
			t.Errorf("page %d: %v %v", asked, p, err)
		}
	}
	for _, report := range []string{`{`, `{"results":7}`, `{"results":[{"cases":[{"steps":[7]}]}]}`} {
		if _, err := ReadPage(store.Run{ID: "run_1", Summary: json.RawMessage(`{}`), Report: []byte(report)}, 1); err == nil {
			t.Errorf("%s is read", report)
		}
	}
}
