package schema

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// wild writes schemas that use every keyword, often wrongly.
type wild struct {
	rand *rand.Rand
	left int
}

func (w *wild) pick(list ...string) string { return list[w.rand.IntN(len(list))] }

func (w *wild) schema() string {
	if w.left--; w.left < 0 || w.rand.IntN(20) == 0 {
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

func TestWildSchemasAreFittedOrRefusedInTime(t *testing.T) {
	for seed := range uint64(800) {
		w := &wild{rand.New(rand.NewPCG(seed, 7)), 40}
		raw := `{"type":"object","properties":` + w.named() + `,"$defs":{"A":` + w.schema() + `,"B":` + w.schema() + `,"C":` + w.schema() + `},` + w.member() + `}`
		for d := range dialects {
			start := time.Now()
			res, err := Plan([]byte(raw), d, nil)
			if took := time.Since(start); took > time.Second {
				t.Errorf("%d, %s takes %v: %s", seed, d, took, raw)
			}
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
			if t.Failed() {
				return
			}
		}
	}
}
