package restapi

import (
	"context"
	"net/url"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// CallWatch hears of calls as they end, from when it was made until it is closed.
type CallWatch struct {
	filter callFilter
	events *Events
	seat   *listener
	calls  <-chan store.Call
	end    func()
}

// WatchCalls begins to listen to calls that the caller may see and that the query names.
// Close must follow.
func (a *API) WatchCalls(who access.Principal, q url.Values) (*CallWatch, error) {
	f, err := parseFilter(q, who)
	if err != nil {
		return nil, err
	}
	seat, err := a.Events.join(who.ID) // counted among the open connections
	if err != nil {
		return nil, err
	}
	calls, end := a.Events.records.Subscribe(callBuffer)
	return &CallWatch{f, a.Events, seat, calls, end}, nil
}

// Close ends it.
func (w *CallWatch) Close() {
	w.end()
	w.events.leave(w.seat)
}

// Tell tells of each call, and of gaps where there were too many, until ctx ends or tell
// does not want more; nil when the gateway goes down.
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
			if err := tell(showCall(c), gap); err != nil {
				return err
			}
		}
	}
}

// Pulse returns the calls of the last hour, minute by minute.
func (a *API) Pulse(who access.Principal) ([]record.Minute, error) {
	if !who.MayRead() {
		return nil, who.Lacks("%s may not read how others call")
	}
	return a.Events.records.Pulse(), nil
}
