package run_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// TestEveryVerbIsCarriedOut takes the verbs from the JSON Schema, which is generated from their table.
func TestEveryVerbIsCarriedOut(t *testing.T) {
	text, err := os.ReadFile("../steps/steps.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Action struct {
				OneOf []struct{ Required []steps.Action }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, verb := range schema.Defs.Action.OneOf {
		step := steps.Step{
			Action: verb.Required[0], Target: &steps.Target{Text: "Save"}, To: &steps.Target{Text: "Save"},
			Wait: &steps.Wait{}, Dialog: &steps.Dialog{}, Tab: &steps.Tab{Close: true},
		}
		suite := &steps.Suite{Cases: []steps.Case{{Name: "one", Steps: []steps.Step{step}}}}
		b := &fakeBrowser{tree: page("- button \"Save\" [ref=e1]\n")}
		got := b.runner(run.Options{}).Suite(t.Context(), suite).Cases[0]
		if got.Error != nil && strings.Contains(got.Error.Error(), "unknown action") {
			t.Errorf("%s: %v", step.Action, got.Error)
		}
	}
	if len(schema.Defs.Action.OneOf) < 20 {
		t.Errorf("only %d verbs", len(schema.Defs.Action.OneOf))
	}
}
