package schema

import "testing"

func TestOptions(t *testing.T) {
	const chain = `{"properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"},"v":{"type":"string"}}}}}`
	for _, c := range []struct {
		name       string
		dialect    Dialect
		opts       Options
		in, want   string
		args, back string
	}{
		{"a reference to another document may accept anything", OpenAI, Options{Degrade: true}, `{"type":"object","properties":{"a":{"$ref":"https://x.test/y"}}}`,
			`{"type":"object","properties":{"a":{"description":"(schema missing)"}}}`, ``, `{}`},
		{"what strictness cannot say may be JSON text", OpenAIStrict, Options{JSONText: true}, `{"type":"object","properties":{"a":{},"b":{"type":"object"}},"required":["a","b"]}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"JSON value"},"b":{"type":"string","description":"JSON object"}},"required":["a","b"],"additionalProperties":false}`,
			`{"a":"5","b":"{}"}`, `{"a":5,"b":{}}`},
		{"forced strictness takes null for absent", OpenAIStrict, Options{Strict: true}, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, `{"a":null}`, `{}`},
		{"or keeps it", OpenAIStrict, Options{Strict: true, KeepNull: true}, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, `{"a":null}`, `{"a":null}`},
		{"a default of null makes null and absent the same", OpenAIStrict, Options{}, `{"type":"object","properties":{"a":{"type":["string","null"],"default":null}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, `{"a":null}`, `{}`},
		{"a cycle need not be repeated", GeminiParams, Options{Unroll: -1}, chain,
			`{"type":"object","properties":{"root":{"type":"object","properties":{"v":{"type":"string"}}}}}`, ``, `{}`},
		{"or more than once", GeminiParams, Options{Unroll: 2}, chain,
			`{"type":"object","properties":{"root":{"type":"object","properties":{"next":{"type":"object","properties":{"next":{"type":"object","properties":{"v":{"type":"string"}}},` +
				`"v":{"type":"string"}}},"v":{"type":"string"}}}}}`, ``, `{}`},
		{"the deepest level is left out first", Gemini, Options{MaxNodes: 3}, `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}},"c":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{}},"c":{"type":"string"}}}`, ``, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := mustPlan(t, c.in, c.dialect, &c.opts)
			if !sameJSON(t, string(res.Parameters), c.want) {
				t.Errorf("got  %s\nwant %s\nreport %v", res.Parameters, c.want, res.Report)
			}
			if args, _, err := res.Back([]byte(c.args)); err != nil || string(args) != c.back {
				t.Errorf("back gives %s, %v, want %s", args, err, c.back)
			}
		})
	}
}
