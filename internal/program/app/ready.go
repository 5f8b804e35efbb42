package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	// readyFor is how long an answer about the store counts, so that no probe can load it.
	readyFor = time.Second
	// readyWithin is how long the store may take.
	readyWithin = 2 * time.Second
)

// readiness knows whether requests can be served.
type readiness struct {
	draining atomic.Bool

	mu    sync.Mutex
	asked time.Time
	store error // why nothing can be written to the store; nil when it can
}

// ready answers probes: 503 with the reason while no requests should come here. A store that
// cannot be written to is such a reason only where calls must be on record.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if a.readiness.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready: going down")
		return
	}
	err := a.checkStore(r.Context())
	switch {
	case err == nil:
		fmt.Fprintln(w, "ready")
	case a.started.Records.Durable:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready:", reason(err))
	default:
		fmt.Fprintln(w, "degraded:", reason(err))
	}
}

// reason is what a probe is told; the log has the rest.
func reason(err error) string {
	if f := fault.As(err); f.Code != fault.Internal {
		return f.Message
	}
	return "the store cannot be written to"
}

// checkStore tries whether the store can be written to, once a second at most.
func (a *App) checkStore(ctx context.Context) error {
	r := &a.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < readyFor {
		return r.store
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	was := r.store
	r.store = a.Store.Writable(ctx)
	r.asked = time.Now()
	a.Records.ReportSink(r.store)
	switch {
	case was == nil && r.store != nil:
		a.log.Error("the store cannot be written to", "error", fault.As(r.store))
	case was != nil && r.store == nil:
		a.log.Info("the store can be written to again")
	}
	return r.store
}
