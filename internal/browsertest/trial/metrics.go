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
	m := &Metrics{
		cases: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_test_cases_total", Help: "Cases of browser tests, by how they ended (passed, failed, error, skipped, flaky).",
		}, []string{"status"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_test_attempts_total", Help: "What the steps of browser tests tried, by kind (call, find, recovery, choice of a model) and outcome (ok, failed).",
		}, []string{"kind", "outcome"}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_test_events_total", Help: "What happened in browser tests: ambiguous look-ups, stale refs, healed steps, flaky cases, look-ups from the cache.",
		}, []string{"event"}),
		conversion: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "toolfit_test_conversion_seconds", Help: "How long it took to fit the arguments of a step to the live tool.",
			Buckets: seconds(run.Buckets()),
		}),
	}
	m.observe(&run.Result{}) // so that they are there from the start
	for _, status := range []run.Status{run.Passed, run.Failed, run.Broken, run.Skipped, run.Flaky} {
		m.cases.WithLabelValues(string(status))
	}
	reg.MustRegister(m.cases, m.attempts, m.events, m.conversion)
	return m
}

func seconds(list []time.Duration) (out []float64) {
	for _, d := range list {
		out = append(out, d.Seconds())
	}
	return out
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
	for kind, s := range map[string]run.Share{"call": r.Metrics.Calls, "find": r.Metrics.Finds, "recovery": r.Metrics.Recoveries, "choice": r.Metrics.Choices} {
		m.attempts.WithLabelValues(kind, "ok").Add(float64(s.OK))
		m.attempts.WithLabelValues(kind, "failed").Add(float64(s.All - s.OK))
	}
	for event, n := range map[string]int{
		"ambiguous": r.Metrics.Ambiguous, "stale": r.Metrics.Stale, "healed": r.Metrics.Healed, "flaky": r.Metrics.Flaky, "cache_hit": r.Metrics.CacheHits,
	} {
		m.events.WithLabelValues(event).Add(float64(n))
	}
}
