// Package trial runs browser tests through the gateway: it filters cases, gives each worker a
// browser session of its own on the profile's playwright server, stores the run, and offers
// the same to agents as the tools run_steps and find_element.
//
// Every call of a step goes through package call, so it is authorized, fitted and recorded like
// any other. It never reads a file or the environment for an agent.
//
//	lab := trial.New(trial.Parts{Catalog: cat, Caller: caller, End: pool.EndSession, …})
//	run, err := lab.Run(ctx, trial.Order{Who: who, Profile: "default", Suites: suites, Workers: 2})
package trial

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Catalog knows what each profile sees.
type Catalog interface {
	View(profile string) (*catalog.View, error)
	Ready(ctx context.Context, profile string)
	Refresh(ctx context.Context, id tool.ServerID) error
}

// Caller makes calls.
type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
}

// Choosers makes a chooser of a model that somebody names, if that one may have it asked.
type Choosers func(who access.Principal, model string) (run.Chooser, error)

// Parts are what a Lab works with.
type Parts struct {
	Catalog Catalog
	Caller  Caller
	End     func(session string)   // ends what servers keep for a session
	Hide    func(secrets []string) // hears which texts no record may hold; nil: nobody does
	Store   Store                  // keeps runs; nil: they are not kept
	Leases  *replicas.Leases       // say which runs are under way at some gateway; nil: those of this process
	Metrics *Metrics               // nil: not counted
	Chooser Choosers               // nil: there are no models to ask
	NewID   func() string          // of runs, without a prefix
	Tell    func(Event)            // hears of runs; it must not block; nil: nobody does
	Logger  *slog.Logger           // one line per step; nil: none
	Now     func() time.Time       // nil: time.Now
}

// Lab runs browser tests.
type Lab struct {
	parts Parts
}

// New makes a Lab.
func New(p Parts) *Lab {
	if p.Tell == nil {
		p.Tell = func(Event) {}
	}
	if p.Hide == nil {
		p.Hide = func([]string) {}
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Leases == nil {
		p.Leases = replicas.NewLeases(nil)
	}
	return &Lab{parts: p}
}

func (l *Lab) now() time.Time { return l.parts.Now() }

// newID is the id of a run.
func (l *Lab) newID() string { return "run_" + strings.TrimPrefix(l.parts.NewID(), "c_") }

// Order is a run that somebody wants.
type Order struct {
	Who     access.Principal
	Profile string
	Server  tool.ServerID // that has the browser; "": the profile's only one
	Name    string        // of the run; "": its first suite's
	Suites  []*steps.Suite
	Sources map[string]string // the files as they were read, to run them again; may be nil
	Workers int               // each has a browser of its own; 0: one
	Model   string            // asked where words do not lead to one element; "": nobody is
	// Options of every case. ID, Secrets, Fit, Log, Done and Choose are the lab's.
	Options run.Options
	Started func(id string)                     // hears of the run as it begins; nil: nobody
	Done    func(file string, c run.CaseResult) // hears of each case as it ends, one after another; nil: nobody
}

// Run runs an order and stores the run. Failed tests are not an error.
func (l *Lab) Run(ctx context.Context, o Order) (*Run, error) {
	server, err := l.server(ctx, o.Profile, o.Server)
	if err != nil {
		return nil, err
	}
	if o.Options.Choose, err = l.chooser(o.Who, o.Model); err != nil {
		return nil, err
	}
	o.Options.Secrets = o.Secrets()
	l.parts.Hide(o.Options.Secrets)
	k, lease := l.begin(ctx, &o)
	defer lease.End()
	ctx = lease.Context()
	if o.Started != nil {
		o.Started(k.ID)
	}
	jobs := jobsOf(o.Suites)
	todo := make(chan *job, len(jobs))
	for _, j := range jobs {
		todo <- j
	}
	close(todo)
	var telling sync.Mutex
	done := func(file string, c run.CaseResult) {
		telling.Lock()
		defer telling.Unlock()
		l.caseDone(k, file, c)
		if o.Done != nil {
			o.Done(file, c)
		}
	}
	var working sync.WaitGroup
	for n := range max(1, min(o.Workers, len(jobs))) {
		working.Go(func() {
			w := l.worker(k, &o, server, n)
			defer w.session.close()
			for j := range todo {
				w.done = func(c run.CaseResult) { done(j.one.File, c) }
				j.result = w.runner.Suite(ctx, &j.one)
			}
		})
	}
	working.Wait()
	k.Results = merged(o.Suites, jobs)
	return k, l.finish(ctx, k)
}

// Secrets are the environment variables that the files name: pages of one may show those of another.
func (o *Order) Secrets() (list []string) {
	if o.Options.Env == nil {
		return nil
	}
	for _, s := range o.Suites {
		for _, name := range s.Env {
			if value, set := o.Options.Env(name); set && strings.TrimSpace(value) != "" && !slices.Contains(list, value) {
				list = append(list, value)
			}
		}
	}
	return list
}

// server is the one whose browser is used, with a list of tools that is its own of today.
func (l *Lab) server(ctx context.Context, profile string, id tool.ServerID) (tool.ServerID, error) {
	l.parts.Catalog.Ready(ctx, profile)
	view, err := l.parts.Catalog.View(profile)
	if err != nil {
		return "", err
	}
	if id == "" {
		if id, err = browserOf(view); err != nil {
			return "", err
		}
	}
	// A stored list may be that of the version before.
	return id, l.parts.Catalog.Refresh(ctx, id)
}
