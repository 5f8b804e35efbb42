package trial

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/browsertest/run"
)

// Metrics count what steps do. A nil *Metrics counts nothing.
type Metrics struct {
	cases, attempts, events *prometheus.CounterVec
	conversion              prometheus.Histogram
}

// NewMetrics registers the metrics of browser tests.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		cases: counter("toolfit_test_cases_total",
			"Cases of browser tests, by how they ended (passed, failed, error, skipped, flaky).", "status"),
		attempts: counter("toolfit_test_attempts_total",
			"What the steps of browser tests tried, by kind (call, find, recovery, choice of a model) and outcome (ok, failed).",
			"kind", "outcome"),
		events: counter("toolfit_test_events_total",
			"What happened in browser tests: ambiguous look-ups, stale refs, healed steps, flaky cases, look-ups from the cache.", "event"),
		conversion: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "toolfit_test_conversion_seconds", Help: "How long it took to fit the arguments of a step to the live tool.",
			Buckets: run.Buckets(),
		}),
	}
	m.observe(&run.Result{}) // so that they are there from the start
	for _, status := range []run.Status{run.Passed, run.Failed, run.Broken, run.Skipped, run.Flaky} {
		m.cases.WithLabelValues(string(status))
	}
	reg.MustRegister(m.cases, m.attempts, m.events, m.conversion)
	return m
}

func (m *Metrics) converted(d time.Duration) {
	if m != nil {
		m.conversion.Observe(d.Seconds())
	}
}

// observe adds up a suite.
func (m *Metrics) observe(r *run.Result) {
	if m == nil || r == nil {
		return
	}
	for _, c := range r.Cases {
		m.cases.WithLabelValues(string(c.Status)).Inc()
	}
	n := &r.Metrics
	for kind, s := range map[string]run.Share{"call": n.Calls, "find": n.Finds, "recovery": n.Recoveries, "choice": n.Choices} {
		m.attempts.WithLabelValues(kind, "ok").Add(float64(s.OK))
		m.attempts.WithLabelValues(kind, "failed").Add(float64(s.All - s.OK))
	}
	for event, count := range map[string]int{
		"ambiguous": n.Ambiguous, "stale": n.Stale, "healed": n.Healed, "flaky": n.Flaky, "cache_hit": n.CacheHits,
	} {
		m.events.WithLabelValues(event).Add(float64(count))
	}
}
