package fit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
)

func definition(t testing.TB, inputSchema string) tool.Definition {
	t.Helper()
	def, err := tool.ParseDefinition(json.RawMessage(`{"name":"create","description":"Creates.","inputSchema":` + inputSchema +
		`,"x":1.0}`))
	if err != nil {
		t.Fatal(err)
	}
	return def
}

const machine = `{"type":"object", "properties":{"region":{"type":"string"},"size":{"type":"string","enum":["s","m","l"],` +
	`"default":"l"},"debug":{"type":"boolean"},` +
	`"disk_gb":{"type":"integer", "minimum":1}},"required":["region","disk_gb"],"additionalProperties":false}`

func override(t testing.TB, raw string) *Override {
	t.Helper()
	o := &Override{}
	if err := json.Unmarshal([]byte(raw), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOverridesAsModelsSeeThem(t *testing.T) {
	cases := []struct{ name, schema, override, want string }{
		{"nothing changed is byte for byte the same", machine, `{}`, machine},
		{"a fixed property is gone", machine, `{"fix":{"region":"eu"}}`,
			`{"type":"object", "properties":{"size":{"type":"string","enum":["s","m","l"],"default":"l"},"debug":{"type":"boolean"},` +
				`"disk_gb":{"type":"integer", "minimum":1}},"required":["disk_gb"],"additionalProperties":false}`},
		{"so is a hidden one", machine, `{"hide":["debug"]}`,
			`{"type":"object", "properties":{"region":{"type":"string"},"size":{"type":"string","enum":["s","m","l"],"default":"l"},` +
				`"disk_gb":{"type":"integer", "minimum":1}},"required":["region","disk_gb"],"additionalProperties":false}`},
		{"a property with another name and other words", machine, `{"rename":{"disk_gb":"disk"},"describe":{"disk_gb":"Size in GB."}}`,
			`{"type":"object", "properties":{"region":{"type":"string"},"size":{"type":"string","enum":["s","m","l"],"default":"l"},` +
				`"debug":{"type":"boolean"},"disk":{"type":"integer", "minimum":1,"description":"Size in GB."}},"required":["region",` +
				`"disk"],"additionalProperties":false}`},
		{"a default makes it optional", machine, `{"default":{"disk_gb":20}}`,
			`{"type":"object", "properties":{"region":{"type":"string"},"size":{"type":"string","enum":["s","m","l"],"default":"l"},` +
				`"debug":{"type":"boolean"},"disk_gb":{"type":"integer", "minimum":1,"default":20}},"required":["region"],` +
				`"additionalProperties":false}`},
		{"fewer values, without a default that is none of them", machine, `{"enum":{"size":["s","m"]},"require":["size"]}`,
			`{"type":"object", "properties":{"region":{"type":"string"},"size":{"type":"string","enum":["s","m"]},` +
				`"debug":{"type":"boolean"},"disk_gb":{"type":"integer", "minimum":1}},"required":["region","disk_gb","size"],` +
				`"additionalProperties":false}`},
		{"properties behind a reference", `{"$ref":"#/$defs/M","$defs":{"M":{"type":"object","properties":{"a":{"type":"string"},` +
			`"b":{"type":"integer"}},"required":["a"]}}}`, `{"hide":["b"]}`,
			`{"$defs":{"M":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}},` +
				`"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"properties in parts", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},` +
			`{"properties":{"b":{"type":"integer"}},"minProperties":1}]}`, `{"rename":{"b":"c"}}`,
			`{"allOf":[{"minProperties":1}],"type":"object","properties":{"a":{"type":"string"},"c":{"type":"integer"}},"required":["a"]}`},
		{"a condition on what is not shown is not shown",
			`{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"anyOf":[{"required":["id"]},` +
				`{"required":["url"]}]}`, `{"fix":{"url":"u"}}`,
			`{"type":"object","properties":{"id":{"type":"string"}}}`},
		{"where a reference must stand alone it does",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/s"}},` +
				`"definitions":{"s":{"type":"string"}}}`, `{"enum":{"a":["x"]}}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
				`"properties":{"a":{"allOf":[{"$ref":"#/definitions/s"}],"enum":["x"]}},"definitions":{"s":{"type":"string"}}}`},
		{"a list of required names that stays keeps its bytes", `{"properties":{"a":{},"b":{}},"required":[ "a" ]}`, `{"hide":["b"]}`,
			`{"properties":{"a":{}},"required":[ "a" ]}`},
		{"an empty one goes", `{"properties":{"a":{},"b":{}},"required":["a"]}`, `{"fix":{"a":1}}`, `{"properties":{"b":{}}}`},
		{"a reference to what is gone stays whole",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#/properties/b"}}}`,
			`{"hide":["a"],"rename":{"b":"d"}}`,
			`{"type":"object","properties":{"d":{"$ref":"#/$defs/a"},"c":{"$ref":"#/properties/d"}},"$defs":{"a":{"type":"string"}}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := override(t, c.override).Apply(definition(t, c.schema), nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"name":"create","description":"Creates.","inputSchema":` + c.want + `,"x":1.0}`; string(v.Definition) != want {
				t.Errorf("got  %s\nwant %s", v.Definition, want)
			}
			if _, err := oracle(v.InputSchema()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOverridesOfNameAndWords(t *testing.T) {
	v, err := override(t, `{"name":"create_vm","description":""}`).Apply(definition(t, machine), nil)
	if err != nil || !strings.HasPrefix(string(v.Definition), `{"name":"create_vm","description":"","inputSchema":{"type":"object", `) {
		t.Errorf("got %s, %v", v.Definition, err)
	}
	v, err = override(t, `{"hidden":true}`).Apply(definition(t, machine), nil)
	if err != nil || v.Definition != nil {
		t.Errorf("got %s, %v", v.Definition, err)
	}
}

func TestOverridesThatCannotApply(t *testing.T) {
	cases := []struct{ name, override, want string }{
		{"a property that is not there", `{"hide":["regoin"]}`, `override create: the tool has no property "regoin"; did you mean region?`},
		{"a required one cannot be hidden alone", `{"hide":["region"]}`, "hide region: the tool requires it"},
		{"a value of the wrong type", `{"fix":{"disk_gb":"big"}}`, `fix disk_gb: "big": arguments: expected integer`},
		{"a default that is not allowed", `{"default":{"size":"xl"}}`, "default size"},
		{"values that the tool does not take", `{"enum":{"size":["s","xl"]}}`, "enum size"},
		{"no value at all", `{"enum":{"size":[]}}`, "no value is left"},
		{"a name that is taken", `{"rename":{"debug":"size"}}`, `the name "size" is empty or taken`},
		{"an empty name", `{"rename":{"debug":""}}`, "is empty or taken"},
		{"required and hidden", `{"hide":["debug"],"require":["debug"]}`, "require debug: it is hidden"},
		{"required and fixed", `{"fix":{"debug":true},"require":["debug"]}`, "require debug: it is fixed"},
		{"a default outside the enum", `{"default":{"size":"l"},"enum":{"size":["s"]}}`, "not among its enum"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := override(t, c.override).Apply(definition(t, machine), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestArgumentsOfAnOverriddenTool(t *testing.T) {
	all := `{"fix":{"region":"eu"},"hide":["debug"],"rename":{"disk_gb":"disk"},"enum":{"size":["s","m"]},"default":{"size":"m"}}`
	cases := []struct{ name, override, args, want string }{
		{"names, bound values and defaults", all, `{"disk":5}`, `{"disk_gb":5,"region":"eu","size":"m"}`},
		{"what is bound cannot be changed", all, `{"disk":5,"region":"us","size":"s"}`, `{"disk_gb":5,"size":"s","region":"eu"}`},
		{"saying it twice is refused", all, `{"region":"us","disk":5,"r\u0065gion":"cn"}`, `!/region: expected one value, got several`},
		{"repairs are made", all, `{"Disk":"5","size":"S"}`, `{"disk_gb":5,"size":"s","region":"eu"}`},
		{"a value that was taken away is refused", all, `{"disk":5,"size":"l"}`, `!/size: expected one of "s", "m"`},
		{"a hidden property is refused", all, `{"disk":5,"debug":true}`, `!/debug: unknown argument`},
		{"the old name is refused", all, `{"disk_gb":5}`, `!/disk`},
		{"a required one is demanded", `{"require":["debug"]}`, `{"region":"eu","disk_gb":1}`, `!/debug: missing`},
		{"problems speak the model's names", all, `{"disk":0}`, `!/disk: expected at least 1`},
		{"names can be swapped", `{"rename":{"region":"size","size":"region"}}`, `{"size":"eu","region":"s","disk_gb":1}`,
			`{"region":"eu","size":"s","disk_gb":1}`},
		{"only the tool's name is other", `{"name":"n"}`, `{"region":"eu", "disk_gb":1}`, `{"region":"eu", "disk_gb":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			def := definition(t, machine)
			v, err := override(t, c.override).Apply(def, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := compiled(t, string(def.InputSchema()), &Options{Override: v}).Fit(t.Context(), []byte(c.args))
			if part, refused := strings.CutPrefix(c.want, "!"); refused {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("got %s, %v, want %q", res.Args, err, part)
				}
				return
			}
			if err != nil || string(res.Args) != c.want {
				t.Errorf("got  %s, %v\nwant %s", res.Args, err, c.want)
			}
		})
	}
}

func TestOpenArgumentsLackWhatIsBound(t *testing.T) {
	def := definition(t, machine)
	v, err := override(t, `{"fix":{"region":"eu"},"rename":{"disk_gb":"disk"}}`).Apply(def, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := compiled(t, string(def.InputSchema()), &Options{Override: v})
	for args, want := range map[string]string{
		`{"disk":"5"}`:               `{"disk_gb":5}`,
		`{"region":"us","disk":5.0}`: `{"disk_gb":5.0}`,
		`{"disk":5,"size":"s"}`:      `{"disk_gb":5,"size":"s"}`,
	} {
		res, err := tool.Fit(t.Context(), []byte(args))
		if err != nil || string(res.Open()) != want {
			t.Errorf("%s: %s, %v", args, res.Open(), err)
		}
	}
}

func TestAHiddenPropertyOfAnOpenToolIsNotTaken(t *testing.T) {
	def := definition(t, `{"type":"object","properties":{"a":{"type":"string"},"secret":{"type":"string"}}}`)
	v, err := override(t, `{"hide":["secret"]}`).Apply(def, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := compiled(t, string(def.InputSchema()), &Options{Override: v})
	for _, args := range []string{`{"secret":"x"}`, `{"s\u0065cret":"x"}`, `{"a":"b","secret":null}`} {
		if res, err := tool.Fit(t.Context(), []byte(args)); err == nil {
			t.Errorf("%s became %s", args, res.Args)
		}
	}
}
