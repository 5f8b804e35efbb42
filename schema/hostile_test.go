package schema

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// many joins n texts, each made from its number.
func many(n int, make func(i string) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(make(itoa(i)))
	}
	return b.String()
}

// object is a schema with one optional property a, and definitions.
func object(a, defs string) string {
	return `{"type":"object","properties":{"a":` + a + `},"$defs":{` + defs + `}}`
}

// hostile are schemas that cost much where something grows faster than its input.
func hostile() map[string]string {
	out := references()
	branch := func(i string) string { return `{"type":"object","properties":{"p` + i + `":{"type":"string"}}}` }
	key := func(i string) string {
		return `"property_` + i + `":{"type":"string","description":"number ` + i + `"}`
	}
	for name, a := range map[string]string{
		"enum":     `{"type":"string","enum":[` + manyValues(20000) + `]}`,
		"deep":     strings.Repeat(`{"type":"array","items":`, 500) + `{}` + strings.Repeat(`}`, 500),
		"nest":     strings.Repeat(`{"type":"object","properties":{"a":`, 240) + `{}` + strings.Repeat(`}}`, 240),
		"needed":   strings.Repeat(`{"type":"object","required":["a"],"properties":{"a":`, 200) + `{}` + strings.Repeat(`}}`, 200),
		"unions":   `{"allOf":[{"anyOf":[` + many(40, branch) + `]},{"anyOf":[` + many(40, branch) + `]}]}`,
		"branches": `{"anyOf":[` + many(3000, branch) + `]}`,
		"one": `{"oneOf":[` + many(2000, func(i string) string {
			return `{"type":"object","properties":{"k":{"type":"string"},"p` + i + `":{}},"required":["k"]}`
		}) + `]}`,
		"towers": strings.Repeat(`{"anyOf":[{"type":"string"},`, 200) + `{}` + strings.Repeat(`]}`, 200),
		"powers": `{"allOf":[` + many(14, func(i string) string { return `{"anyOf":[{"required":["x` + i + `"]},{"required":["y` + i + `"]}]}` }) + `]}`,
		"all": `{"allOf":[` + many(400, func(i string) string {
			return `{"properties":{` + many(10, func(j string) string { return `"p` + i + `_` + j + `":{"type":"string"}` }) + `}}`
		}) + `]}`,
		"merge":   `{"allOf":[{"properties":{` + many(1500, key) + `},"required":[` + many(3000, quote) + `]},{"properties":{` + many(1500, key) + `},"required":[` + many(3000, quote) + `]}]}`,
		"wide":    `{"type":"object","properties":{` + many(3000, key) + `}}`,
		"demand":  `{"type":"object","properties":{` + many(2000, key) + `},"required":[` + many(2000, func(i string) string { return `"property_` + i + `"` }) + `]}`,
		"unknown": `{"type":"object","required":[` + many(20000, quote) + `]}`,
		"keys": `{"type":"object","properties":{` + many(3000, func(i string) string {
			return `"a` + strings.Repeat(" ", len(i)) + strings.Repeat(".", atoi(i)%50) + `":{"type":"string"},"` + i + ` !":{"type":"string"}`
		}) + `}}`,
		"patterns":   `{"type":"object","patternProperties":{` + many(2000, func(i string) string { return `"^p` + i + `":{"type":"string"}` }) + `}}`,
		"tuple":      `{"type":"array","items":[` + many(4000, func(i string) string { return `{"type":"string","title":"t` + i + `"}` }) + `]}`,
		"words":      `{"type":"string","description":"` + strings.Repeat("字", 70000) + `"}`,
		"conditions": `{"allOf":[` + many(300, func(i string) string { return `{"if":{"required":["a` + i + `"]},"then":{"required":["b` + i + `"]}}` }) + `]}`,
		"mapping":    `{"oneOf":[` + many(1500, func(i string) string { return `{"$ref":"#/$defs/M` + i + `"}` }) + `],"discriminator":{"propertyName":"k","mapping":{` + many(1500, func(i string) string { return `"m` + i + `":"#/$defs/M` + i + `"` }) + `}}}`,
	} {
		defs := ""
		if name == "mapping" {
			defs = many(1500, func(i string) string { return `"M` + i + `":{"type":"object","properties":{"k":{"type":"string"}}}` })
		}
		out[name] = object(a, defs)
	}
	return out
}

// references are hostile schemas that refer to themselves and to each other.
func references() map[string]string {
	ref := func(name string) string { return `{"$ref":"#/$defs/` + name + `"}` }
	after := func(i string) string { return itoa(atoi(i) + 1) }
	self := `"N":{"type":"object","properties":{"a":` + ref("N") + `,"b":` + ref("N") + `,"c":` + ref("N") + `}}`
	return map[string]string{
		"diamond": object(ref("D0"), many(40, func(i string) string {
			return `"D` + i + `":{"type":"object","properties":{"l":` + ref("D"+after(i)) + `,"r":` + ref("D"+after(i)) + `}}`
		})),
		"all diamond": object(ref("D0"), many(30, func(i string) string {
			return `"D` + i + `":{"allOf":[` + ref("D"+after(i)) + `,` + ref("D"+after(i)) + `,{"properties":{"p` + i + `":` + ref("D"+after(i)) + `}}]}`
		})),
		"any diamond": object(ref("D0"), many(30, func(i string) string {
			return `"D` + i + `":{"anyOf":[` + ref("D"+after(i)) + `,{"items":` + ref("D"+after(i)) + `}]}`
		})),
		"chain": object(ref("C0"), many(3000, func(i string) string {
			return `"C` + i + `":{"type":"object","properties":{"n":` + ref("C"+after(i)) + `}}`
		})),
		"hops": object(ref("C0"), many(3000, func(i string) string { return `"C` + i + `":` + ref("C"+after(i)) })),
		"cross": object(ref("D0"), many(40, func(i string) string {
			return `"D` + i + `":{"allOf":[` + ref("D"+after(i)) + `,{"properties":{"x":` + ref("D0") + `,"y":{"allOf":[` + ref("D1") + `,` + ref("D2") + `]}}}]}`
		})),
		"clique": object(ref("K0"), many(60, func(i string) string {
			return `"K` + i + `":{"type":"object","properties":{` + many(60, func(j string) string { return `"k` + j + `":` + ref("K"+j) }) + `}}`
		})),
		"names": object(ref("-0"), many(2000, func(i string) string {
			return `"-` + i + `":{"type":"object","properties":{"n":` + ref("-"+after(i)) + `,"m":` + ref("-0") + `}}`
		})),
		"slashes": `{"type":"object","properties":{` + many(1000, func(i string) string { return `"r` + i + `":` + ref(strings.Repeat("a/", 25)+i) }) + `},"$defs":` + slashes(14) + `}`,
		"manyto":  `{"type":"object","properties":{` + many(1500, func(i string) string { return `"r` + i + `":` + ref("N") }) + `},"$defs":{` + self + `}}`,
	}
}

// slashes is an object in which one name leads on in as many ways as there are numbers of
// steps by one or two.
func slashes(depth int) string {
	if depth <= 0 {
		return "{}"
	}
	return `{"a":` + slashes(depth-1) + `,"a/a":` + slashes(depth-2) + `}`
}

func atoi(s string) int {
	n := 0
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

func TestHostileSchemasEndInBoundedTimeAndSize(t *testing.T) {
	for name, in := range hostile() {
		for _, d := range []Dialect{OpenAI, OpenAIStrict, AnthropicStrict, Gemini, GeminiParams, Moonshot, DeepSeekStrict, Inlined} {
			start := time.Now()
			res, err := Plan([]byte(in), d, nil)
			took := time.Since(start)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%s, %s: %v", name, d, err)
			}
			if took > time.Minute { // the lab measures; this is against what never ends
				t.Errorf("%s, %s takes %v", name, d, took)
			}
			if res != nil && d != Inlined && len(res.Parameters) > 40<<10 {
				t.Errorf("%s, %s: %d bytes become %d", name, d, len(in), len(res.Parameters))
			}
		}
	}
}
