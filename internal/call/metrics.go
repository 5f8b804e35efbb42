package call

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/fit"
	"github.com/toolfit/toolfit/internal/project"
	"github.com/toolfit/toolfit/internal/store"
)

// Metrics count calls. A nil *Metrics counts nothing.
type Metrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	fits     *prometheus.CounterVec
	projects *prometheus.CounterVec
	tokens   *prometheus.CounterVec
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
	m.fits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "toolfit_fit_total", Help: "Arguments of calls that fitted as they were (as_is), after each kind of repair (repaired), or not at all (refused).",
	}, []string{"outcome", "repair"})
	m.projects = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "toolfit_project_total", Help: "Results that a rule or budget was for, by rule and what became of them (whole, projected, shape_mismatch, projection_failed, shadow).",
	}, []string{"rule", "outcome"})
	m.tokens = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "toolfit_call_tokens_total", Help: "Estimated tokens of tool calls: arguments (in), results as servers gave them (full), results as sent on (sent).",
	}, []string{"kind"})
	reg.MustRegister(m.calls, m.duration, m.bytes, m.fits, m.projects, m.tokens)
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
	m.tokens.WithLabelValues("in").Add(float64(c.TokensIn))
	m.tokens.WithLabelValues("full").Add(float64(c.TokensFull))
	m.tokens.WithLabelValues("sent").Add(float64(c.TokensSent))
}

// projected counts what became of a result that was to be cut.
func (m *Metrics) projected(rule *project.Active, cut *project.Cut) {
	if m == nil {
		return
	}
	id := ""
	if rule != nil {
		id = rule.ID
	}
	m.projects.WithLabelValues(id, string(cut.Outcome)).Inc()
}

// shadowed counts what a rule would have done.
func (m *Metrics) shadowed(rule *project.Active, cut *project.Cut) {
	if m == nil {
		return
	}
	outcome := "shadow"
	if cut.Outcome != project.Projected {
		outcome = string(cut.Outcome)
	}
	m.projects.WithLabelValues(rule.ID, outcome).Inc()
}

// fitted counts what became of a call's arguments.
func (m *Metrics) fitted(res fit.Result, err error) {
	switch {
	case m == nil:
	case err != nil:
		m.fits.WithLabelValues("refused", "").Inc()
	case len(res.Repairs) == 0:
		m.fits.WithLabelValues("as_is", "").Inc()
	default:
		for _, r := range res.Repairs {
			m.fits.WithLabelValues("repaired", string(r.Kind)).Inc()
		}
	}
}
