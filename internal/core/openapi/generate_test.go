package openapi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// generate writes a description like those of large payment and cloud APIs: forms with
// nested fields, long sentences, and results that lead from one object to nearly all others.
func generate(operations, fields int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(`{"openapi":"3.0.3","info":{"title":"Generated","version":"1"},"servers":[{"url":"https://api.example.com/v1"}],"paths":{`)
	for i := range operations {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"/resource%d/{id}/items":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string","maxLength":5000}}],`, i)
		fmt.Fprintf(&b, `"post":{"operationId":"PostResource%d","summary":"Create a thing %d","description":%q,"requestBody":{"content":{"application/x-www-form-urlencoded":{"encoding":{"field0":{"style":"deepObject","explode":true}},"schema":`, i, i, sentence(r, 60))
		writeObject(&b, r, fields, 2)
		fmt.Fprintf(&b, `}}},"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/thing%d"}}}},`+
			`"default":{"description":"error","content":{"application/json":{"schema":{"$ref":"#/components/schemas/thing0"}}}}}}}`, i%max(1, operations/2))
	}
	b.WriteString(`},"components":{"schemas":{`)
	for i := range max(1, operations/2) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"thing%d":{"type":"object","description":%q,"required":["id","object"],"properties":{"id":{"type":"string"},"object":{"type":"string","enum":["thing"]},`, i, sentence(r, 12))
		for j := range fields / 2 {
			fmt.Fprintf(&b, `"link%d":{"anyOf":[{"type":"string","maxLength":5000},{"$ref":"#/components/schemas/thing%d"}],"nullable":true,"description":%q},`, j, r.IntN(max(1, operations/2)), sentence(r, 20))
		}
		b.WriteString(`"created":{"type":"integer","format":"unix-time"}}}`)
	}
	b.WriteString(`}}}`)
	return b.Bytes()
}

func writeObject(b *bytes.Buffer, r *rand.Rand, fields, depth int) {
	b.WriteString(`{"type":"object","required":["field1"],"properties":{`)
	for i := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"field%d":`, i)
		switch {
		case i%4 == 0 && depth > 0:
			writeObject(b, r, fields/3, depth-1)
		case i%4 == 1:
			fmt.Fprintf(b, `{"type":"string","maxLength":5000,"description":%q}`, sentence(r, 28))
		case i%4 == 2:
			fmt.Fprintf(b, `{"type":"array","items":{"type":"string","enum":["a","b","c"]},"description":%q}`, sentence(r, 10))
		default:
			b.WriteString(`{"type":"integer","minimum":0,"exclusiveMinimum":true}`)
		}
	}
	b.WriteString(`}}`)
}

var words = strings.Fields("the amount of a charge that was made for the customer whose payment method has expired and which will be retried later in the currency of the account")

func sentence(r *rand.Rand, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[r.IntN(len(words))]
	}
	return strings.Join(out, " ") + "."
}

// asYAML writes JSON as block YAML, as people write descriptions.
func asYAML(raw []byte) []byte {
	var b bytes.Buffer
	yamlValue(&b, decode(raw), 0)
	return b.Bytes()
}
