package restapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
)

// reportForms write the report of a run.
var reportForms = map[string]struct {
	kind     string
	pictures bool // it shows them
	write    func(io.Writer, []*run.Result) error
}{
	"html":  {"text/html; charset=utf-8", true, report.HTML},
	"junit": {"application/xml", false, report.JUnit},
	"json":  {"application/json", true, report.JSON},
}

// shownImage is where a picture is.
type shownImage struct {
	Type string `json:"type"`
	Size int    `json:"size"`
	Href string `json:"href"`
}

// shownStep is a step with the address of its picture in the picture's place.
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

// shownResult is a suite of the run at an address, without the bytes of its pictures: these
// have the numbers of their steps.
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

// RunOrder is what starts a run: steps, or an earlier run.
type RunOrder struct {
	Steps   trial.Text        `json:"steps,omitempty"`
	Again   string            `json:"again,omitempty"` // the id of a run whose files are run again
	Profile string            `json:"profile,omitempty"`
	Base    string            `json:"base_url,omitempty"`
	Vars    map[string]string `json:"vars,omitempty"`
	Workers int               `json:"workers,omitempty"`
	Model   string            `json:"model,omitempty"` // asked where words do not lead to one element
}

// maxWorkers bounds the browsers of one run that is started from outside.
const maxWorkers = 4

func (a *API) startRun(r *http.Request, who access.Principal) (any, error) {
	body, err := a.body(r)
	if err != nil {
		return nil, err
	}
	var in RunOrder
	if err := decode(body, &in); err != nil {
		return nil, fault.New(fault.BadRequest, "the body must be {\"steps\": …} or {\"again\": …}: %w", err)
	}
	id, err := a.StartRun(r.Context(), who, in)
	if err != nil {
		return nil, err
	}
	return created{"/runs/" + id, map[string]string{"id": id}}, nil
}

// StartRun starts a run that goes on by itself.
func (a *API) StartRun(ctx context.Context, who access.Principal, in RunOrder) (id string, err error) {
	if !who.MayTest() {
		return "", who.Lacks("%s may not start test runs")
	}
	if (in.Steps == "") == (in.Again == "") || in.Workers < 0 || in.Workers > maxWorkers {
		return "", fault.New(fault.BadRequest, "give steps or again, and at most %d workers", maxWorkers)
	}
	o := trial.Order{Who: who, Profile: in.Profile, Workers: in.Workers, Model: in.Model, Options: run.Options{Base: in.Base, Vars: in.Vars}}
	if in.Again != "" {
		err = a.again(ctx, in.Again, &o)
	} else {
		var s *steps.Suite
		if s, err = trial.ParseText(string(in.Steps)); err == nil {
			o.Suites, o.Sources = []*steps.Suite{s}, map[string]string{s.File: string(in.Steps)}
		} else {
			err = fault.New(fault.BadArguments, "%w", err)
		}
	}
	if err != nil {
		return "", err
	}
	if o.Profile, err = who.ProfileFor(o.Profile); err != nil {
		return "", err
	}
	return a.Tests.StartTests(ctx, o)
}

// again takes the files and the terms of an earlier run. Files of the machine that it ran on
// are not read.
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
