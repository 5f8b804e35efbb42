// Package report writes the results of browser tests: JUnit XML for build servers, JSON for
// programs, and one HTML page with its pictures for people.
//
// It only writes: secrets are already masked in the results.
//
//	err := report.JUnit(file, results)
package report

import (
	"encoding/json"
	"io"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// Totals are the numbers over all results.
type Totals struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errors  int `json:"errors"`
	Skipped int `json:"skipped"`
	Flaky   int `json:"flaky"`
	Healed  int `json:"healed"`
}

// Add counts others in.
func (t *Totals) Add(more Totals) {
	t.Tests += more.Tests
	t.Passed += more.Passed
	t.Failed += more.Failed
	t.Errors += more.Errors
	t.Skipped += more.Skipped
	t.Flaky += more.Flaky
	t.Healed += more.Healed
}

// Count adds up results.
func Count(results []*run.Result) (t Totals) {
	for c := range run.Cases(results) {
		t.Tests++
		switch c.Status {
		case run.Failed:
			t.Failed++
		case run.Broken:
			t.Errors++
		case run.Skipped:
			t.Skipped++
		case run.Flaky:
			t.Flaky++
			t.Passed++
		default:
			t.Passed++
		}
		if c.Healed {
			t.Healed++
		}
	}
	return t
}

// JSON writes the results as they are, with their totals.
func JSON(w io.Writer, results []*run.Result) error {
	if results == nil {
		results = []*run.Result{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(struct {
		Totals  Totals        `json:"totals"`
		Results []*run.Result `json:"results"`
	}{Count(results), results})
}

// ByModel tells whether not the words of a step decided which element is meant, but a model.
func ByModel(s run.StepResult) bool { return s.Element != nil && s.Element.By == run.ByModel }
