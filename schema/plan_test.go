package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// sameJSON compares two texts; the order of members does not count.
func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	var a, b tree
	x, err := a.Parse([]byte(got))
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	y, err := b.Parse([]byte(want))
	if err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	return jsonschema.Equal(x, y)
}

func mustPlan(t *testing.T, raw string, d Dialect, opts *Options) *Result {
	t.Helper()
	res, err := Plan([]byte(raw), d, opts)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	if bad := Check(res.Parameters, res.Dialect); len(bad) > 0 {
		t.Errorf("%s: %v in %s", d, bad, res.Parameters)
	}
	if _, err := compile(res.Parameters); err != nil {
		t.Errorf("%s: %v in %s", d, err, res.Parameters)
	}
	return res
}

// one is a rule about a schema that stands as the required property v.
type one struct {
	name    string
	dialect Dialect
	in      string
	want    string // "": v is left out
	args    string // a value the model sends for v, and
	back    string // what the tool gets
}

const defs = `"$defs":{"P":{"type":"integer","minimum":0},"A":{"type":"string"},"a/b":{"type":"string"},"c%d":{"type":"string"},"e~1":{"type":"string"},` +
	`"X":{"$anchor":"n","type":"string"},"T":true,"R":{"$id":"http://x.test/r","type":"object","properties":{"q":{"$ref":"#/$defs/S"}},"$defs":{"S":{"type":"boolean"}}}}`

func (c one) run(t *testing.T, prefix string, opts *Options) {
	t.Run(string(c.dialect)+"/"+c.name, func(t *testing.T) {
		raw := `{` + prefix + `"type":"object","properties":{"v":` + c.in + `},"required":["v"],"additionalProperties":false,` + defs + `}`
		res := mustPlan(t, raw, c.dialect, opts)
		var out struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(res.Parameters, &out); err != nil {
			t.Fatal(err)
		}
		if got := string(out.Properties["v"]); !sameJSON(t, got, c.want) {
			t.Errorf("got  %s\nwant %s\nreport %v", got, c.want, res.Report)
		}
		if c.args == "" {
			return
		}
		args, _, err := res.Back([]byte(`{"v":` + c.args + `}`))
		if want := `{"v":` + c.back + `}`; err != nil || string(args) != want {
			t.Errorf("back gives %s, %v, want %s", args, err, want)
		}
	})
}

func TestReferences(t *testing.T) {
	for _, c := range []one{
		{name: "the site's words win and its constraints add up", dialect: OpenAI, in: `{"$ref":"#/$defs/P","description":"page","maximum":9}`,
			want: `{"type":"integer","minimum":0,"maximum":9,"description":"page"}`},
		{name: "a slash in a name", dialect: OpenAI, in: `{"$ref":"#/$defs/a~1b"}`, want: `{"type":"string"}`},
		{name: "a percent sign in a name", dialect: OpenAI, in: `{"$ref":"#/$defs/c%25d"}`, want: `{"type":"string"}`},
		{name: "a tilde in a name", dialect: OpenAI, in: `{"$ref":"#/$defs/e~01"}`, want: `{"type":"string"}`},
		{name: "a slash written as %2F is understood", dialect: OpenAI, in: `{"$ref":"#/$defs/a%2Fb"}`, want: `{"type":"string"}`},
		{name: "a slash written as it is is understood", dialect: OpenAI, in: `{"$ref":"#/$defs/a/b"}`, want: `{"type":"string"}`},
		{name: "an anchor", dialect: OpenAI, in: `{"$ref":"#n"}`, want: `{"type":"string"}`},
		{name: "an $id is found without a network, and its own # is its own root", dialect: OpenAI, in: `{"$ref":"http://x.test/r"}`,
			want: `{"type":"object","properties":{"q":{"type":"boolean"}}}`},
		{name: "a property called $ref is data", dialect: OpenAI, in: `{"type":"object","properties":{"$ref":{"type":"string"}}}`,
			want: `{"type":"object","properties":{"$ref":{"type":"string"}}}`},
		{name: "a missing target accepts anything and says so", dialect: OpenAI, in: `{"$ref":"#/$defs/Nope","description":"d"}`, want: `{"description":"d (schema missing)"}`},
		{name: "a reference to a boolean", dialect: OpenAI, in: `{"$ref":"#/$defs/T"}`, want: `{}`},
		{name: "in a union, with null", dialect: OpenAI, in: `{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`, want: `{"type":["string","null"]}`},
		{name: "in items without a type", dialect: OpenAI, in: `{"items":{"$ref":"#/$defs/A"}}`, want: `{"items":{"type":"string"}}`},
		{name: "in a map", dialect: OpenAI, in: `{"type":"object","additionalProperties":{"$ref":"#/$defs/A"}}`, want: `{"type":"object","additionalProperties":{"type":"string"}}`},
		{name: "into the properties of the document", dialect: OpenAI, in: `{"anyOf":[{"$ref":"#/$defs/R/properties/q"},{"$ref":"#/$defs/A"}]}`,
			want: `{"anyOf":[{"type":"boolean"},{"type":"string"}]}`},
	} {
		c.run(t, "", nil)
	}
	one{name: "beside a reference draft-07 keeps words alone", dialect: OpenAI, in: `{"$ref":"#/$defs/P","description":"page","maximum":9}`,
		want: `{"type":"integer","minimum":0,"description":"page"}`}.run(t, `"$schema":"http://json-schema.org/draft-07/schema#",`, nil)
	one{name: "so does OpenAPI 3.0", dialect: OpenAI, in: `{"$ref":"#/$defs/P","description":"page","maximum":9}`,
		want: `{"type":"integer","minimum":0,"description":"page"}`}.run(t, "", &Options{Flavor: OpenAPI30})
}

func TestComposition(t *testing.T) {
	for _, c := range []one{
		{name: "allOf is merged", dialect: GeminiParams,
			in:   `{"allOf":[{"properties":{"x":{"type":"number","minimum":1}},"required":["x"]},{"properties":{"x":{"type":"integer"},"y":{"type":"string"}}}]}`,
			want: `{"type":"object","properties":{"x":{"type":"integer","minimum":1},"y":{"type":"string"}},"required":["x"]}`},
		{name: "a closed part keeps the other's keys", dialect: Moonshot,
			in:   `{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false},{"properties":{"y":{"type":"string"}}}]}`,
			want: `{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}},"additionalProperties":false}`},
		{name: "what is closed beside a union keeps the keys of its branches", dialect: GeminiParams,
			in:   `{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false,"anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`,
			want: `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"x":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"},"x":{"type":"string"}}}]}`},
		{name: "an enum beside an array is that of its items", dialect: Moonshot,
			in:   `{"type":"array","items":{"type":"string"},"enum":["a","b"]}`,
			want: `{"type":"array","items":{"type":"string","enum":["a","b"]}}`},
		{name: "what stands beside a union goes into its branches", dialect: Moonshot,
			in:   `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`,
			want: `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`},
		{name: "equal branches are one", dialect: Gemini, in: `{"anyOf":[{"type":"string"},{"type":"string"}]}`, want: `{"type":"string"}`},
		{name: "lists of strings are one list", dialect: Gemini, in: `{"anyOf":[{"enum":["a"]},{"const":"b"}]}`, want: `{"type":"string","enum":["a","b"]}`},
		{name: "oneOf becomes anyOf with one-value lists", dialect: Moonshot,
			in: `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`,
			want: `{"anyOf":[{"type":"object","properties":{"k":{"type":"string","enum":["a"]}},"required":["k"]},` +
				`{"type":"object","properties":{"k":{"type":"string","enum":["b"]}},"required":["k"]}]}`},
		{name: "not is put into words", dialect: Gemini, in: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"not":{"required":["a","b"]}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"description":"not both of: a, b"}`},
		{name: "unevaluatedProperties: false closes the merged object", dialect: Gemini,
			in:   `{"allOf":[{"properties":{"a":{"type":"string"}}}],"type":"object","unevaluatedProperties":false}`,
			want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`},
		{name: "what is said of all branches together is said of none alone", dialect: Gemini,
			in: `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}],"unevaluatedProperties":false}`,
			want: `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}],` +
				`"description":"Further rules are checked when called."}`},
		{name: "two conditions are described, not mixed", dialect: OpenAI,
			in:   `{"type":"object","allOf":[{"if":{"required":["a"]},"then":{"required":["b"]}},{"if":{"required":["c"]},"then":{"required":["d"]}}]}`,
			want: `{"type":"object","description":"Conditions are checked when called."}`},
		{name: "and so for those that cannot say them", dialect: Gemini,
			in:   `{"type":"object","allOf":[{"if":{"required":["a"]},"then":{"required":["b"]}},{"if":{"required":["c"]},"then":{"required":["d"]}}]}`,
			want: `{"type":"object","description":"Conditions are checked when called."}`},
	} {
		c.run(t, "", nil)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []one{
		{name: "const is a list of one, and comes back when left out", dialect: Gemini, in: `{"const":"v1"}`, want: `{"type":"string","enum":["v1"]}`},
		{name: "a mixed list is split by type", dialect: Moonshot, in: `{"enum":["a",1,null]}`,
			want: `{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}`},
		{name: "numbers in a list go as text and come back", dialect: GeminiParams, in: `{"type":"integer","enum":[1,2]}`, want: `{"type":"string","enum":["1","2"]}`,
			args: `"2"`, back: `2`},
		{name: "nullable in its own way", dialect: GeminiParams, in: `{"type":"string","nullable":true}`, want: `{"type":"string","nullable":true}`},
		{name: "nullable as a list of types", dialect: Gemini, in: `{"type":"string","nullable":true}`, want: `{"type":["string","null"]}`},
		{name: "nullable as a union", dialect: Moonshot, in: `{"type":["string","null"],"description":"d"}`, want: `{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d"}`},
		{name: "a nullable list of values is a union", dialect: OpenAIStrict, in: `{"enum":["a",null]}`, want: `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`},
		{name: "several types, each with its keywords", dialect: Moonshot, in: `{"type":["string","array"],"items":{"type":"string"},"minLength":1}`,
			want: `{"anyOf":[{"type":"string","minLength":1},{"type":"array","items":{"type":"string"}}]}`},
		{name: "anything is {}", dialect: OpenAI, in: `true`, want: `{}`},
		{name: "anything is every type", dialect: Moonshot, in: `true`,
			want: `{"type":["string","number","boolean","object","array","null"],"description":"Any JSON value"}`},
		{name: "anything is JSON text", dialect: GeminiParams, in: `{}`, want: `{"type":"string","description":"JSON value"}`, args: `"[1]"`, back: `[1]`},
		{name: "an impossible property is left out", dialect: OpenAI, in: `{"type":"object","properties":{"a":true,"b":false}}`, want: `{"type":"object","properties":{"a":{}}}`},
		{name: "bounds are put into words", dialect: AnthropicStrict, in: `{"type":"integer","minimum":1,"maximum":9}`, want: `{"type":"integer","description":"1 to 9"}`},
		{name: "an exclusive bound of an integer is exact", dialect: Gemini, in: `{"type":"integer","exclusiveMinimum":0}`, want: `{"type":"integer","minimum":1}`},
		{name: "a default is put into words", dialect: OpenAIStrict, in: `{"type":"integer","default":10}`, want: `{"type":"integer","description":"Default: 10."}`},
		{name: "a bound that readers disagree about is put into words", dialect: Moonshot, in: `{"type":"integer","minimum":0,"maximum":9007199254740993}`,
			want: `{"type":"integer","minimum":0,"description":"At most 9007199254740993"}`},
		{name: "too many values are described", dialect: Moonshot, in: `{"type":"string","enum":[` + manyValues(1200) + `]}`,
			want: `{"type":"string","description":"One of: ` + firstValues(20) + `, …"}`},
	} {
		c.run(t, "", nil)
	}
}

func manyValues(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"v` + itoa(i) + `"`)
	}
	return b.String()
}

func firstValues(n int) string {
	return strings.ReplaceAll(strings.ReplaceAll(manyValues(n), `"`, ""), ",", ", ")
}

func TestObjectsAndArrays(t *testing.T) {
	for _, c := range []one{
		{name: "a map is a list of pairs", dialect: GeminiParams, in: `{"type":"object","additionalProperties":{"type":"integer"}}`,
			want: `{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"]}}`,
			args: `[{"key":"a","value":1}]`, back: `{"a":1}`},
		{name: "also where objects must be closed", dialect: OpenAIStrict, in: `{"type":"object","additionalProperties":{"type":"integer"}}`,
			want: `{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"integer"}},"required":["key","value"],"additionalProperties":false}}`,
			args: `[]`, back: `{}`},
		{name: "patterns of keys are a map", dialect: Gemini, in: `{"type":"object","patternProperties":{"^x-":{"type":"string"}}}`,
			want: `{"type":"object","additionalProperties":{"type":"string"},"description":"Keys match ^x-"}`},
		{name: "listed names are properties", dialect: Gemini, in: `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"string"}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`},
		{name: "a required name without a schema gets one", dialect: Gemini, in: `{"type":"object","properties":{},"required":["z"]}`,
			want: `{"type":"object","properties":{"z":{"type":["string","number","boolean","object","array","null"],"description":"Any JSON value"}},"required":["z"]}`},
		{name: "a tuple is an array of its positions", dialect: GeminiParams, in: `{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`,
			want: `{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"minItems":2,"maxItems":2,"description":"[0] string, [1] integer"}`},
		{name: "an array without items", dialect: OpenAI, in: `{"type":"array"}`, want: `{"type":"array","items":{}}`},
		{name: "an array without items may stay so", dialect: Moonshot, in: `{"type":"array"}`, want: `{"type":"array"}`},
		{name: "an array without items gets typed ones", dialect: GeminiParams, in: `{"type":"array"}`,
			want: `{"type":"array","items":{"type":"string"},"description":"Items are JSON text of any type"}`, args: `["1","[2]","\"3\"","x"]`, back: `[1,[2],"3","x"]`},
		{name: "keys that are refused are renamed", dialect: GeminiParams, in: `{"type":"object","properties":{"filter[name]":{"type":"string"},"filter_name":{"type":"string"}}}`,
			want: `{"type":"object","properties":{"filter_name_2":{"type":"string"},"filter_name":{"type":"string"}}}`,
			args: `{"filter_name_2":"x","filter_name":"y"}`, back: `{"filter[name]":"x","filter_name":"y"}`},
		{name: "keys that are refused are renamed", dialect: Anthropic, in: `{"type":"object","properties":{"$top":{"type":"integer"}},"required":["$top"]}`,
			want: `{"type":"object","properties":{"top":{"type":"integer"}},"required":["top"]}`, args: `{"top":3,"other":1}`, back: `{"$top":3,"other":1}`},
		{name: "an optional property is required and may be null", dialect: OpenAIStrict,
			in:   `{"type":"object","properties":{"a":{"type":"string"}}}`,
			want: `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, args: `{"a":null}`, back: `{}`},
		{name: "an optional property stays optional", dialect: AnthropicStrict, in: `{"type":"object","properties":{"a":{"type":"string"}}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`},
	} {
		c.run(t, "", nil)
	}
}

// whole is a rule about a schema as a whole.
type whole struct {
	name    string
	dialect Dialect
	in      string
	want    string
	args    string
	back    string
	actual  Dialect
}

func (c whole) run(t *testing.T) {
	t.Run(string(c.dialect)+"/"+c.name, func(t *testing.T) {
		res := mustPlan(t, c.in, c.dialect, nil)
		if !sameJSON(t, string(res.Parameters), c.want) {
			t.Errorf("got  %s\nwant %s\nreport %v", res.Parameters, c.want, res.Report)
		}
		if c.actual != "" && res.Dialect != c.actual {
			t.Errorf("the dialect is %s, want %s", res.Dialect, c.actual)
		}
		if c.args == "" {
			return
		}
		if args, _, err := res.Back([]byte(c.args)); err != nil || string(args) != c.back {
			t.Errorf("back gives %s, %v, want %s", args, err, c.back)
		}
	})
}

func TestRoots(t *testing.T) {
	for _, c := range []whole{
		{name: "an object without properties gets them", dialect: OpenAI, in: `{"type":"object"}`, want: `{"type":"object","properties":{}}`},
		{name: "no schema is a tool without arguments", dialect: DeepSeek, in: ``, want: `{"type":"object","properties":{}}`, args: ``, back: `{}`},
		{name: "properties make an object", dialect: OpenAI, in: `{"properties":{"a":{"type":"string"}}}`, want: `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{name: "branches that differ in required are words", dialect: OpenAI,
			in:   `{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"anyOf":[{"required":["id"]},{"required":["url"]}]}`,
			want: `{"type":"object","properties":{"id":{"type":"string"},"url":{"type":"string"}},"description":"Give at least one of: id, url."}`},
		{name: "branches of objects are one object", dialect: Anthropic,
			in: `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"},"k":{"const":"x"}},"required":["a","k"]},` +
				`{"type":"object","properties":{"b":{"type":"string"},"k":{"const":"y"}},"required":["b","k"]}]}`,
			want: `{"type":"object","properties":{"a":{"type":"string"},"k":{"type":"string","enum":["x","y"]},"b":{"type":"string"}},"required":["k"],` +
				`"description":"Give exactly one of: a + k, b + k."}`},
		{name: "what is no object is wrapped", dialect: OpenAI, in: `{"type":"array","items":{"type":"string"}}`,
			want: `{"type":"object","properties":{"input":{"type":"array","items":{"type":"string"}}},"required":["input"],"additionalProperties":false}`,
			args: `{"input":["a"]}`, back: `["a"]`},
		{name: "a wrapped map comes back", dialect: GeminiParams, in: `{"type":"array","items":{"type":"object","additionalProperties":{"type":"integer"}}}`,
			want: `{"type":"object","properties":{"input":{"type":"array","items":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},` +
				`"value":{"type":"integer"}},"required":["key","value"]}}}},"required":["input"]}`,
			args: `{"input":[[{"key":"a","value":1}]]}`, back: `[{"a":1}]`},
		{name: "null that means something is not mixed with absence", dialect: OpenAIStrict, actual: OpenAI,
			in: `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, want: `{"type":"object","properties":{"a":{"type":["string","null"]}}}`},
		{name: "anything is not strict", dialect: DeepSeekStrict, actual: DeepSeek,
			in: `{"type":"object","properties":{"a":{}}}`, want: `{"type":"object","properties":{"a":{}}}`},
		{name: "an object of which nothing is known is not strict", dialect: OpenAIStrict, actual: OpenAI, in: `{"type":"object"}`, want: `{"type":"object","properties":{}}`},
		{name: "a tool without arguments is", dialect: OpenAIStrict, actual: OpenAIStrict, in: `{"type":"object","properties":{}}`,
			want: `{"type":"object","properties":{},"additionalProperties":false}`},
		{name: "an optional nullable-free tool is strict", dialect: OpenAIStrict, actual: OpenAIStrict,
			in:   `{"type":"object","properties":{"a":{"type":"integer","default":10}}}`,
			want: `{"type":"object","properties":{"a":{"type":["integer","null"],"description":"Default: 10."}},"required":["a"],"additionalProperties":false}`,
			args: `{"a":null}`, back: `{}`},
		{name: "a required constant that is left out comes back", dialect: Moonshot,
			in:   `{"type":"object","properties":{"k":{"const":5},"a":{"type":"string"}},"required":["k"]}`,
			want: `{"type":"object","properties":{"k":{"type":"integer","enum":[5]},"a":{"type":"string"}},"required":["k"]}`, args: `{"a":"x"}`, back: `{"a":"x","k":5}`},
		{name: "branches are told apart on the way back", dialect: GeminiParams,
			in: `{"type":"object","properties":{"v":{"anyOf":[{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}},"required":["m"]},` +
				`{"type":"object","properties":{"n":{"enum":[1,2]}},"required":["n"]}]}}}`,
			want: `{"type":"object","properties":{"v":{"anyOf":[{"type":"object","properties":{"m":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},` +
				`"value":{"type":"string"}},"required":["key","value"]}}},"required":["m"]},{"type":"object","properties":{"n":{"type":"string","enum":["1","2"]}},"required":["n"]}]}}}`,
			args: `{"v":{"n":"2"}}`, back: `{"v":{"n":2}}`},
	} {
		c.run(t)
	}
}

func TestRepairs(t *testing.T) {
	for _, c := range []whole{
		{name: "the type any is no type", dialect: OpenAI, in: `{"type":"object","properties":{"a":{"type":"any"}}}`, want: `{"type":"object","properties":{"a":{}}}`},
		{name: "a boolean exclusive bound", dialect: OpenAI, in: `{"type":"object","properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
			want: `{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":0}}}`},
		{name: "a value twice", dialect: OpenAI, in: `{"type":"object","properties":{"a":{"type":"string","enum":["x","x"]}},"required":["a","a"]}`,
			want: `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"]}`},
		{name: "a schema one level too deep", dialect: OpenAI, in: `{"type":"object","properties":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{name: "required: null", dialect: Qwen, in: `{"type":"object","properties":{},"required":null}`, want: `{"type":"object","properties":{}}`},
		{name: "unknown keywords", dialect: Gemini, in: `{"$schema":"x","type":"object","properties":{"a":{"type":"string","optional":true,"x-y":1}},"~standard":{}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{name: "a member twice: the last counts", dialect: OpenAI, in: `{"type":"array","type":"object","properties":{}}`, want: `{"type":"object","properties":{}}`},
	} {
		c.run(t)
	}
}
