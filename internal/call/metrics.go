package call

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/store"
)

// Metrics count calls. A nil *Metrics counts nothing.
type Metrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
}

// NewMetrics registers the metrics of calls.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_calls_total", Help: "Tool calls, by server and outcome (ok, tool_error, error, canceled).",
		}, []string{"server", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "toolfit_call_seconds", Help: "How long tool calls took, by server.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 3, 10, 60},
		}, []string{"server"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolfit_call_bytes_total", Help: "Bytes of tool calls: arguments (in), results as servers gave them (full), results as sent on (sent).",
		}, []string{"kind"}),
	}
	reg.MustRegister(m.calls, m.duration, m.bytes)
	return m
}

func (m *Metrics) observe(c *store.Call) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(string(c.Server), c.Outcome).Inc()
	m.duration.WithLabelValues(string(c.Server)).Observe(c.Duration.Seconds())
	m.bytes.WithLabelValues("in").Add(float64(c.BytesIn))
	m.bytes.WithLabelValues("full").Add(float64(c.BytesFull))
	m.bytes.WithLabelValues("sent").Add(float64(c.BytesSent))
}
