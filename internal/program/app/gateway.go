package app

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/core/project/jqworker"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/entrance/mcpserver"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/meaning"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/gateway/presence"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// gateway carries calls from the sessions of clients to servers.
type gateway struct {
	Pool    *upstream.Pool
	Catalog *catalog.Catalog
	Caller  *call.Caller
	Waiting *waiting.Calls      // calls that outlive their requests
	Env     *gatewayenv.Gateway // the gateway as an environment

	connections *oauth.Connections // to servers that take tokens
	desk        *approval.Desk     // asks people about calls

	carries  sync.Once          // of carryOn
	self     *replicas.Replicas // as the other gateways on the store know us
	replicas *replicas.Replicas // the same; nil: others do not reach us, and there is only one
	leases   *replicas.Leases   // what we do alone
	seats    *replicas.Seats
	passed   *mcp.Sessions // of other replicas, for what is here
	sessions *mcp.Sessions
	trace    *telemetry.Telemetry // nil: off
	front    *mcpserver.Server
	clients  *presence.Seen
	meaning  *meaning.Model
	lab      *trial.Lab
	scripts  *script.Runner // nil: there is no program to start
}

// startServers starts the pool of servers and loads their tools.
func (a *App) startServers(ctx context.Context) (err error) {
	a.trace, err = telemetry.New(a.started.Telemetry, &telemetry.Options{
		Version: a.opts.Version, Redact: a.secrets.redact, Logger: a.log, Env: a.env,
	})
	if err != nil {
		return err
	}
	a.seats = replicas.NewSeats(a.Store, a.replicas, a.started.BasePath, a.log)
	a.connections = a.newConnections()
	a.Pool = upstream.New(&upstream.Options{
		Seats:        a.seats,
		Credentials:  a.credentials,
		Advise:       a.advise,
		Version:      a.opts.Version,
		Builtins:     a.builtins(),
		Changed:      func(id tool.ServerID) { a.Catalog.Changed(id) },
		Opened:       a.opened,
		Updated:      func(id tool.ServerID, params json.RawMessage) { a.front.Updated(id, params) },
		MaxMessage:   a.started.Limits.Message,
		MaxProcesses: a.started.Limits.Processes,
		Trace:        a.trace,
		Redact:       a.secrets.redact,
		Logger:       a.log,
	})
	a.sessions = mcp.NewSessions(&mcp.SessionsOptions{
		Max: a.started.Limits.Sessions, Cipher: access.NewCipher("session", a.sealKey), Replica: a.replicaID(), Ended: a.sessionEnded,
		Over: a.hasEnded,
	})
	a.passed = a.newPassed()
	envTools, err := gatewayenv.Definitions()
	if err != nil {
		return err
	}
	own := call.OwnTools(a.opts.Program != "")
	own.Tests = trial.Definitions()
	own.Env = envTools
	self := mcp.Info{Name: "toolfit", Title: "toolfit", Version: cmp.Or(a.opts.Version, "dev")}
	var turn func(ctx context.Context, id tool.ServerID) (func(), bool)
	if a.replicas != nil {
		turn = a.listInTurn
	}
	a.Catalog, err = catalog.New(ctx, a.Pool, a.Store, &catalog.Options{
		Turn: turn, Changed: a.listChanged, Self: self.Implementation(), Own: own, Redact: a.secrets.redact, Logger: a.log,
	})
	return err
}

// startCalls applies the configuration and starts what carries calls.
func (a *App) startCalls() error {
	cfg := a.Config()
	a.Pool.Apply(cfg.Servers)
	a.Catalog.Apply(cfg)
	a.meaning = meaning.New(func() config.Embeddings { return a.Config().Embeddings }, &meaning.Options{Logger: a.log})
	a.Env = gatewayenv.New(gatewayenv.Parts{
		Config: a.Config, Catalog: a.Catalog, Store: a.Store, Version: a.opts.Version,
		Served: func() bool { return a.address.Load() != nil }, Recent: a.Records.Last, Redact: a.secrets.redact, Logger: a.log,
	})
	own, err := a.Env.Tools()
	if err != nil {
		return err
	}
	maps.Copy(own, a.testTools())
	a.Waiting = waiting.New(a.Store, &waiting.Options{
		GoOn:     func(ctx context.Context, l *waiting.Live) { a.Caller.GoOn(ctx, l) },
		Changed:  func(w store.Waiting) { a.front.CallChanged(w) },
		Watched:  func(id string) bool { return a.front.Watches(id) },
		Told:     a.Store.Listening,
		Canceled: func(w store.Waiting) { a.Caller.Canceled(w) },
		Replica:  a.self.ID(), Lease: a.opts.Lease, Logger: a.log,
	})
	a.desk = a.newDesk()
	if a.opts.Program != "" {
		a.scripts = script.New(a.opts.Program, nil)
	}
	a.Caller = call.New(a.Catalog, a.Pool, a.Records, &call.Options{
		Own: own, FindElements: a.describes, SignIn: a.askToSignIn, Approve: a.desk.Approve, Recipe: a.recipe,
		Metrics: call.NewMetrics(a.registry), Logger: a.log, Started: a.events.CallStarted,
		Results: a.Store, Retain: func() time.Duration { return a.Config().StoredResults.Retain }, JQ: a.jq(),
		PastResults: a.Store.Results, Uses: a.Store, Meaning: a.meaning, Background: a.work.Go, Redact: a.secrets.redact,
		Scripts: a.scripts, ScriptRuns: a.Store, Waiting: a.Waiting, Trace: a.trace, Count: access.NewLimits(a.Store, a.log).Count,
	})
	a.lab = a.newLab()
	a.clients = presence.New(nil)
	a.front = mcpserver.New(a.Catalog, a.Caller, a.Pool, &mcpserver.Options{
		Version: a.opts.Version, Key: a.sealKey, May: a.Env.May, Logger: a.log,
		Waiting: a.Waiting, Trace: a.trace, Seen: a.clients, Replica: a.replicaID(), Hold: a.holdSession(),
		Changed: a.Catalog.Changed,
	})
	return nil
}

// close ends the sessions of clients and the servers.
func (g *gateway) close() {
	g.Pool.Leave()
	g.sessions.Close()
	g.passed.Close()
	g.Waiting.Close()
	if g.scripts != nil {
		g.scripts.Close()
	}
	g.front.Close()
	g.Pool.Close()
	g.meaning.Close()
	g.trace.Close()
	g.leases.Close()
	g.self.Close()
}

// jq runs the jq programs of models in a process of their own; nil if there is no program to start.
func (a *App) jq() func(ctx context.Context, who, program string, value []byte) ([]byte, error) {
	if a.opts.Program == "" {
		return nil
	}
	return jqworker.New(a.opts.Program, nil).Run
}

// listChanged tells clients that a list of a profile has changed.
func (a *App) listChanged(profile, kind string) {
	a.sessions.Broadcast(profile, "notifications/"+kind+"/list_changed", nil)
	switch kind {
	case "tools":
		a.events.ToolsChanged(profile)
	case "resources":
		a.front.ResourcesChanged(profile)
	}
}

// opened is called when a session with a server has been opened.
func (a *App) opened(id tool.ServerID) {
	a.Catalog.Opened(id)
	a.work.Go(func() { a.front.Reopened(a.background, id) })
}
