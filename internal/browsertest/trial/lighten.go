package trial

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// maxReport bounds what is kept of one run beside its pictures.
const maxReport = 32 << 20

// notKept says why a case has no steps.
const notKept = "its steps are not kept: the report of this run is too large"

// lighter are the parts to drop from a report that is too long, the least important first.
var lighter = []func(*Report){
	func(r *Report) { withoutCalls(r, func(s *run.StepResult) bool { return s.Status == run.Passed }) },
	func(r *Report) { withoutCalls(r, func(*run.StepResult) bool { return true }) },
	func(r *Report) { withoutSteps(r, func(c *run.CaseResult) bool { return c.Error == nil }) },
	func(r *Report) { withoutSteps(r, func(*run.CaseResult) bool { return true }) },
	func(r *Report) {
		r.Sources = nil
		r.Vars = nil
		r.Chosen = nil
	},
	withoutWords,
	func(r *Report) { r.Results = nil },
}

// lightened is a report as JSON of at most so many bytes. It changes the report.
func lightened(r *Report, most int) ([]byte, error) {
	data, err := json.Marshal(r)
	for _, lighten := range lighter {
		if err != nil || len(data) <= most {
			break
		}
		lighten(r)
		data, err = json.Marshal(r)
	}
	return data, err
}

func withoutCalls(r *Report, which func(*run.StepResult) bool) {
	for _, s := range run.Steps(r.Results) {
		if which(s) {
			s.Calls = nil
		}
	}
}

func withoutSteps(r *Report, which func(*run.CaseResult) bool) {
	for c := range run.Cases(r.Results) {
		if len(c.Steps) > 0 && which(c) {
			c.Steps = nil
			c.Reason = notKept
		}
	}
}

// withoutWords leaves how each case ended, and the beginnings of its name and error.
func withoutWords(r *Report) {
	for c := range run.Cases(r.Results) {
		c.Name = beginning(c.Name)
		c.Tags = nil
		c.Earlier = nil
		c.Trace = ""
		if e := c.Error; e != nil {
			details := run.Details{RunID: e.Details.RunID, Code: e.Details.Code}
			c.Error = &run.Error{Type: e.Type, Message: beginning(e.Message), Details: details}
		}
	}
}

// beginning is enough of a text to know it by.
func beginning(text string) string { return visible.Beginning(text, 80) }
