package restapi

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ApproveHeld approves held items of a server, or all of them without names.
func (a *API) ApproveHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error) {
	if err := a.mayDecide(who, id); err != nil {
		return 0, err
	}
	return a.Catalog.Approve(ctx, who.ID, id, names...)
}

// KeepOutHeld keeps held items of a server out until they are approved by name.
func (a *API) KeepOutHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error) {
	if err := a.mayDecide(who, id); err != nil {
		return 0, err
	}
	if len(names) == 0 {
		return 0, fault.New(fault.BadRequest, "nothing is named").
			WithHint("send {\"tools\": [names]}, with names that the server's \"held\" has")
	}
	return a.Catalog.KeepOut(ctx, who.ID, id, names...)
}

func (a *API) mayDecide(who access.Principal, id tool.ServerID) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	_, err := a.SeenServer(who, id)
	return err
}

// HeldList is what is held of a server.
type HeldList struct {
	Held []catalog.Held `json:"held"`
}

// HeldOf returns what is held of a server.
func (a *API) HeldOf(who access.Principal, id tool.ServerID) ([]catalog.Held, error) {
	if !who.MayRead() {
		return nil, who.Forbidden("%s may not read what is held")
	}
	return a.Catalog.Held(id)
}
