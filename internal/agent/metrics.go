package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
)

// Metrics count what agents and models do. A nil *Metrics counts nothing.
type Metrics struct {
	chats, rounds, calls *prometheus.CounterVec // by agent
	failures, tokens     *prometheus.CounterVec // by model
}

// NewMetrics registers the metrics of agents.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		reg.MustRegister(v)
		return v
	}
	return &Metrics{
		chats: counter("toolfit_agent_chats_total", "Answers of agents, by how they ended (ok, limit, canceled, error).", "agent",
			"outcome"),
		rounds: counter("toolfit_agent_rounds_total", "Rounds of agents: how often they asked their models.", "agent"),
		calls: counter("toolfit_agent_calls_total", "Calls that models wanted, by what became of them (success, failed, skipped).",
			"agent", "status"),
		failures: counter("toolfit_model_errors_total", "Questions that models did not answer, by the code of the error.", "model", "code"),
		tokens: counter("toolfit_model_tokens_total", "Tokens of models (prompt, completion), as they say themselves, else estimated.",
			"model", "kind"),
	}
}

// answered counts a finished turn.
func (m *Metrics) answered(agent string, a *Answer, err error) {
	if m == nil {
		return
	}
	outcome := "ok"
	switch {
	case fault.Is(err, fault.Canceled):
		outcome = "canceled"
	case err != nil:
		outcome = "error"
	case a.Finish != "stop":
		outcome = "limit"
	}
	m.chats.WithLabelValues(agent, outcome).Inc()
	m.rounds.WithLabelValues(agent).Add(float64(a.Rounds))
	for _, s := range []conversation.Status{conversation.Success, conversation.Failed, conversation.Skipped} {
		m.calls.WithLabelValues(agent, string(s)) // shares are of all three from the first chat on
	}
	for _, c := range a.Calls {
		m.calls.WithLabelValues(agent, string(c.Status)).Inc()
	}
}

func (m *Metrics) spent(model string, u conversation.Usage) {
	if m != nil {
		m.tokens.WithLabelValues(model, "prompt").Add(float64(u.Prompt))
		m.tokens.WithLabelValues(model, "completion").Add(float64(u.Completion))
	}
}

// failed counts a request that the model did not answer.
func (m *Metrics) failed(model string, err error) {
	if m != nil {
		m.failures.WithLabelValues(model, string(fault.As(err).Code)).Inc()
	}
}
