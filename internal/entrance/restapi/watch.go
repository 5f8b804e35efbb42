package restapi

import (
	"context"
	"net/url"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// CallWatch follows calls as they end.
type CallWatch struct {
	filter callFilter
	events *Events
	seat   *listener
	calls  <-chan store.Call
	end    func()
}

// WatchCalls follows the matching calls that the caller may see. The caller must close it.
func (a *API) WatchCalls(who access.Principal, q url.Values) (*CallWatch, error) {
	f, err := parseFilter(q, who)
	if err != nil {
		return nil, err
	}
	seat, err := a.Events.join(who.ID) // counted among the open connections
	if err != nil {
		return nil, err
	}
	a.Events.want(seat, map[string]bool{callFinished: true})
	calls, end := a.Events.records.Subscribe(callBuffer)
	return &CallWatch{f, a.Events, seat, calls, end}, nil
}

func (w *CallWatch) Close() {
	w.end()
	w.events.leave(w.seat)
}

// Tell calls tell with each call and each gap until ctx ends or tell fails; nil when the gateway
// stops.
func (w *CallWatch) Tell(ctx context.Context, tell func(c Call, gap bool) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.events.closing:
			return nil
		case c, open := <-w.calls:
			if !open {
				return nil
			}
			w.events.records.Drained(w.calls)
			_, gap := record.Lost(c)
			if !gap && !w.filter.matches(c) {
				continue
			}
			if err := tell(showCall(c, w.filter.who), gap); err != nil {
				return err
			}
		}
	}
}
