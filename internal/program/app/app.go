// Package app assembles the parts: an App is a whole gateway, without a listener. The command
// line, the tests and the demo all run the same one.
//
//	a, err := app.New(ctx, cfg, &app.Options{Version: version})
//	defer a.Close()
//	err = a.Serve(ctx, listener, nil)
package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// App is a running gateway. Each of its parts starts and ends as a whole.
type App struct {
	*settings
	*storage
	*entrances
	gateway

	opts     Options
	log      *slog.Logger
	registry *prometheus.Registry

	background context.Context // of work besides the calls; ends with Close
	stop       context.CancelFunc
	work       sync.WaitGroup
	refused    *refusals
	seen       chan store.Person // who has come in and is to be noted
	testRuns   atomic.Int32      // of browser tests in the background
	tests      sync.WaitGroup    // the same; they end before the servers, which their teardowns need
}

// Options change an App. The zero value is usable.
type Options struct {
	Version string       // "" means "dev"
	Logger  *slog.Logger // nil: discard
	// AccessLog logs each request.
	AccessLog bool
	Home      string // of the user, whose MCP clients may have servers to begin with; "": nobody looks
	Program   string // this program, which runs the jq programs of models; "": they are not run
	// LocalSecret lets callers on this machine administer while there are no keys; "": nobody may.
	LocalSecret access.LocalSecret
	Lease       time.Duration               // how long another gateway may be silent before its calls and sessions are taken over; 0: 20 s
	Env         func(string) (string, bool) // looks up TOOLFIT_SECRET_KEY and variables of stored servers; nil: os.LookupEnv
}

// New opens the store, loads the catalog and starts to list servers, without waiting for them.
// Close ends what New started.
func New(ctx context.Context, cfg *config.Config, opts *Options) (*App, error) {
	a := &App{registry: prometheus.NewRegistry(), seen: make(chan store.Person, 100)}
	if opts != nil {
		a.opts = *opts
	}
	a.settings = newSettings(cfg, &a.opts)
	a.settings.changed = a.applyChange
	a.log = a.settings.log
	a.refused = &refusals{counted: newRefused(), log: a.log, now: time.Now}
	a.background, a.stop = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	a.storage, err = openStorage(ctx, a.settings, func(kind string, v store.Session) { a.events.SessionChanged(kind, v) })
	if err != nil {
		return nil, err
	}
	a.entrances = a.newEntrances()
	if err := a.start(ctx); err != nil {
		a.stop()
		a.leave()
		if a.Pool != nil {
			a.Pool.Close()
		}
		if a.self != nil {
			a.self.Close()
		}
		return nil, errors.Join(err, a.storage.close())
	}
	return a, nil
}

// start starts the parts above the store, and the background work.
func (a *App) start(ctx context.Context) error {
	if err := a.startReplicas(ctx); err != nil {
		return err
	}
	if err := a.startServers(ctx); err != nil {
		return err
	}
	if err := a.settings.open(ctx, a.Store); err != nil {
		return err
	}
	a.edge.Store(a.newEdge(a.Config(), nil))
	a.events = restapi.NewEvents(a.sources(), a.Records)
	if err := a.startCalls(); err != nil {
		return err
	}
	a.startEntrances()
	for _, work := range []func(context.Context){
		a.Catalog.Run, a.housekeep, a.watchMemory, a.events.Run, a.judgeNowAndThen, a.followKeys, a.endLost, a.notePeople,
	} {
		a.work.Go(func() { work(a.background) })
	}
	if a.replicas != nil {
		a.work.Go(func() { a.replicas.Run(a.background) })
	}
	return nil
}

// Close ends sessions, servers and background work, and writes pending records.
func (a *App) Close() error {
	a.draining.Store(true)
	a.leave()
	a.stop()
	a.tests.Wait()
	a.entrances.close()
	a.gateway.close()
	a.work.Wait()
	return a.storage.close()
}

// watchMemory takes and gives memory as it is needed.
func (a *App) watchMemory(ctx context.Context) {
	var memory memory
	repeat.Every(ctx.Done(), time.Second, memory.everySecond)
}

// housekeep ends old sessions and deletes old records.
func (a *App) housekeep(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	checked := time.Now()
	for {
		a.sessions.Sweep()
		a.passed.Sweep()
		if time.Since(checked) >= time.Hour { // what is not claimed for a day is deleted
			a.Pool.CheckSeats(ctx)
			checked = time.Now()
		}
		a.checkStore(ctx) // logs if the file has vanished, without being asked
		a.trim(ctx, a.Config())
		a.measure(ctx)
		a.noteUses(ctx)
		a.refused.sumUp()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-a.Store.TrimDue():
		}
	}
}
