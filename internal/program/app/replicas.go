package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/mcp"
)

// startReplicas makes us one of several gateways, if we were told where the others reach us. Leases are
// shared with all gateways on the store in any case.
func (a *App) startReplicas(ctx context.Context) error {
	named, _ := a.env("TOOLFIT_REPLICA_URL")
	url := cmp.Or(a.started.Replica.URL, named)
	key, _ := a.env("TOOLFIT_SECRET_KEY")
	one, err := replicas.New(a.Store, &replicas.Options{
		URL: url, Version: cmp.Or(a.opts.Version, "dev"), Key: []byte(key), Admit: a.admit, Late: a.late, Silent: a.opts.Lease, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.leases = replicas.NewLeases(one)
	a.self = one
	if url == "" {
		return nil
	}
	if err := one.Beat(ctx); err != nil {
		return err
	}
	a.replicas = one
	return nil
}

// late is told when others may have taken our homes over.
func (a *App) late() {
	if a.replicas != nil {
		a.sessions.HangUp()
	}
}

// replicaID names us among the replicas; "" if there is only one.
func (g *gateway) replicaID() string {
	if g.replicas == nil {
		return ""
	}
	return g.replicas.ID()
}

// others are the other replicas; nil if there is only one.
func (g *gateway) others() mcp.Replicas {
	if g.replicas == nil {
		return nil
	}
	return g.replicas
}

// leave tells the other replicas that we go down: what belongs to us is theirs from now on.
func (g *gateway) leave() {
	if g.replicas != nil {
		g.replicas.Leave()
	}
}

// sessionEnded lets go of a client's session.
func (a *App) sessionEnded(s *mcp.Session) {
	a.trace.ClientLeft(s)
	a.Caller.EndSession(s.ID)
	// In the background: a server that does not answer must not delay whoever ends sessions.
	a.work.Go(func() {
		if a.replicas != nil && s.ID != "" {
			a.replicas.DropSession(a.background, s.ID)
		}
		a.front.SessionEnded(a.background, s)
	})
}

// catchUp applies what other replicas have changed until now, for a person who changed it there.
func (a *App) catchUp(ctx context.Context) {
	if a.replicas == nil {
		return
	}
	err := errors.Join(a.reread(ctx, "servers", a.serversChanged), a.reread(ctx, "rules", a.rulesChanged),
		a.reread(ctx, "agents", a.agentsChanged), a.followServers(ctx))
	if err != nil && ctx.Err() == nil {
		a.log.Error("changes of other gateways not read", "error", err)
	}
}
