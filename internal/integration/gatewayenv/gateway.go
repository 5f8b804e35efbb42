// Package gatewayenv is the gateway itself as an environment: what it is, its profiles and
// agents, what was called in it, and its sessions, by the tools of the environment protocol.
// Callers see their own calls and sessions; those who may read see everybody's.
//
// It never calls a tool of a server, never decides who comes in, and keeps nothing itself:
// logs are the records of calls, and sessions are in the store.
//
//	g := gatewayenv.New(gatewayenv.Parts{Config: config, Catalog: cat, Store: st})
//	tools, err := g.Tools()
//	raw, err := tools["env_query_logs"](ctx, &call.Request{Principal: who, Profile: "default"}, args)
package gatewayenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

type Catalog interface {
	Listed(ctx context.Context, profile string) (*catalog.View, error) // waits for servers that were never listed
}

// Parts are what a Gateway is made of.
type Parts struct {
	Config  func() *config.Config // what is in force
	Catalog Catalog
	Store   *store.Store
	Version string                   // "": not stated
	Served  func() bool              // tells whether events and metrics can be had, over HTTP; nil: they cannot
	Recent  func(n int) []store.Call // the newest calls, which the store may not have yet, the newest first; nil: it has all
	Redact  func(string) string      // takes secrets out of what agents are told; nil: there are none
	Logger  *slog.Logger             // nil: discard
}

// Gateway is the gateway as an environment.
type Gateway struct{ parts Parts }

// New makes a Gateway.
func New(parts Parts) *Gateway {
	if parts.Served == nil {
		parts.Served = func() bool { return false }
	}
	if parts.Recent == nil {
		parts.Recent = func(int) []store.Call { return nil }
	}
	if parts.Redact == nil {
		parts.Redact = func(text string) string { return text }
	}
	if parts.Logger == nil {
		parts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Gateway{parts}
}

// Definitions returns the tools as lists show them, named with an underscore.
func Definitions() ([]json.RawMessage, error) {
	opts := (&Gateway{}).Options(access.Principal{}, "")
	opts.Names = env.NamesUnderscore
	tools, err := env.ProtocolTools(opts)
	if err != nil {
		return nil, fmt.Errorf("gateway as an environment: %w", err)
	}
	all := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		all[i], err = t.Definition()
		if err != nil {
			return nil, fmt.Errorf("gateway as an environment: %w", err)
		}
	}
	return all, nil
}

// Tools returns the tools under both names.
func (g *Gateway) Tools() (map[string]call.OwnTool, error) {
	named, err := env.ProtocolTools(g.Options(access.Principal{}, ""))
	if err != nil {
		return nil, fmt.Errorf("gateway as an environment: %w", err)
	}
	all := make(map[string]call.OwnTool, len(named))
	for i, t := range named {
		all[t.Name] = func(ctx context.Context, req *call.Request, args json.RawMessage) (json.RawMessage, error) {
			tools, err := env.ProtocolTools(g.Options(req.Principal, req.Profile)) // the same ones, for this caller
			if err != nil {
				return nil, err
			}
			raw, err := tools[i].Result(ctx, args)
			if errors.Is(err, env.ErrPanicked) {
				g.parts.Logger.Error("environment tool", "tool", t.Name, "error", err)
			}
			if raw != nil {
				err = nil // the result says it
			}
			return raw, err
		}
	}
	return all, nil
}

// Options is the environment as the caller sees it in a profile.
func (g *Gateway) Options(who access.Principal, profile string) *env.Options {
	return &env.Options{
		Meta:         env.Meta{ID: "toolfit", DisplayName: "toolfit", Version: g.parts.Version},
		Names:        env.NamesBoth,
		Describe:     func(ctx context.Context) (env.EnvDescription, error) { return g.describe(ctx, who, profile) },
		ListProfiles: func(ctx context.Context) ([]env.Profile, error) { return g.profiles(ctx, who) },
		QueryLogs:    func(ctx context.Context, q env.LogQuery) ([]env.LogEntry, error) { return g.logs(ctx, who, q) },
		Sessions:     g.Sessions(who),
	}
}

func (g *Gateway) describe(ctx context.Context, who access.Principal, profile string) (env.EnvDescription, error) {
	profiles, err := g.profiles(ctx, who)
	if err != nil {
		return env.EnvDescription{}, err
	}
	view, err := g.parts.Catalog.Listed(ctx, profile)
	if err != nil {
		return env.EnvDescription{}, g.told(err)
	}
	served := g.parts.Served()
	d := env.EnvDescription{ID: "toolfit", DisplayName: "toolfit", Version: g.parts.Version, Profiles: profiles}
	d.Capabilities = env.Capabilities{Logs: true, Sessions: true, Profiles: true, Events: served, Metrics: served && who.MayRead()}
	for _, e := range view.As(who).Entries {
		d.Capabilities.MCPTools = d.Capabilities.MCPTools || !e.Own && who.MayCall()
	}
	d.Metadata = env.Metadata{"profile": profile}
	return d, nil
}

// told returns an error that the caller may see; others are logged.
func (g *Gateway) told(err error) error {
	var f *fault.Error
	var none *env.NotFoundError
	switch {
	case err == nil || errors.As(err, &none) || errors.Is(err, env.ErrTaken) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &f) && f.Code != fault.Internal:
		return f
	}
	g.parts.Logger.Error("environment tool", "error", err)
	return errors.New("internal error; the gateway's log says more")
}
