package restapi

import (
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Pulse is how the last hour was, minute by minute, for those who may read all calls.
func (a *API) Pulse(who access.Principal) ([]record.Minute, error) {
	if !who.MayRead() {
		return nil, who.Forbidden("%s may not read how others call")
	}
	return a.Events.records.Pulse(), nil
}
