// Package app puts the parts together: one App is a whole gateway, without a listener. The
// command line, the tests and the demo all run the same one.
//
//	a, err := app.New(ctx, cfg, &app.Options{Version: version})
//	defer a.Close()
//	err = a.Serve(ctx, listener, nil)
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/core/project/jqworker"
	"github.com/toolfit/toolfit/internal/entrance/mcpserver"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/meaning"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/integration/cloudbase/picker"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// App is a running gateway.
type App struct {
	Store   *store.Store
	Keys    *access.Keys
	Pool    *upstream.Pool
	Catalog *catalog.Catalog
	Records *record.Log
	Caller  *call.Caller
	Env     *gatewayenv.Gateway // the gateway as an environment

	opts     Options
	log      *slog.Logger
	registry *prometheus.Registry
	sessions *mcp.Sessions
	agents   *mcpserver.Server
	meaning  *meaning.Model
	events   *restapi.Events
	picker   *picker.Picker
	links    links // by which people sign in
	requests *restapi.Metrics
	lab      *trial.Lab
	running  atomic.Int32   // runs of browser tests that go on by themselves
	tests    sync.WaitGroup // the same; they end before the servers, which their teardowns need

	recallMetrics *recall.Metrics

	started   *config.Config                // what New was given
	current   atomic.Pointer[config.Config] // what is in force
	edge      atomic.Pointer[edge]
	secrets   secrets
	readiness readiness
	recalls   atomic.Pointer[recall.Service] // nil: not served
	address   atomic.Pointer[string]         // where it serves; nil: nowhere yet
	stored    atomic.Pointer[restapi.Stored]
	sealKey   []byte             // seals what clients bring back: the secret key, or one of this process
	look      time.Duration      // lookEvery, but for tests
	looks     chan chan struct{} // who waits for Watch to look at the file

	reloading sync.Mutex     // one change of the configuration at a time; guards what follows
	file      *config.Config // what the file says
	added     []addedServer  // what the store says
	rules     rulebook
	book      agentBook

	background context.Context // of work beside the calls; ends with Close
	stop       context.CancelFunc
	work       sync.WaitGroup
}

// Options change an App. The zero value is usable.
type Options struct {
	Version string       // "" says "dev"
	Logger  *slog.Logger // nil: discard
	Program string       // this program, which runs the jq programs of models apart; "": they are not run
	// LocalSecret lets callers on this machine administer while there are no keys; "": nobody may.
	LocalSecret access.LocalSecret
	Env         func(string) (string, bool) // looks up TOOLFIT_SECRET_KEY and what stored servers name; nil: os.LookupEnv
}

// New opens the store, loads the catalog and begins to list servers. No server is
// waited for. Close ends what New began.
func New(ctx context.Context, cfg *config.Config, opts *Options) (*App, error) {
	a := &App{started: cfg, file: cfg, registry: prometheus.NewRegistry(), log: slog.New(slog.DiscardHandler), look: lookEvery, looks: make(chan chan struct{})}
	a.current.Store(cfg)
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.Env == nil {
		a.opts.Env = os.LookupEnv
	}
	key, err := SecretKey(a.opts.Env)
	if err != nil {
		return nil, err
	}
	a.sealKey = []byte(rand.Text()) // one for all: what is sealed outlives a change of the configuration
	if text, ok := a.opts.Env("TOOLFIT_SECRET_KEY"); ok && text != "" {
		a.sealKey = []byte(text)
	}
	a.secrets.add(cfg.Secrets)
	redact := a.secrets.redact
	if a.opts.Logger != nil {
		a.log = slog.New(redactingHandler{a.opts.Logger.Handler(), redact})
	}
	a.background, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	if a.Store, err = store.Open(ctx, cfg.Store, &store.Options{
		Durable: cfg.Records.Durable, SecretKey: key, Logger: a.log,
		SessionChanged: func(kind string, v store.Session) { a.events.SessionChanged(kind, v) },
	}); err != nil {
		return nil, err
	}
	a.Keys = access.New(a.Store, nil)
	a.edge.Store(a.newEdge(cfg, nil))
	a.Records = record.New(a.Store, &record.Options{Durable: cfg.Records.Durable, Logger: a.log, Redact: redact})
	if err := a.assemble(ctx, redact); err != nil {
		a.Records.Close(ctx)
		a.Store.Close()
		return nil, err
	}
	a.work.Go(func() { a.Catalog.Run(a.background) })
	a.work.Go(func() { a.housekeep(a.background) })
	a.work.Go(func() { a.events.Run(a.background) })
	a.work.Go(func() { a.followRules(a.background) })
	a.work.Go(func() { a.followKeys(a.background) })
	return a, nil
}

// assemble makes the parts above the store.
func (a *App) assemble(ctx context.Context, redact func(string) string) (err error) {
	a.picker = picker.New(a.pickBase, &picker.Options{Admit: a.mayPick, Logger: a.log})
	a.Pool = upstream.New(&upstream.Options{
		Version:      a.opts.Version,
		Builtins:     a.builtins(),
		Changed:      func(id tool.ServerID) { a.Catalog.Changed(id) },
		Opened:       a.opened,
		Updated:      func(id tool.ServerID, params json.RawMessage) { a.agents.Updated(id, params) },
		MaxMessage:   a.started.Limits.Message,
		MaxProcesses: a.started.Limits.Processes,
		Redact:       redact,
		Logger:       a.log,
	})
	// Beside the rest: a server that does not answer must not hold up whoever ends sessions.
	a.sessions = mcp.NewSessions(&mcp.SessionsOptions{Ended: func(s *mcp.Session) {
		a.Caller.EndSession(s.ID)
		a.work.Go(func() { a.agents.SessionEnded(a.background, s) })
	}})
	envTools, err := gatewayenv.Definitions()
	if err != nil {
		a.Pool.Close()
		return err
	}
	own := call.OwnTools(a.opts.Program != "")
	own.Tests = trial.Definitions()
	own.Env = envTools
	a.Catalog, err = catalog.New(ctx, a.Pool, a.Store, &catalog.Options{
		Changed: a.listChanged, Self: mcp.Info{Name: "toolfit", Title: "toolfit", Version: cmp.Or(a.opts.Version, "dev")}.Implementation(),
		Own: own, Redact: redact, Logger: a.log,
	})
	if err != nil {
		a.Pool.Close()
		return err
	}
	if err := errors.Join(a.readAdded(ctx), a.readRules(ctx), a.readAgents(ctx)); err != nil {
		a.Pool.Close()
		return err
	}
	a.events = restapi.NewEvents(a.sources(), a.Records)
	first := *a.started
	a.withAdded(&first)
	a.withRules(&first)
	a.withAgents(&first)
	a.current.Store(&first)
	a.Pool.Apply(first.Servers)
	a.Catalog.Apply(&first)
	a.meaning = meaning.New(func() config.Embeddings { return a.Config().Embeddings }, &meaning.Options{Logger: a.log})
	tools, err := a.environment()
	if err != nil {
		a.Pool.Close()
		return err
	}
	maps.Copy(tools, a.testTools())
	a.Caller = call.New(a.Catalog, a.Pool, a.Records, &call.Options{
		Own: tools, FindElements: a.describes, Metrics: call.NewMetrics(a.registry), Logger: a.log, Started: a.events.CallStarted,
		Results: a.Store, Retain: func() time.Duration { return a.Config().Kept.Retain }, JQ: a.jq(),
		PastResults: a.Store.Results, Uses: a.Store, Meaning: a.meaning, Background: a.work.Go, Redact: redact,
	})
	a.lab = a.newLab()
	a.agents = mcpserver.New(a.Catalog, a.Caller, a.Pool, &mcpserver.Options{Version: a.opts.Version, Key: a.sealKey, May: a.Env.May, Logger: a.log})
	a.startAgents()
	a.requests = restapi.NewMetrics(a.registry)
	a.setRecall(&first)
	a.registerMetrics()
	return nil
}

// jq runs programs of models in processes of their own; nil where there is no program to start.
func (a *App) jq() func(ctx context.Context, who, program string, value []byte) ([]byte, error) {
	if a.opts.Program == "" {
		return nil
	}
	return jqworker.New(a.opts.Program, nil).Run
}

// listChanged is told that a profile's list is another one now.
func (a *App) listChanged(profile, kind string) {
	a.sessions.Broadcast(profile, "notifications/"+kind+"/list_changed", nil)
	if kind == "tools" {
		a.events.ToolsChanged(profile)
	}
}

// opened is told that a session with a server is open.
func (a *App) opened(id tool.ServerID) {
	a.Catalog.Opened(id)
	a.work.Go(func() { a.agents.Reopened(a.background, id) })
}

// housekeep ends old sessions and drops old records.
func (a *App) housekeep(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		a.sessions.Sweep()
		a.checkStore(ctx) // it is said when the file has vanished, even if nobody asks
		keep := a.Config().Records
		if _, err := a.Store.TrimCalls(ctx, time.Now().Add(-keep.Retain)); err != nil && ctx.Err() == nil {
			a.log.Error("old records not dropped", "error", err)
		}
		if _, err := a.Store.TrimRecords(ctx, keep.MaxSize); err != nil && ctx.Err() == nil {
			a.log.Error("records over their size not dropped", "error", err)
		}
		kept := a.Config().Kept
		if _, err := a.Store.TrimResults(ctx, store.ResultLimits{Owner: kept.PerKey, Total: kept.MaxSize}); err != nil && ctx.Err() == nil {
			a.log.Error("old results not dropped", "error", err)
		}
		if _, err := a.Store.TrimRuns(ctx, time.Now().Add(-keep.Retain), maxRuns); err != nil && ctx.Err() == nil {
			a.log.Error("old runs not dropped", "error", err)
		}
		said := a.Config().Sessions
		if _, err := a.Store.TrimSessions(ctx, time.Now().Add(-said.Retain), store.SessionLimits{Owner: said.PerKey, Total: said.MaxSize}); err != nil && ctx.Err() == nil {
			a.log.Error("old sessions not dropped", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-a.Store.Due(): // much was added
		}
	}
}

// Close ends sessions, servers and background work, and writes what is left to write.
func (a *App) Close() error {
	a.readiness.draining.Store(true)
	a.stop()
	a.tests.Wait()
	a.events.Close()
	a.picker.Close()
	a.sessions.Close()
	a.agents.Close()
	a.Pool.Close()
	a.meaning.Close()
	a.swapRecall(nil)
	a.book.models.Close()
	a.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := a.Records.Close(ctx); err != nil {
		a.Store.Close()
		return fmt.Errorf("close records: %w", err)
	}
	return a.Store.Close()
}
