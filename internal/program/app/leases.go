package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// endLost notes the end of chats and runs that were under way at gateways that have died, until ctx ends.
func (a *App) endLost(ctx context.Context) {
	look := func() {
		err := a.leases.Recover(ctx, store.ChatLease, a.runner.EndLost)
		var runs []store.Run
		if err == nil {
			runs, err = a.Store.DeadRuns(ctx, trial.Running, a.leases.Silent(), 0)
		}
		for _, row := range runs {
			err = errors.Join(err, a.lab.EndLost(ctx, row))
		}
		if err != nil && ctx.Err() == nil {
			a.log.Error("chats and runs of gateways that died not looked for", "error", fault.As(err))
		}
	}
	look()
	repeat.Every(ctx.Done(), a.leases.Silent()/2, look)
}

// UnderWay tells whether some gateway has a lease.
func (a *App) UnderWay(ctx context.Context, what store.Home) (bool, error) {
	holder, err := a.leases.Holder(ctx, what)
	return holder != "", err
}

// CancelWork ends the work under a lease, here or, by the path of the REST API, at the gateway that has it;
// false: none has.
func (a *App) CancelWork(ctx context.Context, who access.Principal, what store.Home, why error, path string) (bool, error) {
	if a.leases.Stop(what, why) {
		return true, nil
	}
	holder, err := a.leases.Holder(ctx, what)
	if err != nil || holder == "" || holder == a.self.ID() || path == "" {
		return false, err
	}
	elsewhere := fault.New(fault.Conflict, "it is under way at another gateway, which cannot be reached from here")
	if a.replicas == nil {
		return false, elsewhere
	}
	status, answer, err := a.replicas.Send(ctx, who, holder, http.MethodPost, a.started.BasePath+path)
	switch {
	case fault.Is(err, fault.NotFound):
		return false, elsewhere
	case err != nil:
		return false, err
	case status == http.StatusOK:
		return true, nil
	}
	var said struct{ Error *fault.Error }
	if json.Unmarshal(answer, &said) != nil || said.Error == nil {
		return false, fmt.Errorf("cancel %s %s at another gateway: status %d", what.Kind, what.Key, status)
	}
	return false, said.Error
}

// listInTurn lets one gateway at a time list a server. One that cannot ask the store lists it.
func (a *App) listInTurn(ctx context.Context, id tool.ServerID) (end func(), ok bool) {
	lease, err := a.leases.Take(ctx, store.Home{Kind: store.ListLease, Key: string(id)}, nil)
	switch {
	case errors.Is(err, replicas.ErrHeld):
		return nil, false
	case err != nil:
		return func() {}, true
	}
	return lease.End, true
}
