package console

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Runs are the runs of browser tests that the caller may see, and what starts one.
type Runs interface {
	ListRuns(ctx context.Context, who access.Principal, f store.RunFilter) (restapi.RunList, error)
	StartRun(ctx context.Context, who access.Principal, in restapi.RunOrder) (id string, err error)
	RunReports
}

// RunReports reads what came of a run.
type RunReports interface {
	RunPage(ctx context.Context, who access.Principal, id string, number int) (*trial.Page, error)
	RunReport(ctx context.Context, who access.Principal, id, form string) (func(http.ResponseWriter), error)
	RunPicture(ctx context.Context, who access.Principal, id, number string) (func(http.ResponseWriter), error)
}

func (c *Console) runsSection() section {
	return section{name: "runs", path: "/runs", key: "u", routes: map[string]handler{
		"GET /runs":                   c.listRuns,
		"GET /runs/rows":              c.runRows,
		"POST /runs":                  c.startRun,
		"GET /runs/{id}":              c.showRun,
		"GET /runs/{id}/now":          c.runNow,
		"POST /runs/{id}/again":       c.runAgain,
		"GET /runs/{id}/report":       c.runReport,
		"GET /runs/{id}/pictures/{n}": c.runPicture,
	}}
}

// runsPage is what the list of runs shows.
type runsPage struct {
	restapi.RunList
	Filter   map[string]string
	Filtered bool
	Outcomes []string
	Live     string // the rows alone; "": they are not of the first page
	At       time.Time
	Pager    pager

	May      bool // start one
	Profiles []string
	Models   []string         // that may be asked which element is meant
	Order    restapi.RunOrder // what the form shows
	Fault    *fault.Error     // why it was not started
}

func (c *Console) runsNow(v *visit) (runsPage, error) {
	asked := v.URL.Query()
	p := runsPage{
		Filter: map[string]string{}, Outcomes: []string{trial.Passed, trial.Failed, trial.Running}, At: time.Now(),
		May: v.who.MayCall(), Profiles: c.Profiles(), Models: c.Models(v.who),
	}
	q := url.Values{}
	for _, name := range []string{"name", "outcome"} {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
			p.Filter[name], p.Filtered = value, true
		}
	}
	f := store.RunFilter{Name: q.Get("name"), Outcome: q.Get("outcome"), Before: asked.Get("cursor"), Limit: 50}
	var err error
	if p.RunList, err = c.Gateway.ListRuns(v.Context(), v.who, f); err != nil {
		return p, err
	}
	if p.Live = with(c.at("/runs/rows"), q, "", ""); f.Before != "" {
		p.Live, p.Pager.First = "", with(c.at("/runs"), q, "", "")
	}
	if p.Next != "" {
		p.Pager.Older = with(c.at("/runs"), q, "cursor", p.Next)
	}
	return p, nil
}

func (c *Console) listRuns(v *visit) (answer, error) {
	p, err := c.runsNow(v)
	if err != nil {
		return answer{}, err
	}
	return show("runs", p)
}

func (c *Console) runRows(v *visit) (answer, error) {
	p, err := c.runsNow(v)
	if err != nil {
		return answer{}, err
	}
	return part("runs", "rows", p)
}

// startRun starts a run of steps as they were pasted. What is refused stays in the form.
func (c *Console) startRun(v *visit) (answer, error) {
	in := restapi.RunOrder{Steps: trial.Text(v.PostForm.Get("steps")), Profile: v.PostForm.Get("profile"), Base: v.PostForm.Get("base"), Model: v.PostForm.Get("model")}
	id, err := c.Gateway.StartRun(v.Context(), v.who, in)
	if err == nil {
		return done("/runs/"+url.PathEscape(id), "runStarted")
	}
	f := fault.As(err)
	if f.Code == fault.Internal || f.Code == fault.Forbidden {
		return answer{}, err
	}
	p, err := c.runsNow(v)
	if err != nil {
		return answer{}, err
	}
	p.Order, p.Fault = in, f
	return show("runs", p)
}

func (c *Console) runAgain(v *visit) (answer, error) {
	id, err := c.Gateway.StartRun(v.Context(), v.who, restapi.RunOrder{Again: v.PathValue("id")})
	if err != nil {
		return answer{}, err
	}
	return done("/runs/"+url.PathEscape(id), "runStarted")
}

func (c *Console) runReport(v *visit) (answer, error) {
	form := v.URL.Query().Get("format")
	write, err := c.Gateway.RunReport(v.Context(), v.who, v.PathValue("id"), form)
	if err != nil {
		return answer{}, err
	}
	return answer{serve: func(w http.ResponseWriter, _ *http.Request) { write(w) }}, nil
}

func (c *Console) runPicture(v *visit) (answer, error) {
	write, err := c.Gateway.RunPicture(v.Context(), v.who, v.PathValue("id"), v.PathValue("n"))
	if err != nil {
		return answer{}, err
	}
	return answer{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "private, max-age=3600") // it does not change any more
		write(w)
	}}, nil
}

// runTone is the tone of an outcome of a run.
func runTone(outcome string) string {
	switch outcome {
	case trial.Passed:
		return "good"
	case trial.Failed:
		return "bad"
	case trial.Running:
		return "calm"
	}
	return "warn"
}
