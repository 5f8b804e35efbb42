package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/recipes"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// settings is the configuration in force: what the file says, with the servers, rules, agents
// and recipes of the store.
type settings struct {
	started *config.Config                // what New was given
	current atomic.Pointer[config.Config] // the current configuration
	env     func(string) (string, bool)
	secrets secrets
	log     *slog.Logger // redacts the secrets
	looks   chan chan struct{}
	// changed applies a configuration to the running gateway.
	changed func(old, next *config.Config, change Change)

	reloading sync.Mutex     // one change at a time; guards what follows
	file      *config.Config // what the file says
	store     *store.Store
	servers   *overlay.Overlay[config.Server]
	rules     *overlay.Overlay[project.Rule]
	agents    *overlay.Overlay[config.Agent]
	recipes   *overlay.Overlay[recipes.Recipe]
}

func newSettings(cfg *config.Config, opts *Options) *settings {
	s := &settings{started: cfg, file: cfg, env: opts.Env, log: slog.New(slog.DiscardHandler), looks: make(chan chan struct{})}
	if s.env == nil {
		s.env = os.LookupEnv
	}
	s.secrets.add(cfg.Secrets)
	if opts.Logger != nil {
		s.log = slog.New(redactingHandler{opts.Logger.Handler(), s.secrets.redact})
	}
	s.current.Store(cfg)
	return s
}

// open reads what the store adds to the file.
func (s *settings) open(ctx context.Context, st *store.Store) error {
	s.store = st
	s.servers = overlay.New(s.serverKind(st), s.log, s.secrets.redact)
	s.rules = overlay.New(ruleKind(st), s.log, s.secrets.redact)
	s.agents = overlay.New(agentKind(st), s.log, s.secrets.redact)
	s.recipes = overlay.New(recipeKind(st), s.log, s.secrets.redact)
	_, noServers := s.servers.Read(ctx)
	_, noRules := s.rules.Read(ctx)
	_, noAgents := s.agents.Read(ctx)
	_, noRecipes := s.recipes.Read(ctx)
	first := *s.started
	s.overlay(&first)
	s.current.Store(&first)
	return errors.Join(noServers, noRules, noAgents, noRecipes)
}

// overlay adds the entries of the store, and the rules of built-in servers, to those of the file.
func (s *settings) overlay(cfg *config.Config) {
	cfg.Servers = s.servers.Apply(cfg, cfg.Servers, recipeServers(s.recipes.Apply(cfg, nil, nil)))
	withPatience(cfg.Servers)
	cfg.Results = s.rules.Apply(cfg, withIDs(cfg.Results), builtinRules(cfg.Servers))
	cfg.Agents = s.agents.Apply(cfg, cfg.Agents, nil)
}

// refresh reads a part of the store again, with the Read of an overlay, and applies what has
// changed. The caller holds reloading.
func (s *settings) refresh(ctx context.Context, read func(context.Context) ([]string, error)) (changed []string, err error) {
	changed, err = read(ctx)
	if len(changed) > 0 {
		s.apply(s.file)
	}
	return changed, err
}

// remove deletes an entry of the store with the Delete of an overlay, and stops using it.
func (s *settings) remove(ctx context.Context, id string, del func(ctx context.Context, id string) (string, error),
	refresh func(context.Context) ([]string, error)) (warning string, err error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	warning, err = del(ctx, id)
	if err == nil {
		_, err = refresh(ctx)
	}
	return warning, err
}

// reread applies what others have changed in the store; what is such as "rules".
func (s *settings) reread(ctx context.Context, what string, refresh func(context.Context) ([]string, error)) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	changed, err := refresh(ctx)
	if len(changed) > 0 {
		s.log.Info(what+" of the store were changed", what, strings.Join(changed, " "))
	}
	return err
}

// Config is the configuration in force. It is read-only.
func (s *settings) Config() *config.Config { return s.current.Load() }

// Reload applies another configuration. Clients keep their sessions, and servers whose settings
// are unchanged keep theirs. What cannot change in a running gateway stays as it was, and the
// answer names it. It must not be called after Close.
func (s *settings) Reload(cfg *config.Config) Change {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	return s.apply(cfg)
}

// apply applies what the file says, with the entries of the store. The caller holds reloading.
func (s *settings) apply(file *config.Config) Change {
	s.file = file
	old := s.Config()
	next := *file
	restart := keepFixed(&next, s.started)
	s.overlay(&next)
	change := Change{Restart: restart, Settings: changedSettings(old, &next)}
	change.compare(old.Servers, next.Servers)
	s.secrets.add(next.Secrets) // first: from here on anybody may log
	if !change.Quiet() {
		s.current.Store(&next)
		s.changed(old, &next, change)
	}
	return change
}

// profiles are the names of the profiles in force.
func (s *settings) profiles() []string {
	var names []string
	for _, p := range s.Config().Profiles {
		names = append(names, p.Name)
	}
	return names
}
