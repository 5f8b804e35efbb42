package app

import (
	"cmp"
	"crypto/rand"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/integration/recall"
)

// entrances are what serves agents, services and people.
type entrances struct {
	edge    atomic.Pointer[edge]
	address atomic.Pointer[string] // where it listens; nil: not yet
	sealKey []byte                 // seals what clients send back; a reload must not change it
	links   links                  // for signing in

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
	e := &entrances{sealKey: []byte(cmp.Or(key, rand.Text()))}
	e.picker = picker.New(a.pickBase, &picker.Options{Admit: a.mayPick, Logger: a.log})
	return e
}

func (a *App) startEntrances() {
	a.models = endpoint.New()
	parts := agent.Parts{Config: a.Config, Tools: a.Catalog, Caller: a.Caller, Models: a.models, Sessions: a.Store}
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
	if service := e.recalls.Swap(nil); service != nil {
		service.Close()
	}
	e.models.Close()
}
