package restapi

import (
	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/record"
)

// Pulse is how the last hour was, minute by minute, for those who may read all calls.
func (a *API) Pulse(who access.Principal) ([]record.Minute, error) {
	if !who.MayRead() {
		return nil, fault.New(fault.Forbidden, "%s may not read how others call", who.Name)
	}
	return a.Events.records.Pulse(), nil
}
