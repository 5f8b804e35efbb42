package restapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Tests starts runs of browser tests in the background.
type Tests interface {
	StartTests(ctx context.Context, o trial.Order) (id string, err error)
}

// Run is a run of browser tests as the API shows it.
type Run struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	DurationMS float64   `json:"duration_ms"`
	Outcome    string    `json:"outcome"`
	trial.Summary
	Results []json.RawMessage `json:"results,omitempty"` // of one run that has ended
}

func showRun(k *trial.Run) Run {
	return Run{ID: k.ID, At: k.At, DurationMS: float64(k.Duration.Microseconds()) / 1000, Outcome: k.Outcome, Summary: k.Summary}
}

// RunList is a page of runs, the newest first.
type RunList struct {
	Runs []Run  `json:"runs"`
	Next string `json:"next_cursor,omitempty"`
}

func (a *API) runs(q *request) (any, error) {
	limit, err := number(q.query, "limit", 1, maxPage)
	if err != nil {
		return nil, err
	}
	f := store.RunFilter{Name: q.query.Get("name"), Outcome: q.query.Get("outcome"), Before: q.query.Get("cursor"), Limit: limit}
	return a.ListRuns(q.Context(), q.who, f)
}

// ListRuns returns a page of runs. Callers see their own.
func (a *API) ListRuns(ctx context.Context, who access.Principal, f store.RunFilter) (RunList, error) {
	f.Limit = cmp.Or(f.Limit, defaultPage)
	out := RunList{Runs: []Run{}}
	for { // whose a run is stands in its summary, so a page may take several looks
		rows, err := a.Store.Runs(ctx, f)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			k, err := trial.Read(row)
			if err != nil {
				return out, err
			}
			if !who.MayRead() && k.Principal != who.ID {
				continue
			}
			out.Runs = append(out.Runs, showRun(k))
			if len(out.Runs) == f.Limit {
				out.Next = row.Cursor()
				return out, nil
			}
		}
		if len(rows) < f.Limit {
			return out, nil
		}
		f.Before = rows[len(rows)-1].Cursor()
	}
}

// ReadRun returns a run that the caller may see, without pictures.
func (a *API) ReadRun(ctx context.Context, who access.Principal, id string) (*trial.Run, error) {
	row, err := a.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	return seenRun(who, row)
}

// seenRun reads a run that the caller may see.
func seenRun(who access.Principal, row store.Run) (*trial.Run, error) {
	k, err := trial.Read(row)
	if err != nil {
		return nil, err
	}
	return k, mayReadRun(who, k)
}

// RunPage returns a page of the steps of a run.
func (a *API) RunPage(ctx context.Context, who access.Principal, id string, number int) (*trial.Page, error) {
	row, err := a.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := trial.ReadPage(row, number)
	if err != nil {
		return nil, err
	}
	return p, mayReadRun(who, p.Run)
}

// mayReadRun hides runs of others from callers.
func mayReadRun(who access.Principal, k *trial.Run) error {
	if !who.MayRead() && k.Principal != who.ID {
		return fault.New(fault.NotFound, "there is no run %.100q", k.ID)
	}
	return nil
}

// oneRun is a run with all steps and the URLs of their pictures.
func (a *API) oneRun(q *request) (any, error) {
	k, err := a.ReadRun(q.Context(), q.who, q.id())
	if err != nil {
		return nil, err
	}
	out := showRun(k)
	numbers := map[*run.Image]int{}
	for n, s := range run.Steps(k.Results) {
		numbers[s.Screenshot] = n
	}
	for _, res := range k.Results {
		text, err := json.Marshal(shownResult(a.BasePath+prefix+"/runs/"+k.ID, res, numbers))
		if err != nil {
			return nil, err
		}
		out.Results = append(out.Results, text)
	}
	return out, nil
}

// RunReport writes the report of a run as JUnit XML, JSON or HTML.
func (a *API) RunReport(ctx context.Context, who access.Principal, id, form string) (func(http.ResponseWriter), error) {
	how, known := reportForms[form]
	if !known {
		return nil, fault.New(fault.BadRequest, "unknown format %.100q", form).WithHint("use html, junit or json")
	}
	k, err := a.ReadRun(ctx, who, id)
	if err != nil {
		return nil, err
	}
	if how.pictures {
		pictures, err := a.Store.RunPictures(ctx, id)
		if err != nil {
			return nil, err
		}
		k.Fill(pictures)
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", how.kind)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox")
		how.write(w, k.Results) // a client that has left needs no answer
	}, nil
}

// RunPicture writes the picture of a step.
func (a *API) RunPicture(ctx context.Context, who access.Principal, id, number string) (func(http.ResponseWriter), error) {
	row, err := a.Store.RunSummary(ctx, id)
	if err != nil {
		return nil, err
	}
	if _, err := seenRun(who, row); err != nil {
		return nil, err
	}
	picture, err := a.picture(ctx, who, id, number)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", picture.Kind())
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Write(picture.Data) // a client that has left needs no answer
	}, nil
}

// picture reads the picture of a step; older runs have theirs in the report.
func (a *API) picture(ctx context.Context, who access.Principal, id, number string) (*run.Image, error) {
	none := fault.New(fault.NotFound, "run %s has no picture of step %.20q", id, number)
	step, err := strconv.Atoi(number)
	if err != nil {
		return nil, none
	}
	stored, err := a.Store.RunPicture(ctx, id, step)
	if !fault.Is(err, fault.NotFound) {
		return &run.Image{Type: stored.Type, Data: stored.Data}, err
	}
	k, err := a.ReadRun(ctx, who, id)
	if err != nil {
		return nil, err
	}
	if found := k.Picture(step); found != nil {
		return found, nil
	}
	return nil, none
}
