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

// Runs lists and starts runs of browser tests.
type Runs interface {
	ListRuns(ctx context.Context, who access.Principal, f store.RunFilter) (restapi.RunList, error)
	StartRun(ctx context.Context, who access.Principal, in restapi.RunOrder) (id string, err error)
	CancelRun(ctx context.Context, who access.Principal, id string) (restapi.Run, error)
}

// RunReports reads the results of a run.
type RunReports interface {
	RunPage(ctx context.Context, who access.Principal, id string, number int) (*trial.Page, error)
	RunReport(ctx context.Context, who access.Principal, id, form string) (func(http.ResponseWriter), error)
	RunPicture(ctx context.Context, who access.Principal, id, number string) (func(http.ResponseWriter), error)
}

func (c *Console) runsSection() section {
	return section{name: "runs", path: "/runs", key: "u", routes: map[string]handler{
		"GET /runs":                   page("runs", whole, c.listRuns),
		"GET /runs/rows":              page("runs", "rows", c.listRuns),
		"POST /runs":                  c.startRun,
		"GET /runs/{id}":              page("run", whole, c.readRun),
		"GET /runs/{id}/now":          page("run", "update", c.readRun),
		"POST /runs/{id}/again":       c.runAgain,
		"POST /runs/{id}/cancel":      c.cancelRun,
		"GET /runs/{id}/report":       c.runReport,
		"GET /runs/{id}/pictures/{n}": c.runPicture,
	}}
}

type runsPage struct {
	list
	restapi.RunList
	Outcomes []string
	Live     string // path of the live updates; "": this is not the first page
	At       time.Time

	May      bool // start a run
	Profiles []string
	Models   []string         // that may help to find elements
	Order    restapi.RunOrder // what the form contains
	Fault    *fault.Error     // why the run did not start
}

func (c *Console) listRuns(v *visit) (runsPage, error) {
	p := runsPage{
		list: c.listOf(v, "/runs", "name", "outcome"), At: time.Now(),
		Outcomes: []string{trial.Passed, trial.Failed, trial.Running, trial.Interrupted},
		May:      v.who.MayCall(), Profiles: c.Profiles(), Models: c.Models(v.who),
	}
	if p.First {
		p.Live = with(c.at("/runs/rows"), p.query, "", "")
	}
	var err error
	f := store.RunFilter{Name: p.Filter["name"], Outcome: p.Filter["outcome"], Before: p.cursor, Limit: 50}
	p.RunList, err = c.Runs.ListRuns(v.Context(), v.who, f)
	p.older(p.Next)
	return p, err
}

// startRun runs pasted steps. If they are rejected, they stay in the form.
func (c *Console) startRun(v *visit) (answer, error) {
	in := restapi.RunOrder{Steps: trial.Text(v.PostForm.Get("steps")), Profile: v.PostForm.Get("profile"), Base: v.PostForm.Get("base"),
		Model: v.PostForm.Get("model")}
	id, err := c.Runs.StartRun(v.Context(), v.who, in)
	if err == nil {
		return done("/runs/"+url.PathEscape(id), "runStarted")
	}
	f := fault.As(err)
	if f.Code == fault.Internal || f.Code == fault.Forbidden {
		return answer{}, err
	}
	p, err := c.listRuns(v)
	p.Order = in
	p.Fault = f
	return answer{page: "runs", data: p}, err
}

func (c *Console) runAgain(v *visit) (answer, error) {
	id, err := c.Runs.StartRun(v.Context(), v.who, restapi.RunOrder{Again: v.PathValue("id")})
	if err != nil {
		return answer{}, err
	}
	return done("/runs/"+url.PathEscape(id), "runStarted")
}

func (c *Console) cancelRun(v *visit) (answer, error) {
	id := v.PathValue("id")
	if _, err := c.Runs.CancelRun(v.Context(), v.who, id); err != nil {
		return answer{}, err
	}
	return done("/runs/"+url.PathEscape(id), "runCanceled")
}

func (c *Console) runReport(v *visit) (answer, error) {
	form := v.URL.Query().Get("format")
	write, err := c.RunReports.RunReport(v.Context(), v.who, v.PathValue("id"), form)
	if err != nil {
		return answer{}, err
	}
	return serve(write)
}

func (c *Console) runPicture(v *visit) (answer, error) {
	write, err := c.RunReports.RunPicture(v.Context(), v.who, v.PathValue("id"), v.PathValue("n"))
	if err != nil {
		return answer{}, err
	}
	return serve(func(w http.ResponseWriter) {
		w.Header().Set("Cache-Control", "private, max-age=3600") // it never changes
		write(w)
	})
}
