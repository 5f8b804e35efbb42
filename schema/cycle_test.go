package schema

import (
	"errors"
	"strings"
	"testing"
)

const nodeExample = `{"$defs":{"Node":{"type":"object","properties":{"value":{"type":"string"},"child":{"$ref":"#/$defs/Node"}}}},"properties":{"root":{"$ref":"#/$defs/Node"}}}`

func TestRecallGivesTheDocumentedOutput(t *testing.T) {
	res := mustPlan(t, nodeExample, Inlined, nil)
	want := `{"type":"object","properties":{"root":{"type":"object","properties":{"value":{"type":"string"},"child":{"type":"object"}}}}}`
	if string(res.Parameters) != want {
		t.Errorf("got  %s\nwant %s", res.Parameters, want)
	}
}

func TestRecallExpandsThreeHopsAndPrunesTheFourth(t *testing.T) {
	link := func(name, next string) string {
		return `"` + name + `":{"type":"object","description":"` + name + `","properties":{"n":` + next + `},"required":["n"]}`
	}
	ref := func(name string) string { return `{"$ref":"#/$defs/` + name + `"}` }
	in := `{"type":"object","properties":{"a":` + ref("A") + `},"$defs":{` + link("A", ref("B")) + `,` + link("B", ref("C")) + `,` + link("C", ref("D")) + `,` + link("D", `{"type":"string"}`) + `}}`
	res := mustPlan(t, in, Inlined, nil)
	want := `{"type":"object","properties":{"a":{"type":"object","description":"A","properties":{"n":{"type":"object","description":"B","properties":{"n":` +
		`{"type":"object","description":"C","properties":{"n":{"type":"object","description":"D"}},"required":["n"]}},"required":["n"]}},"required":["n"]}}}`
	if string(res.Parameters) != want {
		t.Errorf("got  %s\nwant %s", res.Parameters, want)
	}
}

func TestRecallLiftsASchemaThatIsWrappedOnceTooOften(t *testing.T) {
	in := `{"type":"object","properties":{"type":"object","properties":{"gem":{"$ref":"#/$defs/G"}},"required":["gem"]},"$defs":{"G":{"type":"string"}}}`
	res := mustPlan(t, in, Inlined, nil)
	if want := `{"type":"object","properties":{"gem":{"type":"string"}},"required":["gem"]}`; string(res.Parameters) != want {
		t.Errorf("got  %s\nwant %s", res.Parameters, want)
	}
	args, _, err := res.Back([]byte(`{"gem":"rails"}`))
	if err != nil || string(args) != `{"gem":"rails"}` {
		t.Errorf("back gives %s, %v", args, err)
	}
}

func TestRecallTakesTheSameDefinitionTwiceForNoCycle(t *testing.T) {
	in := `{"properties":{"a":{"$ref":"#/$defs/P"},"b":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"object","properties":{"x":{"type":"integer"}}}}}`
	res := mustPlan(t, in, Inlined, nil)
	want := `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"integer"}}},"b":{"type":"object","properties":{"x":{"type":"integer"}}}}}`
	if string(res.Parameters) != want {
		t.Errorf("got  %s\nwant %s", res.Parameters, want)
	}
}

func TestRecallDegradesWhatIsMissing(t *testing.T) {
	in := `{"properties":{"a":{"$ref":"#/$defs/Nope","description":"d"},"b":{"$ref":"https://x.test/y.json"},"c":{"anyOf":[{"$ref":"#/$defs/Nope"}]}}}`
	res := mustPlan(t, in, Inlined, nil)
	want := `{"type":"object","properties":{"a":{"description":"d (schema missing)"},"b":{"description":"(schema missing)"},"c":{"anyOf":[{"description":"(schema missing)"}]}}}`
	if string(res.Parameters) != want || len(res.Report) != 3 {
		t.Errorf("got  %s\nwant %s\nreport %v", res.Parameters, want, res.Report)
	}
}

func TestCyclesStayWhereTheDialectHasThem(t *testing.T) {
	for _, d := range []Dialect{OpenAI, Anthropic, Gemini, Moonshot, Qwen, DeepSeek, MCP} {
		whole{name: "the definition on the cycle is kept", dialect: d, actual: d, in: nodeExample,
			want: `{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"$defs":{"Node":{"type":"object","properties":{"value":{"type":"string"},"child":{"$ref":"#/$defs/Node"}}}}}`}.run(t)
	}
	whole{name: "strict too, with null", dialect: OpenAIStrict, actual: OpenAIStrict,
		in: nodeExample,
		want: `{"type":"object","properties":{"root":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}},"required":["root"],"additionalProperties":false,` +
			`"$defs":{"Node":{"type":"object","properties":{"value":{"type":["string","null"]},"child":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}},` +
			`"required":["value","child"],"additionalProperties":false}}}`,
		args: `{"root":{"value":null,"child":{"value":"x","child":null}}}`, back: `{"root":{"child":{"value":"x"}}}`}.run(t)
}

func TestCyclesAreUnrolledOnceAndCutWhereItIsHarmless(t *testing.T) {
	for _, c := range []whole{
		{name: "an optional property is left out", dialect: GeminiParams,
			in:   `{"properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"#/$defs/N"}},"required":["v"]}}}`,
			want: `{"type":"object","properties":{"root":{"type":"object","properties":{"v":{"type":"string"},"next":{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]}},"required":["v"]}}}`},
		{name: "a required array becomes empty", dialect: GeminiParams,
			in: `{"properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}},"required":["kids"]}}}`,
			want: `{"type":"object","properties":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{"type":"object","properties":` +
				`{"kids":{"type":"array","items":{"type":"string"},"maxItems":0}},"required":["kids"]}}},"required":["kids"]}}}`},
		{name: "a branch is left out", dialect: GeminiParams,
			in:   `{"properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/N"}}]}}}`,
			want: `{"type":"object","properties":{"root":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`},
	} {
		c.run(t)
	}
}

// places are the ways to name a definition; %s stands for its name, the body refers to itself.
var places = []struct{ name, ref, head, tail string }{
	{"$defs", "#/$defs/N", `"$defs":{"N":`, `}`},
	{"definitions", "#/definitions/N", `"definitions":{"N":`, `}`},
	{"components", "#/components/schemas/N", `"components":{"schemas":{"N":`, `}}`},
	{"a pointer anywhere", "#/paths/~1a~1%7Bid%7D/get/N", `"paths":{"/a/{id}":{"get":{"N":`, `}}}`},
	{"an anchor", "#N", `"$defs":{"Q":{"$anchor":"N","allOf":[`, `]}}`},
	{"an $id", "https://x.test/N", `"$defs":{"Q":{"$id":"https://x.test/N","allOf":[`, `]}}`},
}

func TestEveryPlaceOfADefinitionGivesTheSameResult(t *testing.T) {
	bodies := map[string]string{
		"self":   `{"type":"object","properties":{"v":{"type":"string"},"next":{"$ref":"REF"}},"required":["v"]}`,
		"array":  `{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"REF"}}}}`,
		"map":    `{"type":"object","properties":{"by":{"type":"object","additionalProperties":{"$ref":"REF"}}}}`,
		"union":  `{"type":"object","properties":{"x":{"anyOf":[{"$ref":"REF"},{"type":"null"}]}}}`,
		"deep":   `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"$ref":"REF"}}}}}}}`,
		"shared": `{"type":"object","properties":{"l":{"$ref":"REF"},"r":{"$ref":"REF"}}}`,
	}
	for name, body := range bodies {
		for d := range dialects {
			var first, where string
			for _, p := range places {
				in := `{"type":"object","properties":{"root":{"$ref":"` + p.ref + `"}},"required":["root"],` + p.head + strings.ReplaceAll(body, "REF", p.ref) + p.tail + `}`
				if d == Inlined && strings.HasPrefix(p.name, "an") {
					continue // allOf stays there, so the fixture differs
				}
				got := string(mustPlan(t, in, d, nil).Parameters)
				if d == Inlined {
					got = got[:strings.Index(got, `"required":["root"]`)]
				}
				if first == "" {
					first = got
					where = p.name
				}
				if got != first {
					t.Errorf("%s, %s, %s:\n%s\nbut %s:\n%s", name, d, p.name, got, where, first)
				}
			}
		}
	}
}

func TestPureLoopsAcceptAnything(t *testing.T) {
	for _, in := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"allOf":[{"$ref":"#/$defs/A"}]}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"type":"string"}]}}}`,
	} {
		for d := range dialects {
			mustPlan(t, in, d, nil)
		}
	}
}

func TestToolsThatCannotBeCarriedAreRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct {
		name, in string
		dialect  Dialect
		reason   Reason
		pointer  string
	}{
		{"no JSON", `{"type":`, OpenAI, NotJSON, ""},
		{"no schema", `[1]`, OpenAI, NotSchema, ""},
		{"a reference to the network", `{"properties":{"a":{"$ref":"https://x.test/y.json"}}}`, OpenAI, ExternalRef, "/properties/a/$ref"},
		{"nothing fits", `{"allOf":[{"type":"object"},{"type":"string"}]}`, OpenAI, Unsatisfiable, ""},
		{"false", `false`, OpenAI, Unsatisfiable, ""},
		{"a required property that cannot be", `{"type":"object","properties":{"a":false},"required":["a"]}`, Gemini, Unsatisfiable, ""},
		{"too large", `{"description":"` + strings.Repeat("x", 300<<10) + `"}`, OpenAI, TooLarge, ""},
		{"unknown dialect", `{}`, "latin", UnknownDialect, ""},
		{"too deep", strings.Repeat(`{"items":`, 600) + `{}` + strings.Repeat(`}`, 600), OpenAI, NotJSON, ""},
	} {
		_, err := Plan([]byte(c.in), c.dialect, nil)
		var e *Error
		if !errors.As(err, &e) || e.Reason != c.reason || e.Pointer != c.pointer {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
