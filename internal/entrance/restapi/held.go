package restapi

import (
	"context"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

func (a *API) approve(r *http.Request, who access.Principal) (any, error) {
	names, err := a.heldNames(r, who)
	if err != nil {
		return nil, err
	}
	n, err := a.ApproveHeld(r.Context(), who, tool.ServerID(r.PathValue("id")), names...)
	if err != nil {
		return nil, err
	}
	return map[string]int{"approved": n}, nil
}

func (a *API) keepOut(r *http.Request, who access.Principal) (any, error) {
	names, err := a.heldNames(r, who)
	if err != nil {
		return nil, err
	}
	n, err := a.KeepOutHeld(r.Context(), who, tool.ServerID(r.PathValue("id")), names...)
	if err != nil {
		return nil, err
	}
	return map[string]int{"kept_out": n}, nil
}

// heldNames are those of what an administrator decides about.
func (a *API) heldNames(r *http.Request, who access.Principal) ([]string, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	data, err := a.body(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Tools []string `json:"tools"` // or whatever else is held
	}
	if data != nil {
		if err := decode(data, &in); err != nil {
			return nil, fault.New(fault.BadRequest, "the body must be {\"tools\": [names]}: %w", err)
		}
	}
	return in.Tools, nil
}

// ApproveHeld lets through what is held of a server: the named ones, or without names all that
// wait.
func (a *API) ApproveHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error) {
	if err := a.mayDecide(who, id); err != nil {
		return 0, err
	}
	return a.Catalog.Approve(ctx, id, names...)
}

// KeepOutHeld decides that what is held of a server stays out until it is approved by name.
func (a *API) KeepOutHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error) {
	if err := a.mayDecide(who, id); err != nil {
		return 0, err
	}
	if len(names) == 0 {
		return 0, fault.New(fault.BadRequest, "nothing is named").WithHint("send {\"tools\": [names]}, with names that the server's \"held\" has")
	}
	return a.Catalog.KeepOut(ctx, id, names...)
}

func (a *API) mayDecide(who access.Principal, id tool.ServerID) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	_, err := a.SeenServer(who, id)
	return err
}

// HeldOf is what callers are not shown of a server, for those who may read all.
func (a *API) HeldOf(who access.Principal, id tool.ServerID) ([]catalog.Held, error) {
	if !who.MayRead() {
		return nil, who.Forbidden("%s may not read what is held")
	}
	return a.Catalog.Held(id)
}
