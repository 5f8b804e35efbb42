package project_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/project"
	"github.com/toolfit/toolfit/internal/tool"
)

func TestOutputSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string","maxLength":5},"b":{}},"required":["a","b"]}`
	rules, problems := project.Compile([]project.Rule{
		{ID: "keep", Tool: "s__keep", Keep: "a"},
		{ID: "when", Tool: "s__when", When: map[string]any{"x": 1}, Keep: "a"},
		{ID: "jq", Tool: "s__jq", JQ: ".a"},
		{ID: "budget", Tool: "s__budget", Budget: 100},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string][]string{
		"s__none":   {schema},
		"s__keep":   {`"required":["a"]`, `"_omitted"`, `"maxLength":5`, `!"b"`},
		"s__when":   {`"required":["a"]`, `"_omitted"`, `"b":{}`},
		"s__budget": {`"required":["a","b"]`, `"_omitted"`, `!"maxLength"`},
		"s__jq":     nil,
	} {
		may, always := rules.MayApply(tool.Name(name), "default")
		got := string(project.OutputSchema([]byte(schema), may, always, 0))
		if (got == "") != (want == nil) {
			t.Errorf("%s: %s", name, got)
		}
		for _, w := range want {
			if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(got, not) || !ok && !strings.Contains(got, w) {
				t.Errorf("%s: %s, want %s", name, got, w)
			}
		}
	}
}
