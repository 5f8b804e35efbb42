package schema

import "testing"

func TestOpenAPIFlavors(t *testing.T) {
	for _, c := range []struct {
		name     string
		flavor   Flavor
		dialect  Dialect
		in, want string
	}{
		{"what is read-only leaves the request", OpenAPI31, OpenAI,
			`{"type":"object","properties":{"id":{"type":"string","readOnly":true},"n":{"type":"string"}},"required":["id","n"]}`,
			`{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}`},
		{"also behind a reference", OpenAPI30, GeminiParams,
			`{"type":"object","properties":{"id":{"$ref":"#/components/schemas/Id"},"n":{"type":"string"}},"required":["id"],"components":{"schemas":{"Id":{"type":"string","readOnly":true}}}}`,
			`{"type":"object","properties":{"n":{"type":"string"}}}`},
		{"a tool's own schema keeps it", Auto, OpenAI, `{"type":"object","properties":{"id":{"type":"string","readOnly":true}}}`,
			`{"type":"object","properties":{"id":{"type":"string","readOnly":true}}}`},
		{"nullable is a type", OpenAPI30, OpenAI, `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}}}`},
		{"in any flavor", Auto, OpenAI, `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`},
		{"null joins a nullable list", OpenAPI30, OpenAI, `{"type":"object","properties":{"a":{"type":"string","enum":["x"],"nullable":true}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]}}}`},
		{"nullable without a type says nothing", OpenAPI30, OpenAI, `{"type":"object","properties":{"a":{"nullable":true,"description":"d"}}}`,
			`{"type":"object","properties":{"a":{"description":"d"}}}`},
		{"boolean bounds are numbers", OpenAPI30, OpenAI, `{"type":"object","properties":{"a":{"type":"integer","maximum":9,"exclusiveMaximum":true,"minimum":1,"exclusiveMinimum":false}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","exclusiveMaximum":9,"minimum":1}}}`},
		{"a file is text", OpenAPI30, Gemini, `{"type":"object","properties":{"a":{"type":"file"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"a discriminator names each alternative", OpenAPI31, Gemini,
			`{"type":"object","properties":{"p":{"oneOf":[{"$ref":"#/components/schemas/Cat"},{"$ref":"#/components/schemas/Dog"}],"discriminator":{"propertyName":"k","mapping":{"cat":"#/components/schemas/Cat"}}}},` +
				`"components":{"schemas":{"Cat":{"type":"object","properties":{"k":{"type":"string"}}},"Dog":{"type":"object","properties":{"k":{"type":"string"},"b":{"type":"boolean"}}}}}}`,
			`{"type":"object","properties":{"p":{"anyOf":[{"type":"object","properties":{"k":{"type":"string","enum":["cat"]}},"required":["k"]},` +
				`{"type":"object","properties":{"k":{"type":"string","enum":["Dog"]},"b":{"type":"boolean"}},"required":["k"]}]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := mustPlan(t, c.in, c.dialect, &Options{Flavor: c.flavor})
			if !sameJSON(t, string(res.Parameters), c.want) {
				t.Errorf("got  %s\nwant %s\nreport %v", res.Parameters, c.want, res.Report)
			}
		})
	}
}

func TestWhatTheDocumentsAdviseAgainstIsReported(t *testing.T) {
	in := `{"type":"object","properties":{` + many(101, func(i string) string { return `"p` + i + `":{"type":"string"}` }) + `,"u":{"anyOf":[` +
		many(11, func(i string) string {
			return `{"type":"object","properties":{"q` + i + `":{"type":"string"}},"required":["q` + i + `"]}`
		}) + `]}}}`
	advised := 0
	for _, c := range mustPlan(t, in, Moonshot, nil).Report {
		if c.Kind == Advised {
			advised++
		}
	}
	if advised != 2 {
		t.Errorf("%d of 2 limits are reported", advised)
	}
}

func TestTheBudgetShortensWordsBeforeItLeavesOut(t *testing.T) {
	in := `{"type":"object","properties":{` + many(100, func(i string) string {
		return `"p` + i + `":{"type":"string","description":"` + many(60, func(j string) string { return "word " + j }) + `"}`
	}) + `}}`
	res := mustPlan(t, in, Qwen, nil)
	if n := len(paths(t, res.Parameters, false)); n != 100 || len(res.Parameters) > 32<<10 || !has(res.Report, TooMuch) {
		t.Errorf("%d of 100 properties in %d bytes, report %v", n, len(res.Parameters), res.Report)
	}
}
