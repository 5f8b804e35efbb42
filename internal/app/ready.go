package app

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
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

	mu     sync.Mutex
	asked  time.Time
	reason string // why not; "" when ready
}

// ready answers probes: 200, or 503 with the reason, while no requests should come here.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if reason := a.notReady(context.WithoutCancel(r.Context())); reason != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "not ready:", reason)
		return
	}
	fmt.Fprintln(w, "ready")
}

// notReady says why no requests should come here; "" when they may.
func (a *App) notReady(ctx context.Context) string {
	if a.readiness.draining.Load() {
		return "going down"
	}
	r := &a.readiness
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked.IsZero() && time.Since(r.asked) < readyFor {
		return r.reason
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	_, err := a.Store.Keys(ctx) // the smallest table
	was := r.reason
	r.asked, r.reason = time.Now(), ""
	if err != nil {
		r.reason = "the store cannot be read"
	}
	switch {
	case was == "" && err != nil:
		a.log.Error("not ready: the store cannot be read", "error", err)
	case was != "" && err == nil:
		a.log.Info("ready again")
	}
	return r.reason
}
