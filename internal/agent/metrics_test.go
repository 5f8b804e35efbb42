package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/toolfit/toolfit/internal/agent/script"
)

func TestWhatAgentsDoIsCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	w := newWorld(t, "  once: {model: native, capabilities: {max_tool_calls: 1}}\n", &Options{Metrics: NewMetrics(reg)})
	w.script(in("helper", "1", "read_data_from_excel", sheet), in("helper", "2", "nope", "{}"), script.Answer{Text: "Done."})
	w.must(w.turn("helper", "go"))

	w.script(script.Answer{Calls: []script.Call{{ID: "1", Name: "apply_formula", Arguments: "{}"},
		{ID: "2", Name: "apply_formula", Arguments: "{}"}}})
	w.must(w.turn("once", "go"))

	w.script(script.Answer{Status: 400, Message: "no"})
	if _, err := w.Answer(t.Context(), w.turn("helper", "go")); err == nil {
		t.Error("an error of the model was passed over")
	}
	left, cancel := context.WithCancel(t.Context())
	w.say = func(int, *script.Request) script.Answer { cancel(); return script.Answer{Text: "late"} }
	if _, err := w.Answer(left, w.turn("helper", "go")); err == nil {
		t.Error("the caller had left")
	}

	want := `
# HELP toolfit_agent_calls_total Calls that models wanted, by what became of them (success, failed, skipped).
# TYPE toolfit_agent_calls_total counter
toolfit_agent_calls_total{agent="helper",status="failed"} 1
toolfit_agent_calls_total{agent="helper",status="skipped"} 0
toolfit_agent_calls_total{agent="helper",status="success"} 1
toolfit_agent_calls_total{agent="once",status="failed"} 1
toolfit_agent_calls_total{agent="once",status="skipped"} 3
toolfit_agent_calls_total{agent="once",status="success"} 0
# HELP toolfit_agent_chats_total Answers of agents, by how they ended (ok, limit, canceled, error).
# TYPE toolfit_agent_chats_total counter
toolfit_agent_chats_total{agent="helper",outcome="canceled"} 1
toolfit_agent_chats_total{agent="helper",outcome="error"} 1
toolfit_agent_chats_total{agent="helper",outcome="ok"} 1
toolfit_agent_chats_total{agent="once",outcome="limit"} 1
# HELP toolfit_agent_rounds_total Rounds of agents: how often they asked their models.
# TYPE toolfit_agent_rounds_total counter
toolfit_agent_rounds_total{agent="helper"} 5
toolfit_agent_rounds_total{agent="once"} 2
# HELP toolfit_model_errors_total Questions that models did not answer, by the code of the error.
# TYPE toolfit_model_errors_total counter
toolfit_model_errors_total{code="upstream_error",model="native"} 1
`
	names := []string{"toolfit_agent_calls_total", "toolfit_agent_chats_total", "toolfit_agent_rounds_total", "toolfit_model_errors_total"}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(w.opts.Metrics.tokens); n != 2 {
		t.Errorf("%d kinds of tokens", n)
	}
}
