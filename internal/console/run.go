package console

import (
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/steps/report"
	"github.com/toolfit/toolfit/internal/steps/run"
	"github.com/toolfit/toolfit/internal/steps/trial"
)

// maxSteps is how many steps one page shows with all that belongs to them. Of more, those of
// the cases that failed come first; the report has them all.
const maxSteps = 400

// runPage is what the page of one run shows.
type runPage struct {
	*trial.Kept
	Live   bool // it is under way
	At     time.Time
	Calls  run.Share
	Finds  run.Share
	Suites []suiteRow
	Bad    []badCase // where it failed
	Short  bool      // not all steps are shown
	May    bool      // run it again
	Text   []sourceText
}

// badCase is a case that failed, and where on the page it is.
type badCase struct{ Anchor, Name string }

// sourceText is a file that was run.
type sourceText struct{ File, Text string }

// suiteRow is a suite with its cases.
type suiteRow struct {
	*run.Result
	Cases []caseRow
}

// caseRow is a case with the steps that are shown.
type caseRow struct {
	run.CaseResult
	Anchor string
	Open   bool // it failed
	Steps  []stepRow
	Hidden int // steps that are not shown
}

// stepRow is a step; its picture is a number.
type stepRow struct {
	run.StepResult
	Open    bool
	Lines   []report.CallLine
	Picture int  // 0: none
	More    bool // there is something below its line
}

func (c *Console) showRun(v *visit) (answer, error) {
	p, err := c.runOf(v)
	if err != nil {
		return answer{}, err
	}
	return show("run", p)
}

// runNow is the run as it stands, for a page that waits for its end.
func (c *Console) runNow(v *visit) (answer, error) {
	p, err := c.runOf(v)
	if err != nil {
		return answer{}, err
	}
	return part("run", "now", p)
}

func (c *Console) runOf(v *visit) (*runPage, error) {
	k, err := c.Gateway.ReadRun(v.Context(), v.who, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p := &runPage{Kept: k, Live: k.Outcome == trial.Running, At: time.Now(), May: v.who.MayCall()}
	for _, file := range k.Files {
		if text, kept := k.Sources[file]; kept {
			p.Text = append(p.Text, sourceText{file, text[:min(maxCode, len(text))]})
		}
	}
	p.addResults()
	return p, nil
}

// addResults puts the cases on the page. Those that failed get their steps first.
func (p *runPage) addResults() {
	pictures, room := 0, maxSteps
	for _, res := range p.Results {
		for _, one := range res.Cases {
			if broken(one.Status) {
				room -= len(one.Steps)
			}
		}
	}
	for i, res := range p.Results {
		p.Calls.OK, p.Calls.All = p.Calls.OK+res.Metrics.Calls.OK, p.Calls.All+res.Metrics.Calls.All
		p.Finds.OK, p.Finds.All = p.Finds.OK+res.Metrics.Finds.OK, p.Finds.All+res.Metrics.Finds.All
		s := suiteRow{Result: res}
		for j, one := range res.Cases {
			row := caseRow{CaseResult: one, Anchor: fmt.Sprintf("case-%d-%d", i+1, j+1), Open: broken(one.Status)}
			if row.Open {
				p.Bad = append(p.Bad, badCase{row.Anchor, one.Name})
			} else if room -= len(one.Steps); room < 0 {
				row.Hidden, p.Short = len(one.Steps), true
			}
			for _, step := range one.Steps {
				if step.Screenshot != nil {
					pictures++
				}
				if row.Hidden == 0 {
					row.Steps = append(row.Steps, stepOf(step, pictures))
				}
			}
			s.Cases = append(s.Cases, row)
		}
		p.Suites = append(p.Suites, s)
	}
}

func broken(s run.Status) bool { return s == run.Failed || s == run.Broken }

// stepOf is a step; pictures is how many there are up to it.
func stepOf(step run.StepResult, pictures int) stepRow {
	row := stepRow{StepResult: step, Open: broken(step.Status), Lines: report.CallLines(step.Calls)}
	if step.Screenshot != nil {
		row.Picture = pictures
	}
	row.More = row.Picture > 0 || len(row.Lines) > 0 || step.Element != nil || step.Error != nil || len(step.Warnings) > 0 || len(step.Candidates) > 0
	return row
}
