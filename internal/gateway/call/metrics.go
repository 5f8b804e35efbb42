package call

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Metrics count calls. A nil *Metrics counts nothing.
type Metrics struct {
	calls    *prometheus.CounterVec
	errors   *prometheus.CounterVec
	duration *prometheus.HistogramVec
	fits     *prometheus.CounterVec
	projects *prometheus.CounterVec

	// Metrics of every call, looked up once.
	bytes, tokens sizes
	asIs          prometheus.Counter
}

// sizes count arguments and results.
type sizes struct{ in, full, sent prometheus.Counter }

func newSizes(v *prometheus.CounterVec) sizes {
	return sizes{v.WithLabelValues("in"), v.WithLabelValues("full"), v.WithLabelValues("sent")}
}

func (s sizes) add(in, full, sent int64) {
	s.in.Add(float64(in))
	s.full.Add(float64(full))
	s.sent.Add(float64(sent))
}

// NewMetrics registers the metrics of calls.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{
		calls: counter("toolfit_calls_total",
			"Tool calls, by server and outcome (ok, tool_error, question, error, canceled).", "server", "outcome"),
		errors: counter("toolfit_call_errors_total", "Tool calls that did not end well, by server and code: that of our error, "+
			"tool_error where the tool reports one, rpc_error where the server answered with an error.", "server", "code"),
		fits: counter("toolfit_fit_total",
			"Arguments of calls that fitted as they were (as_is), after each kind of repair (repaired), or not at all (refused).",
			"outcome", "repair"),
		projects: counter("toolfit_project_total", "Results that a rule or budget was for, by rule and what became of them "+
			"(whole, projected, shape_mismatch, projection_failed, shadow).", "rule", "outcome"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "toolfit_call_seconds", Help: "How long tool calls took, by server.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 3, 10, 60},
		}, []string{"server"}),
	}
	const kinds = " of tool calls: arguments (in), results as servers gave them (full), results as sent on (sent)."
	bytes := counter("toolfit_call_bytes_total", "Bytes"+kinds, "kind")
	tokens := counter("toolfit_call_tokens_total", "Estimated tokens"+kinds, "kind")
	reg.MustRegister(m.calls, m.errors, m.duration, bytes, m.fits, m.projects, tokens)
	m.bytes = newSizes(bytes)
	m.tokens = newSizes(tokens)
	m.asIs = m.fits.WithLabelValues("as_is", "")
	return m
}

func (m *Metrics) observe(c *store.Call) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(string(c.Server), c.Outcome).Inc()
	switch c.Outcome {
	case outcomeToolError:
		m.errors.WithLabelValues(string(c.Server), c.Outcome).Inc()
	case outcomeError:
		m.errors.WithLabelValues(string(c.Server), errorCode(c.Code)).Inc()
	}
	m.duration.WithLabelValues(string(c.Server)).Observe(c.Duration.Seconds())
	m.bytes.add(c.BytesIn, c.BytesFull, c.BytesSent)
	m.tokens.add(c.TokensIn, c.TokensFull, c.TokensSent)
}

// errorCode is the label of a code. Those of JSON-RPC are numbers that servers choose, of which there could be any number.
func errorCode(code string) string {
	if _, err := strconv.Atoi(code); err == nil {
		return "rpc_error"
	}
	return code
}

// projected counts how a result was cut.
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

// fitted counts how a call's arguments were repaired.
func (m *Metrics) fitted(res fit.Result, err error) {
	switch {
	case m == nil:
	case err != nil:
		m.fits.WithLabelValues("refused", "").Inc()
	case len(res.Repairs) == 0:
		m.asIs.Inc()
	default:
		for _, r := range res.Repairs {
			m.fits.WithLabelValues("repaired", string(r.Kind)).Inc()
		}
	}
}
