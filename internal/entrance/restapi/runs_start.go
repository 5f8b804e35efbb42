package restapi

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
)

var reportForms = map[string]struct {
	kind     string
	pictures bool // it shows them
	write    func(io.Writer, []*run.Result) error
}{
	"html":  {"text/html; charset=utf-8", true, report.HTML},
	"junit": {"application/xml", false, report.JUnit},
	"json":  {"application/json", true, report.JSON},
}

type shownImage struct {
	Type string `json:"type"`
	Size int    `json:"size"`
	Href string `json:"href"`
}

// shownStep is a step with the URL of its picture.
type shownStep struct {
	run.StepResult
	Screenshot *shownImage `json:"screenshot,omitempty"`
}

type shownCase struct {
	run.CaseResult
	Steps []shownStep `json:"steps,omitempty"`
}

type shownSuite struct {
	*run.Result
	Cases []shownCase `json:"cases"`
}

// shownResult is a suite with URLs in place of pictures, numbered by step.
func shownResult(at string, res *run.Result, numbers map[*run.Image]int) shownSuite {
	out := shownSuite{Result: res, Cases: []shownCase{}}
	for _, c := range res.Cases {
		one := shownCase{CaseResult: c}
		for _, s := range c.Steps {
			step := shownStep{StepResult: s}
			if i := s.Screenshot; i != nil {
				step.Screenshot = &shownImage{i.Kind(), max(i.Size, len(i.Data)), fmt.Sprintf("%s/screenshots/%d", at, numbers[i])}
			}
			one.Steps = append(one.Steps, step)
		}
		out.Cases = append(out.Cases, one)
	}
	return out
}

// RunOrder starts a run: of steps, or of an earlier run again.
type RunOrder struct {
	Steps   trial.Text        `json:"steps,omitempty"`
	Again   string            `json:"again,omitempty"` // the id of a run whose files are run again
	Profile string            `json:"profile,omitempty"`
	Base    string            `json:"base_url,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`
	Workers int               `json:"workers,omitempty"`
	Model   string            `json:"model,omitempty"` // asked where words do not lead to one element
}

// maxWorkers limits the browsers of a run.
const maxWorkers = 4

// StartRun starts a run in the background.
func (a *API) StartRun(ctx context.Context, who access.Principal, in RunOrder) (id string, err error) {
	if !who.MayTest() {
		return "", who.Forbidden("%s may not start test runs")
	}
	if (in.Steps == "") == (in.Again == "") || in.Workers < 0 || in.Workers > maxWorkers {
		return "", fault.New(fault.BadRequest, "give steps or again, and at most %d workers", maxWorkers)
	}
	o := trial.Order{Who: who, Profile: in.Profile, Workers: in.Workers, Model: in.Model,
		Options: run.Options{Base: in.Base, Vars: in.Vars}}
	if in.Again != "" {
		err = a.again(ctx, in.Again, &o)
	} else {
		err = written(in.Steps, &o)
	}
	if err == nil {
		o.Profile, err = who.ProfileFor(o.Profile)
	}
	if err != nil {
		return "", err
	}
	return a.Tests.StartTests(ctx, o)
}

// written takes the steps from the order itself.
func written(text trial.Text, o *trial.Order) error {
	s, err := trial.ParseText(string(text))
	if err != nil {
		return fault.New(fault.BadArguments, "%w", err)
	}
	o.Suites = []*steps.Suite{s}
	o.Sources = map[string]string{s.File: string(text)}
	return nil
}

// again takes files and options of an earlier run, without reading files of this machine.
func (a *API) again(ctx context.Context, id string, o *trial.Order) error {
	k, err := a.ReadRun(ctx, o.Who, id)
	if err != nil {
		return err
	}
	o.Profile = cmp.Or(o.Profile, k.Profile)
	err = k.Again(o)
	o.Workers = min(o.Workers, maxWorkers)
	return err
}
