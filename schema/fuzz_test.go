package schema

import (
	"encoding/json"
	"errors"
	"testing"
)

// FuzzPlan holds that every input gives an accepted schema that compiles, or a typed error.
func FuzzPlan(f *testing.F) {
	for _, s := range []string{
		nodeExample, `{}`, `true`, `{"type":["object","null"],"properties":{"a":{"enum":[1,"x",null,{"b":2}]}},"required":["a","z"]}`,
		`{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"x":{"minimum":1,"exclusiveMaximum":true}}}],"$defs":{"A":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}`,
		`{"properties":{"m":{"patternProperties":{"^x":{"type":"integer"}},"propertyNames":{"enum":["a"]}},"t":{"items":[{"type":"string"},{}],"additionalItems":false}}}`,
		`{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"required":["z"]}],"discriminator":{"propertyName":"k"}}`,
		`{"type":"object","properties":{"a b":{"type":"object","additionalProperties":{"$ref":"#/properties/a b"}}},"unevaluatedProperties":false}`,
		`{"$id":"https://x.test/a","$ref":"#/$defs/A","properties":{"a":{"$ref":"#/$defs/B","type":"string","default":1}},"required":["a"],"$defs":{"A":{"properties":{"a":{"minLength":1}},"allOf":[true]},"B":{"$ref":"#","items":false}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for d := range dialects {
			res, err := Plan(raw, d, nil)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %v", d, err)
				}
				continue
			}
			if !json.Valid(res.Parameters) {
				t.Fatalf("%s: no JSON: %s", d, res.Parameters)
			}
			if bad := Check(res.Parameters, res.Dialect); len(bad) > 0 {
				t.Fatalf("%s: %v in %s", d, bad[0], res.Parameters)
			}
			if _, err := compile(res.Parameters); err != nil {
				t.Fatalf("%s: %v in %s", d, err, res.Parameters)
			}
		}
	})
}

// FuzzBack holds that arguments give JSON or a typed error, whatever they are.
func FuzzBack(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `"{}"`, `{"m":[{"key":"a","value":"1"}],"j":"[1]","k":"x"}`, `{"a":null,"u":{"n":"2"}}`} {
		f.Add([]byte(s))
	}
	const in = `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"enum":[1,2]}},"j":{},"k k":{"type":"string"},"c":{"const":7},` +
		`"u":{"anyOf":[{"type":"object","properties":{"n":{"enum":[1,2]}},"required":["n"]},{"type":"array","items":{}}]},"r":{"$ref":"#/properties/u"}},"required":["c"]}`
	var plans []*Result
	for d := range dialects {
		res, err := Plan([]byte(in), d, nil)
		if err != nil {
			f.Fatal(err)
		}
		plans = append(plans, res)
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		for _, res := range plans {
			out, _, err := res.Back(args)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%s: %v", res.Dialect, err)
			}
			if err == nil && !json.Valid(out) {
				t.Fatalf("%s: no JSON: %q", res.Dialect, out)
			}
		}
	})
}
