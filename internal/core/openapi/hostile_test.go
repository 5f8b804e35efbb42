package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

func TestNestedArgumentsCannotGrowWithoutBound(t *testing.T) {
	op := one(t, styleCase{in: "query", style: "deepObject", explode: true}.document(`{"type":"object"}`), nil)
	refused(t, op, `{"p":{"`+strings.Repeat("k", 50_000)+`":[`+strings.Repeat("1,", 50_000)+`1]}}`, "/p")
	refused(t, op, `{"p":`+strings.Repeat(`{"kkkkkkkk":`, 500)+`[`+strings.Repeat("1,", 50_000)+`1]`+strings.Repeat("}", 500)+`}`, "/p")
}

// Documents whose parts lead to each other in as many ways as they can. Each is read in
// well under a second; what is not bounded would take minutes and fail by the time limit.
func TestHostileDocumentsEndInBoundedTime(t *testing.T) {
	const head = `{"openapi":"3.0.0","info":{},"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}},` +
		`"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}},"components":{"schemas":{`
	list := func(n int, format string) string {
		out := make([]string, n)
		for i := range out {
			out[i] = strings.ReplaceAll(strings.ReplaceAll(format, "NEXT", fmt.Sprint(i+1)), "N", fmt.Sprint(i))
		}
		return strings.Join(out, ",")
	}
	all := list(80, `{"$ref":"#/components/schemas/SN"}`)
	for name, text := range map[string]string{
		"many properties":               head + `"S0":{"type":"object","properties":{` + list(5_000, `"pN":{"type":"string"}`) + `},"required":[` + list(5_000, `"pN"`) + `]}}}}`,
		"a chain of compositions":       head + list(600, `"SN":{"allOf":[{"$ref":"#/components/schemas/SNEXT"}],"required":["a"]}`) + `}}}`,
		"a chain of references":         head + list(600, `"SN":{"$ref":"#/components/schemas/SNEXT"}`) + `}}}`,
		"all compose all":               head + list(80, `"SN":{"allOf":[`+all+`],"required":["a"]}`) + `}}}`,
		"all choose among all":          head + list(80, `"SN":{"anyOf":[`+all+`],"discriminator":{"propertyName":"k"}}`) + `}}}`,
		"a choice among very many":      head + `"S0":{"oneOf":[` + list(1000, `{"$ref":"#/components/schemas/UN"}`) + `],"discriminator":{"propertyName":"k","mapping":{` + list(1000, `"mN":"#/components/schemas/UN"`) + `}}},` + list(1000, `"UN":{"type":"object"}`) + `}}}`,
		"many parameters":               `{"openapi":"3.0.0","info":{},"paths":{"/a":{"get":{"parameters":[` + list(5_000, `{"name":"pN","in":"query","schema":{"type":"string"}}`) + `]}}}}`,
		"many operations of one name":   `{"openapi":"3.0.0","info":{},"paths":{` + list(2000, `"/a/N":{"get":{"operationId":"x"}}`) + `}}`,
		"names in names":                strings.Replace(head, "3.0.0", "3.1.0", 1) + `"S0":` + strings.Repeat(`{"$id":"x","$dynamicAnchor":"a","$defs":{"d":`, 200) + `{"$ref":"#a"}` + strings.Repeat(`},"properties":{"p":{"$ref":"x#/$defs/d"},"q":{"$dynamicRef":"#a"}}}`, 200) + `}}}`,
		"many names":                    strings.Replace(head, "3.0.0", "3.1.0", 1) + `"S0":{"anyOf":[` + list(3_000, `{"$ref":"idN#nN"}`) + `],"$defs":{` + list(3_000, `"dN":{"$id":"idN","$anchor":"nN"}`) + `}}}}}`,
		"path items that are in a loop": `{"openapi":"3.0.0","info":{},"paths":{"/a":{"$ref":"#/paths/~1b","get":{}},"/b":{"$ref":"#/paths/~1a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := openapi.Read([]byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			ops, _ := doc.Operations(openapi.Filter{})
			for _, op := range ops {
				if len(op.Definition) > 512<<10 {
					t.Errorf("%d bytes", len(op.Definition))
				}
			}
		})
	}
}
