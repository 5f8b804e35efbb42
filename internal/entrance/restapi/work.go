package restapi

import (
	"context"
	"net/url"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Work knows what is under way under a lease, at this gateway or another.
type Work interface {
	UnderWay(ctx context.Context, what store.Home) (bool, error)
	// CancelWork ends it for a reason; false: it is not under way. The path is the route by which another
	// gateway is told; "": it is not.
	CancelWork(ctx context.Context, who access.Principal, what store.Home, why error, path string) (bool, error)
}

// CancelAnswer ends the answer that is being made in a session, at whichever gateway.
func (a *API) CancelAnswer(ctx context.Context, who access.Principal, id string) (Session, error) {
	return a.cancelAnswer(ctx, who, id, prefix+"/sessions/"+url.PathEscape(id)+"/cancel")
}

func (a *API) cancelAnswer(ctx context.Context, who access.Principal, id, path string) (Session, error) {
	s, err := a.ownSession(ctx, who, id, true)
	if err != nil {
		return Session{}, err
	}
	found, err := a.Work.CancelWork(ctx, who, agent.Lease(id), agent.ErrStopped, path)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "no answer is being made in session %s", id)
	}
	return showSession(s), err
}

// CancelRun ends a run that is under way, at whichever gateway. Its teardowns still run.
func (a *API) CancelRun(ctx context.Context, who access.Principal, id string) (Run, error) {
	return a.cancelRun(ctx, who, id, prefix+"/runs/"+url.PathEscape(id)+"/cancel")
}

func (a *API) cancelRun(ctx context.Context, who access.Principal, id, path string) (Run, error) {
	row, err := a.Store.RunSummary(ctx, id)
	if err != nil {
		return Run{}, err
	}
	k, err := seenRun(who, row)
	if err == nil && k.Principal != who.ID && !who.MayAdmin() {
		err = who.Forbidden("%s may not cancel runs of others")
	}
	if err != nil {
		return Run{}, err
	}
	found, err := a.Work.CancelWork(ctx, who, trial.Lease(id), trial.ErrCanceled, path)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "run %s is not under way", id)
	}
	return showRun(k), err
}

// cancels is a route that cancels what the id in its path names. A request that another gateway has passed
// on goes no further.
func cancels[T any](f func(ctx context.Context, who access.Principal, id, path string) (T, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		path := q.URL.EscapedPath()
		if access.IsPassedOn(q.Request) {
			path = ""
		}
		return f(q.Context(), q.who, q.id(), path)
	}
}
