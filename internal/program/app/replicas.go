package app

import (
	"cmp"
	"context"

	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/mcp"
)

// startReplicas makes us one of several gateways, if we were told where the others reach us.
func (a *App) startReplicas(ctx context.Context) error {
	named, _ := a.env("TOOLFIT_REPLICA_URL")
	url := cmp.Or(a.started.Replica.URL, named)
	if url == "" {
		return nil
	}
	key, _ := a.env("TOOLFIT_SECRET_KEY")
	one, err := replicas.New(a.Store, &replicas.Options{
		URL: url, Version: cmp.Or(a.opts.Version, "dev"), Key: []byte(key), Admit: a.admit,
		Late: func() { a.sessions.HangUp() }, Silent: a.opts.Lease, Logger: a.log,
	})
	if err != nil {
		return err
	}
	if err := one.Beat(ctx); err != nil {
		return err
	}
	a.replicas = one
	return nil
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
