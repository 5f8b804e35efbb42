package call

import (
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestErrorsAreCountedByServerAndACodeThatServersCannotInvent(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	for _, c := range []store.Call{
		{Server: "files", Outcome: outcomeOK},
		{Server: "files", Outcome: outcomeQuestion},
		{Server: "files", Outcome: outcomeCanceled, Code: "canceled"},
		{Server: "files", Outcome: outcomeToolError},
		{Server: "files", Outcome: outcomeError, Code: "upstream_down"},
		{Server: "files", Outcome: outcomeError, Code: "-32602"},
		{Server: "files", Outcome: outcomeError, Code: "4711"},
		{Outcome: outcomeError, Code: "unknown_tool"}, // of no server
	} {
		m.observe(&c)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "toolfit_call_errors_total" {
			continue
		}
		for _, one := range f.GetMetric() { // labels are sorted: code, server
			got[one.GetLabel()[1].GetValue()+" "+one.GetLabel()[0].GetValue()] = one.GetCounter().GetValue()
		}
	}
	want := map[string]float64{"files tool_error": 1, "files upstream_down": 1, "files rpc_error": 2, " unknown_tool": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
