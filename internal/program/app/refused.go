package app

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// maxRefused is how many refused callers are logged one by one in a minute; the rest are counted, so that nobody
// can fill the disk.
const maxRefused = 20

// refusals counts and logs who was not let in, and why, without what they sent.
type refusals struct {
	counted *prometheus.CounterVec
	log     *slog.Logger
	now     func() time.Time

	mu     sync.Mutex
	minute time.Time
	logged int
	more   map[string]int // that were not logged, by reason
}

// newRefused makes the counter of callers who were turned away. Its series begin at 0, for alerts that compare them.
func newRefused() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "toolfit_refused_total",
		Help: "Requests turned away at the door: without a key (missing), with a wrong or expired one (wrong), " +
			"for another host, of another site or without a role (forbidden), over the rate limit (rate).",
	}, []string{"reason"})
	for _, reason := range []string{"missing", "wrong", "forbidden", "rate"} {
		v.WithLabelValues(reason)
	}
	return v
}

// count counts a request that is turned away. Errors of our own are no refusals.
func (f *refusals) count(r *http.Request, err error) {
	switch {
	case fault.Is(err, fault.RateLimited):
		f.counted.WithLabelValues("rate").Inc()
	case fault.Is(err, fault.Forbidden):
		f.counted.WithLabelValues("forbidden").Inc()
	case fault.Is(err, fault.Unauthorized) && r.Header.Get("Authorization") == "":
		f.counted.WithLabelValues("missing").Inc()
	case fault.Is(err, fault.Unauthorized):
		f.counted.WithLabelValues("wrong").Inc()
	}
}

func (f *refusals) note(reason string, attrs ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush(f.now())
	if f.logged == maxRefused {
		f.more[reason]++
		return
	}
	f.logged++
	f.log.Warn("caller refused", append([]any{"reason", reason}, attrs...)...)
}

// sumUp logs how many were not logged, once their minute is over.
func (f *refusals) sumUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush(f.now())
}

// flush begins another minute if it is time. The caller holds f.mu.
func (f *refusals) flush(now time.Time) {
	if now.Sub(f.minute) < time.Minute {
		return
	}
	for reason, n := range f.more {
		f.log.Warn("more callers refused", "reason", reason, "count", n)
	}
	f.minute = now
	f.logged = 0
	f.more = map[string]int{}
}

// noteRefused counts and logs that the door did not let a request in.
func (a *App) noteRefused(r *http.Request, err error) {
	if err == nil {
		return // as nearly always: it costs nothing
	}
	a.refused.count(r, err)
	if !fault.Is(err, fault.Unauthorized) && !fault.Is(err, fault.Forbidden) {
		return
	}
	e := a.edge.Load()
	reason, key := e.door.Why(r)
	client, _, _ := e.proxies.Client(r)
	attrs := []any{"entrance", a.entrance(r), "remote", remote(client)}
	if key != "" {
		attrs = append(attrs, "key", key)
	}
	a.refused.note(reason, attrs...)
}

// entrance is the part of the gateway that a request is for.
func (a *App) entrance(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.Path, a.started.BasePath)
	for _, e := range [][2]string{{"/mcp", "mcp"}, {"/api/agent-retrieval/", "recall"}, {"/api/", "rest"}, {"/v1/", "chat"}, {"/metrics", "metrics"}} {
		if strings.HasPrefix(path, e[0]) {
			return e[1]
		}
	}
	return "console"
}

// noteCredential is noteRefused for pages, which people open without a credential to sign in there.
func (a *App) noteCredential(r *http.Request, err error) {
	if err != nil && r.Header.Get("Authorization") != "" {
		a.noteRefused(r, err)
	}
}
