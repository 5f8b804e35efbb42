package fit

import "testing"

func TestClosedPartsDoNotForbidEachOthersProperties(t *testing.T) {
	const a, b = `{"properties":{"a":{"type":"string"}},"additionalProperties":false}`,
		`{"properties":{"b":{"type":"integer"}},"additionalProperties":false}`
	for _, tc := range []struct {
		name, schema, args string
		fits               bool
	}{
		{"both have their properties", `{"allOf":[` + a + `,` + b + `]}`, `{"a":"x","b":1}`, true},
		{"which keep their types", `{"allOf":[` + a + `,` + b + `]}`, `{"a":"x","b":{}}`, false},
		{"and nothing else", `{"allOf":[` + a + `,` + b + `]}`, `{"a":"x","c":1}`, false},
		{"by reference", `{"$defs":{"a":` + a + `},"allOf":[{"$ref":"#/$defs/a"},{"allOf":[` + b + `]}]}`, `{"a":"x","b":1}`, true},
		{"the definition itself stays closed", `{"$defs":{"a":` + a + `},"allOf":[{"$ref":"#/$defs/a"},` + b +
			`],"properties":{"in":{"$ref":"#/$defs/a"}}}`, `{"in":{"b":1}}`, false},
		{"beside a union", `{"properties":{"x":{}},"additionalProperties":false,"anyOf":[{"properties":{"a":{"type":"string"}},` +
			`"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}`, `{"x":1,"a":"y"}`, true},
		{"branches of a union stay apart", `{"oneOf":[` + a + `,` + b + `]}`, `{"a":"x","b":1}`, false},
		{"and are told apart", `{"oneOf":[` + a + `,` + b + `]}`, `{"b":1}`, true},
		{"a closed branch has what stands beside the union", `{"properties":{"x":{}},"oneOf":[` + a + `,` + b + `]}`, `{"x":1,"b":1}`,
			true},
		{"many properties", `{"allOf":[{"properties":{"p1":{},"p2":{},"p3":{},"p4":{},"p5":{},"p6":{},"p7":{},"p8":{},"p9":{},` +
			`"p10":{},"p11":{},"p12":{},"p13":{}},"additionalProperties":false},` + b + `]}`, `{"p13":1,"b":1}`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, notes := compile([]byte(tc.schema))
			tp := &tape{}
			if err := tp.read([]byte(tc.args)); err != nil {
				t.Fatal(err)
			}
			c := &checker{t: tp, budget: newBudget(t.Context(), len(tc.args))}
			if got := c.ok(root, 0); got != tc.fits {
				t.Errorf("fits %v, want %v; %v", got, tc.fits, notes)
			}
		})
	}
}

func TestAnEnumBesideAnArrayIsThatOfItsItems(t *testing.T) {
	tool, err := Compile([]byte(`{"type":"object","properties":{"v":{"type":"array","items":{"type":"string"},"enum":["a","b"]}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for args, fits := range map[string]bool{`{"v":["a","b"]}`: true, `{"v":["zzzz"]}`: false, `{"v":[]}`: true} {
		if _, err := tool.Fit(t.Context(), []byte(args)); (err == nil) != fits {
			t.Errorf("%s: %v", args, err)
		}
	}
}
