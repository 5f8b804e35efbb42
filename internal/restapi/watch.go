package restapi

import (
	"context"
	"net/url"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/record"
)

// WatchCalls tells of the calls that end from now on, by the filters of the route and as far
// as the caller may read them, until ctx or the gateway ends or tell returns an error. A gap
// says that calls were missed, because tell was too slow.
func (a *API) WatchCalls(ctx context.Context, who access.Principal, q url.Values, tell func(c Call, gap bool) error) error {
	f, err := parseFilter(q, who)
	if err != nil {
		return err
	}
	l, err := a.Events.join() // counted among the open connections
	if err != nil {
		return err
	}
	defer a.Events.leave(l)
	calls, end := a.Events.records.Subscribe(callBuffer)
	defer end()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-a.Events.closing:
			return nil
		case c, open := <-calls:
			if !open {
				return nil
			}
			_, gap := record.Lost(c)
			if !gap && !f.hears(c) {
				continue
			}
			if err := tell(showCall(c), gap); err != nil {
				return err
			}
		}
	}
}
