package app

import (
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// setRecall puts the action recall of a configuration in force, or takes it away.
func (a *App) setRecall(cfg *config.Config) {
	if cfg.Recall == nil {
		a.swapRecall(nil)
		return
	}
	if a.recallMetrics == nil {
		a.recallMetrics = recall.NewMetrics(a.registry)
	}
	s, err := recall.New(recall.Parts{
		Config: cfg, Catalog: a.Catalog, Caller: a.Caller, Admit: a.admit,
		Served: a.served, Key: a.sealKey, Metrics: a.recallMetrics, Logger: a.log,
	})
	if err != nil {
		a.log.Error("action recall stays as it was", "error", err)
		return
	}
	a.swapRecall(s)
}

// swapRecall puts another service in force, nil for none, and ends the old one.
func (a *App) swapRecall(s *recall.Service) {
	if old := a.recalls.Swap(s); old != nil {
		old.Close()
	}
}

// served is the host and port where the gateway listens; "" while it does not.
func (a *App) served() string {
	if address := a.address.Load(); address != nil {
		return *address
	}
	return ""
}

// serveRecall answers the routes of action recall while the configuration has it.
func (a *App) serveRecall(w http.ResponseWriter, r *http.Request) {
	if s := a.recalls.Load(); s != nil {
		s.ServeHTTP(w, r)
		return
	}
	refuseInJSON(w, r, fault.New(fault.NotFound, "action recall is not configured").WithHint("add recall to the configuration"))
}

// Recall is action recall for whoever admit lets in.
func (a *App) Recall(admit func(*http.Request) (access.Principal, error)) http.Handler {
	if s := a.recalls.Load(); s != nil {
		return s.For(admit)
	}
	return http.HandlerFunc(a.serveRecall)
}

// refuseRecall answers an error in the form of those routes.
func (a *App) refuseRecall(w http.ResponseWriter, r *http.Request, err error) {
	if s := a.recalls.Load(); s != nil {
		s.Refuse(w, r, err)
		return
	}
	refuseInJSON(w, r, err)
}
