package console

import (
	"net/url"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
)

type runPage struct {
	*trial.Page
	Live   bool // still running
	At     time.Time
	Suites []suiteRow
	Failed int // number of failed cases; Bad names some
	Pager  pager
	May    bool // run it again
	Text   []sourceText
}

type sourceText struct{ File, Text string }

type suiteRow struct {
	trial.PageSuite
	Cases []caseRow
}

type caseRow struct {
	trial.PageCase
	Open  bool // it failed
	Steps []stepRow
}

type stepRow struct {
	run.StepResult
	Open    bool
	Lines   []report.CallLine
	Picture int  // number of the step that has the screenshot; 0: none
	ByModel bool // found by a model
	More    bool // it has details
}

func (c *Console) readRun(v *visit) (*runPage, error) {
	id := v.PathValue("id")
	number, _ := strconv.Atoi(v.URL.Query().Get("page")) // 0: the first
	page, err := c.RunReports.RunPage(v.Context(), v.who, id, number)
	if err != nil {
		return nil, err
	}
	p := &runPage{Page: page, Live: page.Outcome == trial.Running, At: time.Now(), May: v.who.MayCall(),
		Failed: page.Totals.Failed + page.Totals.Errors}
	p.Pager = numbered(c.at("/runs/")+url.PathEscape(id), url.Values{}, page.Number, page.Number < page.Last)
	if page.Last > 1 {
		p.Pager.Note = strconv.Itoa(page.Number) + " / " + strconv.Itoa(page.Last)
	}
	for _, file := range page.Files {
		if text, kept := page.Sources[file]; kept {
			p.Text = append(p.Text, sourceText{file, text[:min(maxProse, len(text))]})
		}
	}
	for _, s := range page.Suites {
		row := suiteRow{PageSuite: s}
		for _, one := range s.Cases {
			row.Cases = append(row.Cases, caseOf(one))
		}
		p.Suites = append(p.Suites, row)
	}
	return p, nil
}

func caseOf(c trial.PageCase) caseRow {
	row := caseRow{PageCase: c, Open: broken(c.Status)}
	for i, step := range c.Steps {
		row.Steps = append(row.Steps, stepOf(step, c.First+i))
	}
	return row
}

func broken(s run.Status) bool { return s == run.Failed || s == run.Broken }

func stepOf(step run.StepResult, number int) stepRow {
	row := stepRow{StepResult: step, Open: broken(step.Status), Lines: report.CallLines(step.Calls)}
	if step.Screenshot != nil {
		row.Picture = number
	}
	row.ByModel = report.ByModel(step)
	row.More = row.Picture > 0 || len(row.Lines) > 0 || step.Element != nil || step.Error != nil || len(step.Warnings) > 0 ||
		len(step.Candidates) > 0
	return row
}
