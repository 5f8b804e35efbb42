package schema

import (
	"strings"
	"testing"
)

func TestRecallKeepsWhatStandsBesideAReference(t *testing.T) {
	const defs = `"$defs":{"N":{"type":"integer","description":"a number","default":1},"O":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},` +
		`"C":{"type":"object","properties":{"a":{}},"additionalProperties":false},"L":{"type":"object","description":"a list","properties":{"next":{"$ref":"#/$defs/L","description":"the next one","default":null}}}}`
	for _, c := range []struct{ name, in, want string }{
		{"words, before those of the target", `{"$ref":"#/$defs/N","description":"how many","default":7,"title":"T","x-order":3}`,
			`{"type":"integer","description":"how many","default":7,"title":"T","x-order":3}`},
		{"a bound", `{"minimum":3,"$ref":"#/$defs/N"}`, `{"type":"integer","description":"a number","default":1,"minimum":3}`},
		{"a type that says the same", `{"type":"integer","$ref":"#/$defs/N"}`, `{"type":"integer","description":"a number","default":1}`},
		{"properties and what is required", `{"$ref":"#/$defs/O","properties":{"b":{"$ref":"#/$defs/N"},"a":{"minLength":1}},"required":["b","a"]}`,
			`{"type":"object","properties":{"a":{"type":"string","minLength":1},"b":{"type":"integer","description":"a number","default":1}},"required":["a","b"]}`},
		{"a contradiction, as it is", `{"$ref":"#/$defs/N","type":"string","description":"d"}`,
			`{"type":"string","description":"d","allOf":[{"type":"integer","description":"a number","default":1}]}`},
		{"properties that a closed target refuses", `{"$ref":"#/$defs/C","properties":{"b":{}}}`,
			`{"properties":{"b":{}},"allOf":[{"type":"object","properties":{"a":{}},"additionalProperties":false}]}`},
		{"beside a reference that leads back", `{"$ref":"#/$defs/L"}`,
			`{"type":"object","description":"a list","properties":{"next":{"type":"object","description":"the next one","default":null}}}`},
		{"beside one that leads nowhere", `{"$ref":"#/$defs/Gone","description":"d","default":2}`, `{"description":"d (schema missing)","default":2}`},
	} {
		res := mustPlan(t, `{"type":"object","properties":{"p":`+c.in+`},`+defs+`}`, Inlined, nil)
		if got := strings.TrimSuffix(strings.TrimPrefix(string(res.Parameters), `{"type":"object","properties":{"p":`), "}}"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestRecallMeansTheSameBesideAReference holds that the values that were valid are, and no others.
func TestRecallMeansTheSameBesideAReference(t *testing.T) {
	targets := []string{
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"properties":{"a":{}},"additionalProperties":false}`, `{"patternProperties":{"^b":{"type":"integer"}}}`,
		`{"unevaluatedProperties":false,"properties":{"a":{}}}`, `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `true`, `false`,
		`{"enum":[{"a":1},{"b":1}]}`, `{"minProperties":1,"allOf":[{"maxProperties":2}]}`, `{"not":{"required":["c"]}}`,
	}
	sides := []string{
		`"properties":{"a":{"minimum":1},"b":{"type":"integer"}}`, `"additionalProperties":false`, `"additionalProperties":{"type":"integer"},"properties":{"a":true}`, `"required":["b"]`,
		`"unevaluatedProperties":false`, `"anyOf":[{"required":["b"]},{"required":["c"]}]`, `"if":{"required":["b"]},"else":{"required":["a"]}`, `"properties":{"a":false}`,
		`"enum":[{"a":1},{"a":1,"b":1}]`, `"allOf":[{"required":["a"]},{"minProperties":2}],"minProperties":1`, `"description":"d","default":{}`, `"not":{"required":["a"]}`,
	}
	values := []string{`{}`, `{"a":0}`, `{"a":1}`, `{"b":1}`, `{"b":"x"}`, `{"a":1,"b":1}`, `{"a":"x","b":1}`, `{"c":1}`, `{"a":1,"c":1}`, `{"b":1,"c":"x"}`, `{"a":1,"b":1,"c":1}`}
	for _, target := range targets {
		for _, side := range sides {
			in := `{"type":"object","properties":{"p":{"$ref":"#/$defs/T",` + side + `}},"$defs":{"T":` + target + `}}`
			res := mustPlan(t, in, Inlined, nil)
			before, err := compile([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			after, err := compile(res.Parameters)
			if err != nil {
				t.Fatalf("%s\ngives %s: %v", in, res.Parameters, err)
			}
			for _, v := range values {
				v = `{"p":` + v + `}`
				if want := valid(before, []byte(v)); valid(after, []byte(v)) != want {
					t.Errorf("%s\ngives %s\n%s was valid: %v", in, res.Parameters, v, want)
				}
			}
		}
	}
}

func TestRecallPassesASchemaWithoutReferencesByteForByte(t *testing.T) {
	for name, in := range map[string]string{
		"white space and odd order":    "{ \"properties\" : { \"b\":{\"type\" : \"string\"},\n \"a\":{} },\t\"type\":\"object\" }",
		"no type":                      `{"properties":{"a":{"type":"string"}}}`,
		"nothing at all":               `{}`,
		"a body without description":   `{"type":"object","properties":{"body":{"type":"object","properties":{"a":{}}}}}`,
		"its draft and id":             `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://x.test/a","type":"object","properties":{"a":{"$comment":"c"}}}`,
		"definitions that nobody uses": `{"type":"object","$defs":{"A":{"type":"string"}},"definitions":{"B":{}}}`,
		"escapes and long numbers":     `{"type":"object","properties":{"a":{"description":"\u003c\/ \u4e2d","maximum":1.50e2,"default":12345678901234567890}}}`,
		"unknown keywords":             `{"type":"object","x-a":[1],"foo":{"bar":null},"properties":{"$ref":{"type":"string"}}}`,
		"types in a list":              `{"type":["object","null"],"properties":{}}`,
	} {
		res := mustPlan(t, in, Inlined, &Options{MaxBytes: 10})
		if string(res.Parameters) != in || len(res.Report) > 0 {
			t.Errorf("%s:\ngot  %s %v\nwant %s", name, res.Parameters, res.Report, in)
		}
	}
	for _, in := range []string{`{"type":"object","properties":{"a":{"enum":[1,1]}}}`, `{"type":"object","required":"a"}`, `{"type":"object","type":"object"}`} {
		if res := mustPlan(t, in, Inlined, nil); string(res.Parameters) == in || len(Check(res.Parameters, Inlined)) > 0 {
			t.Errorf("%s is no schema and gives %s", in, res.Parameters)
		}
	}
}

func TestRecallFollowsAsManyReferencesAsItIsTold(t *testing.T) {
	in := `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"b":{"$ref":"#/$defs/B"}}},"B":{"description":"b","properties":{"c":{"$ref":"#/$defs/C"}}},"C":{"type":"string","maxLength":5}}}`
	for hops, want := range map[int]string{
		1: `{"type":"object","properties":{"a":{"properties":{"b":{"type":"object","description":"b"}}}}}`,
		2: `{"type":"object","properties":{"a":{"properties":{"b":{"description":"b","properties":{"c":{"type":"string"}}}}}}}`,
		0: `{"type":"object","properties":{"a":{"properties":{"b":{"description":"b","properties":{"c":{"type":"string","maxLength":5}}}}}}}`,
	} {
		if got := mustPlan(t, in, Inlined, &Options{Hops: hops}).Parameters; string(got) != want {
			t.Errorf("%d:\ngot  %s\nwant %s", hops, got, want)
		}
	}
}
