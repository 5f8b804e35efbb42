package schema

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// wild writes schemas that use every keyword, often wrongly.
type wild struct {
	rand *rand.Rand
	left int
}

func (w *wild) pick(list ...string) string { return list[w.rand.IntN(len(list))] }

func (w *wild) schema() string {
	w.left--
	if w.left < 0 || w.rand.IntN(20) == 0 {
		return w.pick(`true`, `false`, `{}`, `{"type":"string"}`, `{"type":"null"}`, `5`)
	}
	var members []string
	for range 1 + w.rand.IntN(4) {
		members = append(members, w.member())
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (w *wild) list() string {
	var out []string
	for range w.rand.IntN(4) {
		out = append(out, w.schema())
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (w *wild) named() string {
	var out []string
	for range w.rand.IntN(4) {
		out = append(out, quoteJSON(w.pick("a", "b", "c d", "$ref", "type", "", "é", "filter[x]", "required"))+":"+w.schema())
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (w *wild) literal() string {
	return w.pick(`"a"`, `"b"`, `1`, `1.0`, `-7`, `1e3`, `9007199254740993`, `null`, `true`, `false`, `[1]`, `{"x":{"$ref":"#/nowhere"}}`, `""`, `"1"`)
}

func (w *wild) member() string {
	switch w.rand.IntN(24) {
	case 0, 1, 2:
		return `"properties":` + w.named()
	case 3, 4:
		return `"type":` + w.pick(`"object"`, `"object"`, `"string"`, `"integer"`, `"array"`, `["string","null"]`, `["object","array"]`, `"any"`, `["number","integer","boolean"]`, `7`, `[]`)
	case 5:
		return `"required":` + w.pick(`["a"]`, `["a","b"]`, `["zz","zz"]`, `null`, `[]`)
	case 6, 7:
		return `"$ref":` + quoteJSON(w.pick("#", "#/$defs/A", "#/$defs/B", "#/$defs/C", "#/properties/a", "#/$defs/A/properties/a", "#here", "#/nope", "#/$defs/A/anyOf/0"))
	case 8:
		return `"` + w.pick("anyOf", "oneOf") + `":` + w.list()
	case 9:
		return `"allOf":` + w.list()
	case 10:
		return `"` + w.pick("items", "additionalProperties", "not", "if", "then", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "additionalItems") + `":` + w.schema()
	case 11:
		return `"` + w.pick("items", "prefixItems") + `":` + w.list()
	case 12:
		return `"enum":[` + w.literal() + `,` + w.literal() + `,` + w.literal() + `]`
	case 13:
		return `"const":` + w.literal()
	case 14:
		return `"patternProperties":{"^x":` + w.schema() + `}`
	case 15:
		return `"` + w.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") + `":` + w.pick("1", "0.5", "true", "-3", `"x"`, "10")
	case 16:
		return `"` + w.pick("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties") + `":` + w.pick("1", "0", "3", "-1", "1.5", "null")
	case 17:
		return `"` + w.pick("pattern", "format") + `":` + w.pick(`"^a"`, `"(?=x)"`, `"date-time"`, `"uri"`, `3`)
	case 18:
		return `"default":` + w.literal()
	case 19:
		return `"` + w.pick("nullable", "uniqueItems", "deprecated", "x-thing") + `":` + w.pick("true", "false", "1")
	case 20:
		return `"` + w.pick("title", "description") + `":` + w.pick(`"words"`, `"Words."`, `5`, `null`)
	case 21:
		return `"$anchor":"here"`
	case 22:
		return `"` + w.pick("dependentRequired", "dependentSchemas", "dependencies") + `":` + w.pick(`{"a":["b"]}`, `{"a":{"required":["b"]}}`, `5`)
	}
	return `"discriminator":{"propertyName":"k"}`
}

// wildSeeds is how many schemas the laws are tried on; the fuzzer tries more.
const wildSeeds = uint64(100)

func wildSchema(seed uint64) string {
	w := &wild{rand.New(rand.NewPCG(seed, 7)), 40}
	return `{"type":"object","properties":` + w.named() + `,"$defs":{"A":` + w.schema() + `,"B":` + w.schema() + `,"C":` + w.schema() + `},` + w.member() + `}`
}

// TestWildSchemasKeepEveryLaw holds, for schemas that use every keyword, often wrongly: a
// plan or a typed refusal; what goes out is accepted, compiles and refers to nothing that
// is not there; two runs are equal; arguments come back as they were; nothing panics.
func TestWildSchemasKeepEveryLaw(t *testing.T) {
	for seed := range wildSeeds {
		raw := []byte(wildSchema(seed))
		original, _ := compile(raw)
		for _, d := range dialectNames() {
			res, err := Plan(raw, d, nil)
			var e *Error
			if err != nil {
				if !errors.As(err, &e) || e.Reason == Refused || e.Reason == NotJSON {
					t.Errorf("%d, %s: %v\nfor %s", seed, d, err, raw)
				}
				continue
			}
			if bad := Check(res.Parameters, res.Dialect); len(bad) > 0 {
				t.Errorf("%d, %s: %v in %s\nfor %s", seed, d, bad[0], res.Parameters, raw)
			}
			if _, err := compile(res.Parameters); err != nil {
				t.Errorf("%d, %s: %v in %s\nfor %s", seed, d, err, res.Parameters, raw)
			}
			if again, err := Plan(raw, d, nil); err != nil || !bytes.Equal(again.Parameters, res.Parameters) {
				t.Errorf("%d, %s: two runs differ", seed, d)
			}
			if n := dangling(t, res.Parameters); n > 0 {
				t.Errorf("%d, %s: %d references lead nowhere: %s", seed, d, n, res.Parameters)
			}
			wildArguments(t, seed, raw, original, res)
			if t.Failed() {
				return
			}
		}
	}
}

func wildArguments(t *testing.T, seed uint64, raw []byte, original *jsonschema.Schema, res *Result) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	w := &wild{rnd, 3}
	for i := range 3 {
		_, _, _ = res.Back([]byte(`{"a":` + w.literal() + `,"b":[{"key":"k","value":` + w.literal() + `}],"c d":` + w.literal() + `}`))
		x := generate(raw, rnd, i == 0)
		if original == nil || x == "" || x[0] != '{' || !valid(original, []byte(x)) {
			continue
		}
		y, err := res.Forward([]byte(x))
		if err != nil {
			t.Errorf("%d, %s: forward of %s: %v", seed, res.Dialect, x, err)
			continue
		}
		back, _, err := res.Back(y)
		if err != nil || !sameJSON(t, string(back), x) && !(res.Strict && sameJSON(t, withoutNulls(t, string(back)), withoutNulls(t, x))) {
			t.Errorf("%d, %s: %s becomes %s and comes back as %s, %v\nin %s\nfor %s", seed, res.Dialect, x, y, back, err, res.Parameters, raw)
		}
	}
}
