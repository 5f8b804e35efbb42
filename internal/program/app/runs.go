package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func (a *App) newLab() *trial.Lab {
	return trial.New(trial.Parts{
		Catalog: a.Catalog, Caller: a.Caller, Store: a.Store, Leases: a.leases, Metrics: trial.NewMetrics(a.registry),
		Hide: a.secrets.add, Chooser: a.chooser, NewID: a.Records.NewID, Tell: a.events.RunChanged, Logger: a.log,
		End: func(session string) {
			a.Caller.EndSession(session)
			a.Pool.EndSession(session, 0)
		},
	})
}

// modelsFor are the models that the caller's browser tests may ask: for administrators all, for others
// those of their agents. Asking costs money and shows the model a page.
func (a *App) modelsFor(who access.Principal) []string {
	agents := a.runner.Agents(who)
	var names []string
	for _, m := range a.Config().Models {
		if who.MayAdmin() || slices.ContainsFunc(agents, func(one config.Agent) bool { return one.Model == m.Name }) {
			names = append(names, m.Name)
		}
	}
	return names
}

// chooser asks a model which element a step of a browser test means.
func (a *App) chooser(who access.Principal, model string) (run.Chooser, error) {
	m := a.Config().ModelNamed(model)
	switch {
	case who.MayAdmin() && m == nil:
		return nil, fault.New(fault.NotFound, "there is no model %.100q", model).WithHint("add it to models in the configuration")
	case !slices.Contains(a.modelsFor(who), model):
		return nil, fault.New(fault.NotFound, "there is no model %.100q for %s", model, who.Name).
			WithHint("name the model of an agent of this profile, or leave it out")
	}
	choose := trial.ModelChooser(a.models, m)
	return func(ctx context.Context, c run.Choice) (string, error) {
		ref, err := choose(ctx, c)
		if err != nil { // it goes into reports, and endpoints repeat keys
			err = errors.New(a.secrets.redact(err.Error()))
		}
		return ref, err
	}, nil
}

// RunTests runs browser tests and stores the results.
func (a *App) RunTests(ctx context.Context, o trial.Order) (*trial.Run, error) {
	return a.lab.Run(ctx, o)
}

// describes finds the elements that an agent's own call of a browser tool describes.
func (a *App) describes(
	ctx context.Context, req *call.Request, entry *catalog.Entry, args json.RawMessage,
) (found, answer json.RawMessage, err error) {
	return a.lab.Describes(ctx, req, entry, args)
}

// testTools are the tools of the lab, which is created after the caller that needs them.
func (a *App) testTools() map[string]call.OwnTool {
	own := map[string]call.OwnTool{}
	for _, name := range []string{trial.RunSteps, trial.FindElement} {
		own[name] = func(ctx context.Context, req *call.Request, args json.RawMessage) (json.RawMessage, error) {
			return a.lab.Tools()[name](ctx, req, args)
		}
	}
	return own
}

const (
	// maxStarted is how many runs may be in the background.
	maxStarted    = 4
	maxStartedFor = time.Hour
)

// StartTests starts a run in the background.
func (a *App) StartTests(ctx context.Context, o trial.Order) (string, error) {
	if a.testRuns.Add(1) > maxStarted {
		a.testRuns.Add(-1)
		return "", fault.New(fault.UpstreamBusy, "%d runs are under way already", maxStarted).WithHint("try again later")
	}
	begun := make(chan string, 1)
	ended := make(chan error, 1)
	o.Started = func(id string) { begun <- id }
	a.tests.Go(func() {
		defer a.testRuns.Add(-1)
		ctx, cancel := context.WithTimeout(a.background, maxStartedFor)
		defer cancel()
		_, err := a.lab.Run(ctx, o)
		if err != nil && a.background.Err() == nil {
			a.log.Error("run of browser tests not finished", "error", err)
		}
		ended <- err
	})
	select {
	case id := <-begun:
		return id, nil
	case err := <-ended:
		if err == nil { // both are ready
			return <-begun, nil
		}
		return "", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
