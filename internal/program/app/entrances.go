package app

import (
	"cmp"
	"crypto/cipher"
	"crypto/rand"
	"net/http"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// entrances are what serves agents, services and people.
type entrances struct {
	edge    atomic.Pointer[edge]
	address atomic.Pointer[string] // where it listens; nil: not yet
	sealKey []byte                 // seals what clients send back; a reload must not change it
	links   links                  // for signing in
	passes  cipher.AEAD            // for people who have signed in

	arriving atomic.Bool // somebody's tokens are being got

	events   *restapi.Events
	requests *restapi.Metrics
	picker   *picker.Picker
	runner   *agent.Runner
	models   *endpoint.Client

	recalls       atomic.Pointer[recall.Service] // nil: not configured
	recallMetrics *recall.Metrics
}

// newEntrances makes what the gateway itself needs; startEntrances makes the rest, on top of it.
func (a *App) newEntrances() *entrances {
	key, _ := a.env("TOOLFIT_SECRET_KEY")
	e := &entrances{sealKey: []byte(cmp.Or(key, rand.Text())), passes: access.NewCipher("pass", nil)}
	e.picker = picker.New(a.pickBase, &picker.Options{Admit: a.mayPick, Replicas: pickReplicas{a}, Logger: a.log})
	return e
}

func (a *App) startEntrances() {
	a.models = endpoint.New()
	parts := agent.Parts{Config: a.Config, Tools: a.Catalog, Caller: a.Caller, Models: a.models, Sessions: a.Store, Leases: a.leases}
	a.runner = agent.New(parts, &agent.Options{
		Logger: a.log, Redact: a.secrets.redact, Called: a.events.AgentCalled, Metrics: agent.NewMetrics(a.registry),
	})
	a.requests = restapi.NewMetrics(a.registry)
	a.setRecall(a.Config())
	a.registerMetrics()
}

// close ends open streams and pages that wait for a person.
func (e *entrances) close() {
	e.events.Close()
	e.picker.Close()
	e.swapRecall(nil)
	e.models.Close()
}

// setRecall starts or stops action recall according to a configuration.
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

// swapRecall replaces the service, with nil for none, and closes the old one.
func (e *entrances) swapRecall(s *recall.Service) {
	if old := e.recalls.Swap(s); old != nil {
		old.Close()
	}
}

// served is the host and port of the listener; "" before there is one.
func (e *entrances) served() string {
	if address := e.address.Load(); address != nil {
		return *address
	}
	return ""
}

// serveRecall serves the routes of action recall if it is configured.
func (a *App) serveRecall(w http.ResponseWriter, r *http.Request) {
	if s := a.recalls.Load(); s != nil {
		s.ServeHTTP(w, r)
		return
	}
	refuseInJSON(w, r, fault.New(fault.NotFound, "action recall is not configured").WithHint("add recall to the configuration"))
}

// Recall is action recall for callers that admit accepts.
func (a *App) Recall(admit func(*http.Request) (access.Principal, error)) http.Handler {
	if s := a.recalls.Load(); s != nil {
		return s.For(admit)
	}
	return http.HandlerFunc(a.serveRecall)
}

// refuseRecall answers with an error in the form of these routes.
func (a *App) refuseRecall(w http.ResponseWriter, r *http.Request, err error) {
	if s := a.recalls.Load(); s != nil {
		s.Refuse(w, r, err)
		return
	}
	refuseInJSON(w, r, err)
}
