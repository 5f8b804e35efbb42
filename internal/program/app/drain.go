package app

import (
	"context"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

const (
	// callsEnd is how long open calls have when the gateway goes down.
	callsEnd = 10 * time.Second
	// callsDetach is when those that can go on without their requests do so: their callers get a handle. Those
	// that came later, from a balancer that has not noticed, have shortTime first.
	callsDetach = 8 * time.Second
	shortTime   = time.Second
)

// detachCalls detaches calls once callsDetach is over, until ctx ends.
func (a *App) detachCalls(ctx context.Context) {
	for wait := callsDetach; ; wait = shortTime / 10 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			a.Pool.Hurry(shortTime)
		}
	}
}

// parting closes each connection after its answer once we go down: the next request goes to another gateway, or
// comes on a new connection. An idle connection that we closed could be in use at that moment.
func (a *App) parting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// serveOn waits, if there are other gateways, until balancers have noticed that we go down.
func (a *App) serveOn() {
	if a.replicas != nil {
		time.Sleep(a.started.Replica.Drain)
	}
}

// handOver leaves sessions to the other gateways, if there are some: it ends streams, which clients take up
// elsewhere, and waits for open calls. The port stays open for their sake: the answers to their questions come
// through the others. It returns how long it waited.
func (a *App) handOver(l *inbound.Listener) time.Duration {
	if a.replicas == nil {
		return 0
	}
	began := time.Now()
	a.replicas.HandOver()
	go a.hangUp()
	for l.Busy() > 0 && time.Since(began) < callsEnd {
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

// hangUp ends the streams of clients and of people's pages.
func (a *App) hangUp() {
	a.sessions.Drain()
	a.passed.Drain()
	go a.picker.Close() // waits for its pages; Close does so as well
	a.events.Close()    // a server knows nothing of connections that were taken over
}
