package agent

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/script"
)

func TestAnAgentHasNoToolsThatAreSurelyDeniedToItsCaller(t *testing.T) {
	w := newWorld(t, `policy:
  - {name: a, then: deny, tools: [excel__apply_formula], who: {kinds: [local]}}
  - {name: b, then: deny, tools: [excel__read_data_from_excel], when: 'args.sheet_name != "Sheet1"', say: Only the first sheet.}
`, nil)
	w.script(script.Answer{Calls: []script.Call{
		{ID: "1", Name: "apply_formula", Arguments: `{"filepath":"a","sheet_name":"b","cell":"A1","formula":"=1"}`},
		{ID: "2", Name: "read_data_from_excel",
			Arguments: `{"filepath":"a","sheet_name":"Sheet2","start_cell":null,"end_cell":null,"preview_only":null}`},
	}}, readSheet, script.Answer{Text: "ok"})
	a := w.must(w.turn("helper", "go"))
	if strings.Contains(string(w.asked[0].Raw), "apply_formula") || len(w.asked[0].Tools) != 2 {
		t.Errorf("offered %s", w.asked[0].Raw)
	}
	if a.Calls[0].Status != conversation.Failed || a.Calls[1].Status != conversation.Failed || !strings.Contains(a.Calls[1].Error, "Only the first sheet.") {
		t.Errorf("%+v", a.Calls)
	}
	if len(w.sent) != 1 || w.sent[0].Tool != "read_data_from_excel" || !strings.Contains(string(w.sent[0].Params), "Sheet1") {
		t.Errorf("sent %+v", w.sent)
	}
}
