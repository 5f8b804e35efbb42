package app

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
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
		URL: url, Version: cmp.Or(a.opts.Version, "dev"), Key: []byte(key), Admit: a.admit,
		Late: a.overdue, Silent: a.opts.Lease, Logger: a.log,
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

// holdSession stores what is held for a session; nil if there is only one replica.
func (g *gateway) holdSession() func(ctx context.Context, session string, held []byte) {
	if g.replicas == nil {
		return nil
	}
	return g.replicas.HoldSession
}

// leave tells the other replicas that we go down: what belongs to us is theirs from now on.
func (g *gateway) leave() {
	if g.replicas != nil {
		g.replicas.Leave()
	}
}

// overdue is called when other replicas may have taken over what belongs to us.
func (a *App) overdue() {
	if a.replicas == nil {
		return // it tells only while it holds a lease
	}
	a.sessions.HangUp()
	a.work.Go(func() { a.Pool.CheckSeats(a.background) })
}

// hasEnded tells whether a session was ended for good. While the store does not say so, it was not.
func (a *App) hasEnded(id string) bool {
	ctx, cancel := context.WithTimeout(a.background, time.Second)
	defer cancel()
	ended, err := a.Store.HasEnded(ctx, id)
	return err == nil && ended
}

// newPassed makes the sessions in which other replicas use what servers hold here for one caller each.
func (a *App) newPassed() *mcp.Sessions {
	return mcp.NewSessions(&mcp.SessionsOptions{
		Max:   1 << 20,
		Ended: func(s *mcp.Session) { a.Pool.EndSession(s.Group, time.Hour) }, // the caller may use another replica from now on
	})
}

// serveSeats serves other replicas the sessions of servers that are here.
func (a *App) serveSeats() http.Handler {
	front := mcp.NewFront(a.passed, &mcp.FrontOptions{MaxBody: a.started.Limits.Body + 64<<10, Logger: a.log})
	info := func() mcp.Info { return mcp.Info{Name: "toolfit", Version: a.opts.Version} }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.replicas == nil {
			http.NotFound(w, r)
			return
		}
		who, ok := a.replicas.Admitted(r)
		if !ok {
			w.WriteHeader(http.StatusGone) // it is for another that was here before
			return
		}
		q := r.URL.Query()
		session := q.Get("session")
		front.Serve(w, r, mcp.Entry{
			Owner: who.ID, Group: session, Info: info, Handler: a.Pool.ServeSeat(tool.ServerID(q.Get("server")), session, who.ID),
		})
	})
}

// sessionEnded lets go of a client's session.
func (a *App) sessionEnded(s *mcp.Session) {
	a.trace.ClientLeft(s)
	a.Caller.EndSession(s.ID)
	// In the background: a server that does not answer must not delay whoever ends sessions.
	a.work.Go(func() {
		if s.EndedForGood() {
			if err := a.Store.EndHome(a.background, s.ID); err != nil && a.background.Err() == nil {
				a.log.Error("the end of a session not stored", "error", fault.As(err))
			}
		}
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
