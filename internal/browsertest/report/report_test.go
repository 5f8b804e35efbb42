package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

const nasty = "<script>alert(1)</script>\x00\x1b ]]> \"'&\xff"

func results() []*run.Result {
	e := &run.Error{Type: "ELEMENT_NOT_FOUND", Message: "no element is " + nasty,
		Details: run.Details{RunID: "r", Code: snapshot.NotFound, ExpectedFormat: nasty}}
	return []*run.Result{{
		RunID: "r", File: "tests/login.yaml", Name: "登录" + nasty, Started: time.Unix(0, 0), Duration: run.Took{Duration: 1500 * time.Millisecond},
		Cases: []run.CaseResult{
			{Name: "good", Status: run.Passed, Healed: true, Attempts: 1,
				Steps: []run.StepResult{{Text: "点击 登录", Action: steps.Click, Status: run.Healed, Warnings: []string{nasty},
					Element: &run.Element{Role: "button", Name: "登录", Score: 1}}}},
			{Name: "bad", Status: run.Failed, Attempts: 1, Error: e, Steps: []run.StepResult{{
				Text: nasty, File: "tests/login.yaml", Line: 3, Action: steps.Click, Status: run.Failed, Error: e, Failures: []string{nasty},
				Candidates: []find.Candidate{{Role: "button", Name: nasty, Path: "dialog > button " + nasty, Score: 0.4, Why: "shares some words"}},
				Calls:      []run.CallRecord{{Tool: "browser_click", Before: json.RawMessage(`{"a":1}`), After: json.RawMessage(`{"b":1}`)}},
				Screenshot: &run.Image{Type: nasty, Data: []byte("png")},
			}}},
			{Name: "broken", Status: run.Broken, Attempts: 1, Error: e},
			{Name: "left out", Status: run.Skipped, Reason: "not ready", Attempts: 1},
			{Name: "flaky", Status: run.Flaky, Attempts: 2, Earlier: []*run.Error{e},
				Steps: []run.StepResult{{Text: "click More", Status: run.Healed, Element: &run.Element{Role: "button", By: run.ByModel}}}},
		},
	}}
}

func TestHTMLStandsAloneAndEscapesEverything(t *testing.T) {
	var b bytes.Buffer
	if err := report.HTML(&b, results()); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "src=\"/", "javascript:"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"data:image/png;base64,cG5n", "点击 登录", "shares some words", "browser_click", "2 of 5 passed",
		"&lt;script&gt;", "it failed before", "found by a model"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestJSONHasTheErrorForm(t *testing.T) {
	var b bytes.Buffer
	if err := report.JSON(&b, results()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Totals  report.Totals
		Results []struct {
			Cases []struct {
				Error map[string]any
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	e := got.Results[0].Cases[1].Error
	if got.Totals != (report.Totals{Tests: 5, Passed: 2, Failed: 1, Errors: 1, Skipped: 1, Flaky: 1, Healed: 1}) ||
		e["type"] != "ELEMENT_NOT_FOUND" || e["details"].(map[string]any)["code"] != "ELEMENT_NOT_FOUND" {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := report.JSON(&b, nil); err != nil || !strings.Contains(b.String(), `"results": []`) {
		t.Errorf("%s %v", b.String(), err)
	}
}
