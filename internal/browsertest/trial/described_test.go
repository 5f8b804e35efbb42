package trial_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestAnAgentsOwnCallMayDescribeItsElement(t *testing.T) {
	f := &fakeBrowsers{}
	a := newApp(t, f.start(t))
	a.Catalog.Ready(t.Context(), "agents")
	for _, c := range []struct{ tool, args, sent string }{
		{"browser_click", `{"target":"the More button"}`, `browser_click {"ref":"e1"}`},
		{"browser_click", `{"ref":"More"}`, `browser_click {"ref":"e1"}`},
		{"browser_click", `{"element":"More button"}`, `browser_click {"ref":"e1"}`},
		{"browser_click", `{"selector":"getByRole('button', { name: 'More' })"}`, `browser_click {"ref":"e1"}`},
		{"browser_click", `{"element":"the second Save","ref":"e4"}`, `browser_click {"ref":"e4"}`},
		{"browser_type", `{"selector":"用户名输入框","value":"admin"}`, `browser_type {"ref":"e2","text":"admin"}`},
		{"browser_type", `{"selector":"user name","text":""}`, `browser_type {"ref":"e2","text":""}`},
	} {
		f.got = nil
		if got, bad := own(t, a.Caller, "agents", "web__"+c.tool, c.args); bad || !slices.Equal(f.got, []string{c.sent}) {
			t.Errorf("%s %s: %v, sent %q", c.tool, c.args, got, f.got)
		}
	}
	f.got = nil
	for args, want := range map[string]string{`{"target":"Save"}`: "ELEMENT_AMBIGUOUS", `{"selector":"Print"}`: "ELEMENT_NOT_FOUND"} {
		got, bad := own(t, a.Caller, "agents", "web__browser_click", args)
		text, _ := json.Marshal(got)
		details, _ := got["details"].(map[string]any)
		if !bad || got["type"] != "ELEMENT_NOT_FOUND" || details["code"] != want || details["runId"] == "" || len(f.got) != 0 {
			t.Errorf("%s: %s, sent %q", args, text, f.got)
		}
	}
	if got, bad := own(t, a.Caller, "default", "web__browser_click", `{"selector":"More"}`); !bad || len(f.got) != 0 {
		t.Errorf("a profile without tests: %v, sent %q", got, f.got)
	}
	described := slices.ContainsFunc(a.Records.Last(100), func(c store.Call) bool {
		return c.Arguments != nil && strings.Contains(fmt.Sprintf("%s", *c.Arguments), "the More button") &&
			strings.Contains(fmt.Sprintf("%s", *c.Arguments), `"ref":"e1"`)
	})
	if !described {
		t.Error("the record does not show what came in and what went out")
	}
}

func TestASnapshotWithAConditionPointsToRunSteps(t *testing.T) {
	f := &fakeBrowsers{}
	a := newApp(t, f.start(t))
	a.Catalog.Ready(t.Context(), "agents")
	got, bad := own(t, a.Caller, "agents", "web__browser_snapshot", `{"selector":"More","condition":"visible"}`)
	text, _ := json.Marshal(got)
	details, _ := got["details"].(map[string]any)
	if !bad || got["type"] != "PARAMETER_FORMAT_ERROR" || !strings.Contains(string(text), "run_steps") ||
		details["expectedFormat"] == nil || details["runId"] == "" {
		t.Errorf("%s", text)
	}
	if got, bad := own(t, a.Caller, "agents", "web__browser_snapshot", `{}`); bad {
		t.Errorf("a plain snapshot: %v", got)
	}
}

func TestRunStepsTakesTextCommandsAndOneCommand(t *testing.T) {
	f := &fakeBrowsers{}
	a := newApp(t, f.start(t))
	a.Catalog.Ready(t.Context(), "agents")
	const fill, expect = `{"action":"fill","selector":"User name","value":"ann"}`,
		`{"action":"expect","selector":"User name","condition":"value","text":"ann"}`
	for _, steps := range []string{
		`"type \"ann\" into User name\nexpect the value of User name is \"ann\""`, `[` + fill + `,` + expect + `]`, fill, expect, `[` +
			fill + `,"expect the value of User name is \"ann\""]`,
		quotedJSON(`[` + fill + `,` + expect + `]`), quotedJSON(fill), `"{action: fill, selector: User name, value: ann}"`,
	} {
		if got, bad := own(t, a.Caller, "agents", "run_steps", `{"steps":`+steps+`}`); bad {
			t.Errorf("%s: %v", steps, got)
		}
	}
	for _, steps := range []string{`7`, `{"action":"dance"}`, `[]`, `[{"action":"click"}]`} {
		got, bad := own(t, a.Caller, "agents", "run_steps", `{"steps":`+steps+`}`)
		if !bad {
			t.Errorf("%s: %v", steps, got)
		}
		if e, ok := got["error"].(map[string]any); ok {
			if d := e["details"].(map[string]any); e["type"] != "PARAMETER_FORMAT_ERROR" || d["runId"] == "" || d["expectedFormat"] == nil {
				t.Errorf("%s: %v", steps, got)
			}
		}
	}
}

func TestACommandThatWasRunCanBeRunAgain(t *testing.T) {
	var text trial.Text
	if err := json.Unmarshal([]byte(`{"action":"click","selector":"More"}`), &text); err != nil {
		t.Fatal(err)
	}
	k := trial.Run{Outcome: trial.Passed}
	k.Files, k.Sources = []string{"steps.yaml"}, map[string]string{"steps.yaml": string(text)}
	var o trial.Order
	if err := k.Again(&o); err != nil || len(o.Suites) != 1 || len(o.Suites[0].Cases[0].Steps) != 1 {
		t.Errorf("%v, %+v", err, o.Suites)
	}
}

func quotedJSON(text string) string {
	b, _ := json.Marshal(text) // a string
	return string(b)
}
