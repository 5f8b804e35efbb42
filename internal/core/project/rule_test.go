package project_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
)

func TestChoose(t *testing.T) {
	rules, problems := project.Compile([]project.Rule{
		{ID: "glob", Tool: "cloud__*", Keep: "a"},
		{ID: "glob-more", Tool: "cloud__*", When: map[string]any{"x": 1}, Keep: "a"},
		{ID: "b-exact", Tool: "cloud__env", Keep: "a"},
		{ID: "a-exact", Tool: "cloud__env", Drop: "a"},
		{ID: "list", Tool: "cloud__env", When: map[string]any{"action": []any{"list", nil}}, Keep: "a"},
		{ID: "ops", Tool: "cloud__env", When: map[string]any{"/deep/n~1m": "v"}, Keep: "a", Profile: "ops"},
		{ID: "any", Tool: "cloud__env", When: map[string]any{"/deep/n~1m": "v"}, JQ: ".a"},
		{ID: "shadow", Tool: "cloud__env", Mode: project.Shadow, When: map[string]any{"action": "list", "y": true}, Keep: "b"},
		{ID: "off", Tool: "cloud__env", Mode: project.Off, When: map[string]any{"action": "list", "y": true, "z": 1}, Keep: "b"},
		{ID: "budget", Tool: "?ile__read", Budget: 100},
		{ID: "place", Tool: "files__list", When: map[string]any{"/paths/1/0": "b"}, Keep: "a"},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct{ name, tool, profile, args, on, shadow string }{
		{"no rule", "files__x", "", `{}`, "", ""},
		{"a glob", "cloud__other", "", `{}`, "glob", ""},
		{"more conditions win", "cloud__other", "", `{"x":1.0}`, "glob-more", ""},
		{"an exact tool beats a glob's conditions; then the id", "cloud__env", "", `{"x":1,"action":"info"}`, "a-exact", ""},
		{"a value of the list", "cloud__env", "", `{"action":"list"}`, "list", ""},
		{"null in the list is an absent argument", "cloud__env", "", `{}`, "list", ""},
		{"and null", "cloud__env", "", `{"action":null}`, "list", ""},
		{"a pointer", "cloud__env", "", `{"action":"info","deep":{"n/m":"v"}}`, "any", ""},
		{"a named profile wins", "cloud__env", "ops", `{"action":"info","deep":{"n/m":"v"}}`, "ops", ""},
		{"shadow stands beside, off does not", "cloud__env", "", `{"action":"list","y":true,"z":1}`, "list", "shadow"},
		{"a pointer into an array", "files__list", "", `{"paths":["a",["b"]]}`, "place", ""},
		{"a place that is not there", "files__list", "", `{"paths":["a",[]]}`, "", ""},
		{"a place in an object is a name", "files__list", "", `{"paths":{"1":{"0":"b"}}}`, "place", ""},
		{"one character", "file__read", "", `{}`, "budget", ""},
		{"arguments that are no object", "cloud__other", "", `[]`, "glob", ""},
		{"no arguments", "cloud__env", "", ``, "list", ""},
		{"a number too long to compare", "cloud__other", "", `{"x":1e999999999}`, "glob", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rules.Choose(tool.Name(c.tool), c.profile, []byte(c.args))
			id := func(a *project.Active) string {
				if a == nil {
					return ""
				}
				return a.ID
			}
			if id(got.On) != c.on || id(got.Shadow) != c.shadow {
				t.Errorf("got %q and %q, want %q and %q", id(got.On), id(got.Shadow), c.on, c.shadow)
			}
		})
	}
	args := []byte(`{"x":1}`)
	n := testing.AllocsPerRun(100, func() { rules.Choose("files__x", "", args) })
	if n > 0 {
		t.Errorf("a tool without a rule costs %v allocations", n)
	}
	var none *project.Rules
	if c := none.Choose("a", "", nil); c.On != nil {
		t.Error("no rules chose one")
	}
}

func TestMayApply(t *testing.T) {
	rules, problems := project.Compile([]project.Rule{
		{ID: "a", Tool: "s__t", When: map[string]any{"x": 1}, Keep: "a"},
		{ID: "b", Tool: "s__*", Keep: "b"},
		{ID: "c", Tool: "*", Keep: "c"},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got, always := rules.MayApply("s__t", "")
	if len(got) != 2 || got[0].ID != "a" || got[1].ID != "b" || !always {
		t.Errorf("%v, %v", got, always)
	}
}

func TestWrongRulesSayWhatToDo(t *testing.T) {
	for want, r := range map[string]project.Rule{
		"rule 0, tool: is missing":                          {Keep: "a"},
		"rule 0, keep: at byte 3: a colon is missing":       {Tool: "t", Keep: "a[1]"},
		"rule 0, drop: at byte 0: unexpected !":             {Tool: "t", Drop: "!a"},
		"rule 0, jq: jq program, at byte":                   {Tool: "t", JQ: ".a |"},
		"rule 0, jq: jq program: input(s)/0 is not allowed": {Tool: "t", JQ: "input"},
		"rule 0, drop: is one too many":                     {Tool: "t", Keep: "a", Drop: "b"},
		"rule 0, keep: is missing":                          {Tool: "t"},
		"rule 0, budget: is -1":                             {Tool: "t", Budget: -1},
		`rule 0, shape: is "csv"`:                           {Tool: "t", Keep: "a", Shape: "csv"},
		`rule 0, mode: is "maybe"`:                          {Tool: "t", Keep: "a", Mode: "maybe"},
		"rule 0, when: x: the list is empty":                {Tool: "t", Keep: "a", When: map[string]any{"x": []any{}}},
		"rule 0, when: x: map[] is not a string":            {Tool: "t", Keep: "a", When: map[string]any{"x": map[string]any{}}},
	} {
		rules, problems := project.Compile([]project.Rule{r})
		if rules != nil || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
	if _, problems := project.Compile([]project.Rule{{ID: "a", Tool: "t", Keep: "a"},
		{ID: "a", Tool: "t", Keep: "a"}}); len(problems) != 1 {
		t.Errorf("the same id twice: %v", problems)
	}
}

func BenchmarkChoose(b *testing.B) {
	rules, _ := project.Compile([]project.Rule{{Tool: "cloud__*", Keep: "a"}, {Tool: "a__b", Keep: "a"}, {Tool: "*__list*", Keep: "a"}})
	args := []byte(`{"x":1}`)
	b.ReportAllocs()
	for b.Loop() {
		rules.Choose("files__read_file", "default", args)
	}
}
