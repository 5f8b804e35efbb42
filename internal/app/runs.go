package app

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/call"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/steps/trial"
)

// maxRuns is how many runs of browser tests are kept.
const maxRuns = 1000

// newLab makes what runs browser tests.
func (a *App) newLab() *trial.Lab {
	return trial.New(trial.Parts{
		Catalog: a.Catalog, Caller: a.Caller, Store: a.Store, Metrics: trial.NewMetrics(a.registry),
		NewID: a.Records.NewID, Tell: a.events.RunChanged, Logger: a.log,
		End: func(session string) { a.Caller.EndSession(session); a.Pool.EndSession(session) },
	})
}

// RunTests runs browser tests and keeps what came of them.
func (a *App) RunTests(ctx context.Context, o trial.Order) (*trial.Kept, error) {
	return a.lab.Run(ctx, o)
}

// ownTools are the tools of the lab, which is made after the caller that they are for.
func (a *App) ownTools() map[string]call.OwnTool {
	own := map[string]call.OwnTool{}
	for _, name := range []string{catalog.RunSteps, catalog.FindElement} {
		own[name] = func(ctx context.Context, req *call.Request, args json.RawMessage) (json.RawMessage, error) {
			return a.lab.Tools()[name](ctx, req, args)
		}
	}
	return own
}
