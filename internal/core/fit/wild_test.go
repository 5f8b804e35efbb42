package fit

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// wild writes schemas that use every keyword, and values that may or may not fit.
type wild struct {
	rand *rand.Rand
	left int
	odd  bool // keywords may also be wrong
}

func (w *wild) pick(list ...string) string { return list[w.rand.IntN(len(list))] }

func (w *wild) schema() string {
	w.left--
	if w.left < 0 || w.rand.IntN(20) == 0 {
		return w.pick(`true`, `false`, `{}`, `{"type":"string"}`, `{"type":"null"}`, `{"type":"integer"}`)
	}
	members := map[string]string{}
	for range 1 + w.rand.IntN(4) {
		key, value := w.member()
		members[key] = value
	}
	var out []string
	for key, value := range members {
		out = append(out, quoted(key)+":"+value)
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (w *wild) list() string {
	out := []string{w.schema()}
	for range w.rand.IntN(3) {
		out = append(out, w.schema())
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (w *wild) name() string { return w.pick("a", "b", "c", "ab", "$ref", "é", "a/b") }

func (w *wild) named() string {
	out := map[string]string{}
	for range w.rand.IntN(4) {
		out[w.name()] = w.schema()
	}
	var list []string
	for k, v := range out {
		list = append(list, quoted(k)+":"+v)
	}
	return "{" + strings.Join(list, ",") + "}"
}

func (w *wild) literal() string {
	return w.pick(`"a"`, `"b"`, `"A"`, `1`, `1.0`, `-7`, `1e3`, `9007199254740993`, `0.1`, `null`, `true`, `false`, `[1]`, `{"a":1}`, `""`,
		`"1"`, `"true"`, `"[1]"`, `[]`, `{}`)
}

func (w *wild) value(depth int) string {
	var out []string
	switch n := w.rand.IntN(10); {
	case n < 3 && depth < 4:
		for range w.rand.IntN(4) {
			out = append(out, quoted(w.name())+":"+w.value(depth+1))
		}
		return "{" + strings.Join(out, ",") + "}"
	case n < 5 && depth < 4:
		for range w.rand.IntN(4) {
			out = append(out, w.value(depth+1))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	return w.literal()
}

func (w *wild) member() (string, string) {
	if w.odd && w.rand.IntN(6) == 0 {
		key := w.pick("type", "properties", "required", "items", "anyOf", "enum", "minimum", "minLength", "pattern", "$ref",
			"additionalProperties", "not", "multipleOf", "dependentRequired", "prefixItems", "exclusiveMinimum", "$id", "$anchor", "if")
		return key, w.literal()
	}
	switch w.rand.IntN(24) {
	case 0, 1, 2:
		return "properties", w.named()
	case 3, 4:
		return "type", w.pick(`"object"`, `"object"`, `"string"`, `"integer"`, `"array"`, `"number"`, `["string","null"]`,
			`["object","array"]`, `["integer","boolean"]`)
	case 5:
		return "required", w.pick(`["a"]`, `["a","b"]`, `["zz"]`, `[]`)
	case 6, 7:
		return "$ref", quoted(w.pick("#", "#/$defs/A", "#/$defs/B", "#/$defs/C", "#/$defs/A", "#/$defs/B"))
	case 8:
		return w.pick("anyOf", "oneOf"), w.list()
	case 9:
		return "allOf", w.list()
	case 10:
		return w.pick("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties",
			"unevaluatedItems"), w.schema()
	case 11:
		return "prefixItems", w.list()
	case 12:
		return "enum", `[` + w.literal() + `,` + w.literal() + `]`
	case 13:
		return "const", w.literal()
	case 14:
		return "patternProperties", `{"^a":` + w.schema() + `}`
	case 15:
		return w.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
			w.pick("1", "0.5", "3", "10", "0.01", "1e2")
	case 16:
		return w.pick("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"),
			w.pick("1", "0", "3", "2.0")
	case 17:
		return w.pick("pattern", "format"), w.pick(`"^a"`, `"(?=x)"`, `"date-time"`)
	case 18:
		return "default", w.literal()
	case 19:
		return "uniqueItems", w.pick("true", "false")
	case 20:
		return "title", `"words"`
	case 21:
		return "dependentRequired", `{"a":["b"]}`
	case 22:
		return "dependentSchemas", `{"a":` + w.schema() + `}`
	}
	return "dependencies", w.pick(`{"a":["b"]}`, `{"b":{"required":["c"]}}`)
}

func (w *wild) document() string {
	key, value := w.member()
	if key == "properties" {
		key = "x"
	}
	return `{"properties":` + w.named() + `,"$defs":{"A":` + w.schema() + `,"B":` + w.schema() + `,"C":` + w.schema() + `},` +
		quoted(key) + `:` + value + `}`
}

func TestTheVerdictOnWildSchemasIsThatOfTheOracle(t *testing.T) {
	compared := 0
	loops := 0
	repaired := 0
	for seed := range uint64(250) {
		w := &wild{rand: rand.New(rand.NewPCG(seed, 7)), left: 25}
		raw := w.document()
		judge, err := oracle([]byte(raw))
		if err != nil {
			t.Fatalf("%d: %v: %s", seed, err, raw)
		}
		root, notes := compile([]byte(raw))
		if len(notes) > 0 {
			loops++ // a reference that leads back to itself: the oracle refuses everything there
			continue
		}
		tool, err := Compile([]byte(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			value := w.value(0)
			compared++
			if ours, theirs := verdict(root, []byte(value)), valid(judge, []byte(value)); ours != theirs {
				t.Fatalf("%d: we say %v, the oracle %v: %s\nfor %s", seed, ours, theirs, value, raw)
			}
			res, err := tool.Fit(t.Context(), []byte(value))
			if err != nil {
				if !fault.Is(err, fault.BadArguments) {
					t.Fatalf("%d: %v", seed, err)
				}
				continue
			}
			if len(res.Repairs) > 0 {
				repaired++
			}
			if !valid(judge, res.Args) {
				t.Fatalf("%d: %s became %s, which does not fit\nfor %s", seed, value, res.Args, raw)
			}
			if len(res.Repairs) == 0 && string(res.Args) != value {
				t.Fatalf("%d: %s became %s without a repair", seed, value, res.Args)
			}
		}
	}
	t.Logf("%d verdicts alike, %d values repaired, %d schemas left out for loops", compared, repaired, loops)
}

func TestOddSchemasRefuseNothingThatTheyDoNotSpeakOf(t *testing.T) {
	for seed := range uint64(500) {
		w := &wild{rand: rand.New(rand.NewPCG(seed, 9)), left: 30, odd: true}
		raw := w.document()
		tool, err := Compile([]byte(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tool.Fit(t.Context(), json.RawMessage(w.value(0)))
		var no *Error
		if err != nil && (!errors.As(err, &no) || len(no.Problems) == 0) {
			t.Fatalf("%d: %v for %s", seed, err, raw)
		}
		if err == nil && len(res.Args) == 0 {
			t.Fatalf("%d: no arguments for %s", seed, raw)
		}
	}
	for _, raw := range []string{``, `null`, `5`, `"x"`, `[]`, `{`, `{"type":"any"}`, `{"properties":5}`, `{"required":null}`,
		`{"required":true}`, `{"$ref":"#/nowhere"}`,
		`{"$ref":"https://example.com/x.json"}`, `{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		`{"pattern":5}`, `{"properties":{"a":{"pattern":"(?=x)"}}}`, `{"properties":{"a":{"type":"text"}}}`,
		`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, `{"enum":5}`, `{"anyOf":[]}`} {
		tool, err := Compile([]byte(raw), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := tool.Fit(t.Context(), []byte(`{"a":"b"}`)); err != nil || string(res.Args) != `{"a":"b"}` {
			t.Errorf("%s refuses: %v", raw, err)
		}
	}
}
