package project_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
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
		"s__budget": {`!"required"`, `"_omitted"`, `!"maxLength"`},
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

func TestWhatABudgetLeavesFitsTheAdvertisedSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"status":{"type":"string"},"map":{"type":"object",` +
		`"additionalProperties":{"type":"object","properties":{"v":{"type":"integer"},"w":{"type":"string","maxLength":90}},` +
		`"required":["v","w"]}},"last":{"type":"integer"}},"required":["status","map","last"]}`
	var advertised jsonschema.Schema
	if err := json.Unmarshal(project.OutputSchema([]byte(schema), nil, false, 500), &advertised); err != nil {
		t.Fatal(err)
	}
	resolved, err := advertised.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 100, 2000} {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`"key %d":{"v":%d,"w":%q}`, i, i, strings.Repeat("w ", 40))
		}
		raw := `{"structuredContent":{"status":"ok","map":{` + strings.Join(entries, ",") + `},"last":7}}`
		out := project.Plan(t.Context(), []byte(raw), project.How{Budget: 500}).Apply("r_1")
		value := decodePlain(t, rawjson.Get(out, "structuredContent"))
		if err := resolved.Validate(value); err != nil {
			t.Errorf("%d entries: %v in %.300s", n, err, out)
		}
		if object := value.(map[string]any); object["status"] != "ok" || object["last"] != 7.0 || len(object["map"].(map[string]any)) == 0 {
			t.Errorf("%d entries: small members went though they cost nothing: %.300s", n, out)
		}
		if cost := tokens.Estimate(out); cost > 700 {
			t.Errorf("%d entries: %d tokens", n, cost)
		}
	}
}

func decodePlain(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
