package openapi_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

// What other importers get wrong, one test each.

const components = `
components:
  schemas:
    Node: {type: object, required: [v], properties: {v: {type: string}, next: {$ref: '#/components/schemas/Node'}}}
    A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}
    B: {type: object, properties: {a: {$ref: '#/components/schemas/A'}}}
    Base: {type: object, required: [id], properties: {id: {type: string}}}
    Child: {allOf: [{$ref: '#/components/schemas/Base'}, {type: object, required: [x], properties: {x: {type: integer}}}]}
`

// posts is a document of one operation that takes JSON of the schema.
func posts(format, schema string) string {
	return operation(format, "/a", "post", "      operationId: a\n      requestBody: {required: true, content: {application/json: {schema: "+schema+"}}}\n") + components
}

// validate checks arguments against a tool's input schema.
func validate(t *testing.T, op *openapi.Operation, member, args string) error {
	t.Helper()
	s, err := compile(get(op.Definition, member))
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(args))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func accepts(t *testing.T, op *openapi.Operation, args string) {
	t.Helper()
	if err := validate(t, op, "inputSchema", args); err != nil {
		t.Errorf("%s: %v\n%s", args, err, op.Definition)
	}
}

func rejects(t *testing.T, op *openapi.Operation, args string) {
	t.Helper()
	if validate(t, op, "inputSchema", args) == nil {
		t.Errorf("%s is accepted by %s", args, op.Definition)
	}
}

func TestReferencesKeepTheShapeOfWhatTheyMean(t *testing.T) {
	op := one(t, posts("3.1.0", "{type: object, properties: {list: {type: array, items: {$ref: '#/components/schemas/Base'}}, again: {$ref: '#/paths/~1a/post/requestBody/content/application~1json/schema/properties/list'}}}"), nil)
	for _, key := range []string{"list", "again"} {
		accepts(t, op, `{"`+key+`":[{"id":"1"}]}`)
		rejects(t, op, `{"`+key+`":[{}]}`)
	}
}

func TestRecursionEndsAndStays(t *testing.T) {
	for name, c := range map[string]struct{ schema, good, bad string }{
		"itself":             {"{$ref: '#/components/schemas/Node'}", `{"v":"1","next":{"v":"2","next":{"v":"3"}}}`, `{"v":"1","next":{"v":"2","next":{}}}`},
		"each other":         {"{$ref: '#/components/schemas/A'}", `{"b":{"a":{"b":{}}}}`, `{"b":{"a":{"b":7}}}`},
		"through a property": {"{type: object, properties: {p: {type: object, properties: {q: {$ref: '#/paths/~1a/post/requestBody/content/application~1json/schema/properties/p'}}}}}", `{"p":{"q":{"q":{}}}}`, `{"p":{"q":{"q":7}}}`},
		"through the body":   {"{type: object, properties: {p: {$ref: '#/paths/~1a/post/requestBody/content/application~1json/schema'}}}", `{"p":{"p":{}}}`, `{"p":{"p":7}}`},
	} {
		t.Run(name, func(t *testing.T) {
			op := one(t, posts("3.0.0", c.schema), nil)
			accepts(t, op, c.good)
			rejects(t, op, c.bad)
		})
	}
}

func TestSchemasThatContainThemselvesWithNothingBetweenAreCut(t *testing.T) {
	for _, schemas := range []string{
		"X: {$ref: '#/components/schemas/X'}", "X: {allOf: [{$ref: '#/components/schemas/X'}]}",
		"X: {anyOf: [{$ref: '#/components/schemas/Y'}, {type: string}]}\n    Y: {not: {$ref: '#/components/schemas/X'}}",
		"X: {anyOf: [{type: integer}], allOf: [{$ref: '#/components/schemas/X'}]}",
		"X: {anyOf: [{type: integer}], allOf: [{$ref: '#/components/schemas/Y'}]}\n" +
			"    Y: {anyOf: [{type: integer}], allOf: [{$ref: '#/components/schemas/Z'}]}\n" +
			"    Z: {anyOf: [{type: integer}], allOf: [{$ref: '#/components/schemas/Y'}, {$ref: '#/components/schemas/X'}]}",
	} {
		text := strings.Replace(posts("3.0.0", "{type: object, properties: {x: {$ref: '#/components/schemas/X'}}}"), "    Node:", "    "+schemas+"\n    Node:", 1)
		ops, problems := read(t, text, nil)
		if len(ops) != 1 || len(problems) == 0 {
			t.Fatalf("%d operations, problems %v", len(ops), problems)
		}
		accepts(t, ops[0], `{"x":5}`)
	}
}

func TestAChildOfAUnionMeansWhatTheParentSaysOfAll(t *testing.T) {
	text := strings.Replace(posts("3.0.0", "{type: object, properties: {pet: {$ref: '#/components/schemas/Pet'}}}"), "    Node:", `    Pet: {type: object, required: [kind], properties: {kind: {type: string}}, oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}], discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat', dog: Dog}}}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, required: [lives], properties: {lives: {type: integer}}}]}
    Dog: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {bark: {type: boolean}}}]}
    Node:`, 1)
	op := one(t, text, nil)
	accepts(t, op, `{"pet":{"kind":"cat","lives":9}}`)
	accepts(t, op, `{"pet":{"kind":"dog","bark":true}}`)
	rejects(t, op, `{"pet":{"kind":"cat"}}`)
	rejects(t, op, `{"pet":{"kind":"fish"}}`)
}

func TestBranchesThatSayTheirValueKeepIt(t *testing.T) {
	op := one(t, posts("3.1.0", "{type: object, properties: {e: {oneOf: [{$ref: '#/components/schemas/P'}, {$ref: '#/components/schemas/Q'}], discriminator: {propertyName: kind}}}}")+
		"    P: {type: object, required: [kind], properties: {kind: {const: one}}}\n    Q: {type: object, required: [kind], properties: {kind: {enum: [two, three]}}}\n", nil)
	accepts(t, op, `{"e":{"kind":"one"}}`)
	accepts(t, op, `{"e":{"kind":"three"}}`)
	rejects(t, op, `{"e":{"kind":"P"}}`)
}

func TestADiamondOfReferencesStaysSmall(t *testing.T) {
	var b strings.Builder
	b.WriteString(posts("3.0.0", "{type: object, properties: {x: {$ref: '#/components/schemas/D0'}}}"))
	for i := range 30 {
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll("    Dn: {type: object, properties: {l: {$ref: '#/components/schemas/Dm'}, r: {$ref: '#/components/schemas/Dm'}}}\n", "Dn", "D"+string(rune('0'+i))), "Dm", "D"+string(rune('1'+i))))
	}
	b.WriteString("    D" + string(rune('0'+30)) + ": {type: string}\n")
	if op := one(t, b.String(), nil); len(op.Definition) > 8<<10 {
		t.Errorf("%d bytes", len(op.Definition))
	}
}

func TestBooleanSchemasAndTypeListsKeepTheirMeaning(t *testing.T) {
	op := one(t, posts("3.1.0", "{type: object, additionalProperties: false, properties: {any: true, two: {type: [string, number]}, three: {}}}"), nil)
	for _, v := range []string{`5`, `"x"`, `{}`, `null`} {
		accepts(t, op, `{"any":`+v+`,"three":`+v+`}`)
	}
	accepts(t, op, `{"two":"x"}`)
	accepts(t, op, `{"two":5}`)
	rejects(t, op, `{"two":true}`)
	rejects(t, op, `{"other":1}`)
}

func TestSampleDataIsNoSchema(t *testing.T) {
	op := one(t, posts("3.1.0", "{type: object, properties: {a: {type: object, example: {$ref: '#/nowhere', $id: x}, default: {$ref: '#/nowhere'}, enum: [{$ref: '#/nowhere'}]}, $ref: {type: string}}}"), nil)
	accepts(t, op, `{"a":{"$ref":"#/nowhere"},"$ref":"x"}`)
	rejects(t, op, `{"a":{}}`)
}

func TestAListAsBodyIsNotLost(t *testing.T) {
	op := one(t, posts("3.0.0", "{type: array, items: {$ref: '#/components/schemas/Base'}}"), nil)
	accepts(t, op, `{"body":[{"id":"1"}]}`)
	rejects(t, op, `{"body":[{}]}`)
	rejects(t, op, `{}`)
	if req := send(t, op, `{"body":[{"id":"1"}]}`); string(req.Body) != `[{"id":"1"}]` {
		t.Errorf("got %s", req.Body)
	}
}

func TestAComposedBodyIsNotLost(t *testing.T) {
	op := one(t, posts("3.0.0", "{$ref: '#/components/schemas/Child'}"), nil)
	accepts(t, op, `{"id":"1","x":2}`)
	rejects(t, op, `{"x":2}`)
	if req := send(t, op, `{"id":"1","x":2}`); string(req.Body) != `{"id":"1","x":2}` {
		t.Errorf("got %s", req.Body)
	}
}

func TestABodyDoesNotTakeTheQueryOfTheSameName(t *testing.T) {
	op := one(t, operation("3.0.0", "/a/{id}", "post", "      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: name, in: query, schema: {type: string}}]\n"+
		"      requestBody: {content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}, id__path: {type: string}}}}}}\n"), nil)
	req := send(t, op, `{"id__path__path":"p","name__query":"q","id__body":1,"name__body":"b","id__path":"own"}`)
	if req.URL != "http://127.0.0.1:9/base/a/p?name=q" || string(req.Body) != `{"id":1,"name":"b","id__path":"own"}` {
		t.Errorf("got %s", req.Curl())
	}
	refused(t, op, `{"id":"x"}`, "/id")
}

func TestPathsCannotBeLeft(t *testing.T) {
	op := one(t, operation("3.0.0", "/users/{id}/files/{name}.json", "get", "      parameters: [{name: id, in: path, required: true, schema: {}}, {name: name, in: path, required: true, schema: {type: string}}]\n"), nil)
	for _, id := range []string{`".."`, `"."`, `"../../admin"`, `"a/../b"`, `"..\\admin"`, `"%2e%2e"`, `""`, `null`, `[]`, `["..","x"]`} {
		refused(t, op, `{"id":`+id+`,"name":"n"}`, "/id")
	}
	refused(t, op, `{"name":"n"}`, "/id")
	req := send(t, op, `{"id":"a/b?c#d%2F","name":"x"}`)
	if req.URL != "http://127.0.0.1:9/base/users/a%2Fb%3Fc%23d%252F/files/x.json" {
		t.Errorf("got %s", req.URL)
	}
}

func TestParametersOfThePathAreInheritedAndOverridden(t *testing.T) {
	op := one(t, "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /a/{id}:\n    parameters: [{$ref: '#/components/parameters/Id'}, {name: q, in: query, schema: {type: string}}]\n"+
		"    get:\n      parameters: [{name: q, in: query, required: true, schema: {type: integer}}]\ncomponents: {parameters: {Id: {name: id, in: path, required: true, schema: {type: integer}}}}\n", nil)
	accepts(t, op, `{"id":1,"q":2}`)
	rejects(t, op, `{"id":1,"q":"x"}`)
	rejects(t, op, `{"id":1}`)
}

func TestOddKeysReachTheServerAsTheyAre(t *testing.T) {
	op := one(t, operation("3.0.0", "/a", "get", "      parameters: [{name: 'filter[x]', in: query, schema: {type: string}}, {name: $top, in: query, schema: {type: integer}}, {name: '@type', in: query, schema: {type: string}}]\n"), nil)
	if _, got, _ := strings.Cut(send(t, op, `{"filter[x]":"1","$top":2,"@type":"t"}`).URL, "?"); got != "filter%5Bx%5D=1&%24top=2&%40type=t" {
		t.Errorf("got %s", got)
	}
}

func TestWhatOnlyTheServerSetsIsNotAsked(t *testing.T) {
	schemas := "\ncomponents:\n  schemas:\n    Id: {type: string, readOnly: true}\n    Pet: {type: object, required: [id, name, made, pass], properties: {id: {$ref: '#/components/schemas/Id'}, name: {type: string}, made: {type: string, readOnly: true}, pass: {type: string, writeOnly: true}, in: {type: object, required: [made], properties: {made: {type: string, readOnly: true}}}}}\n" +
		"    More: {allOf: [{$ref: '#/components/schemas/Pet'}, {required: [id, made, tag], properties: {tag: {type: string}}}]}\n"
	for _, name := range []string{"Pet", "More"} {
		text := operation("3.0.0", "/a", "post", "      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/"+name+"'}}}}\n      responses: {200: {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/"+name+"'}}}}}\n") + schemas
		for _, layout := range []openapi.Layout{openapi.Flat, openapi.Layered} {
			op := one(t, text, &openapi.Options{Layout: layout, Base: testBase})
			good := `{"name":"n","pass":"p","tag":"t","in":{}}`
			if layout == openapi.Layered {
				good = `{"body":` + good + `}`
			}
			accepts(t, op, good)
			if in := string(get(op.Definition, "inputSchema")); strings.Contains(in, `"made"`) || strings.Contains(in, `"id"`) {
				t.Errorf("%s: %s", name, in)
			}
			if out := string(get(op.Definition, "outputSchema")); strings.Contains(out, `"pass"`) || !strings.Contains(out, `"made"`) {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

func TestOldFormsBecomeNewOnes(t *testing.T) {
	op := one(t, posts("3.0.0", "{type: object, properties: {n: {type: string, nullable: true, enum: [a]}, m: {type: integer, minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false}, r: {$ref: '#/components/schemas/Base', description: d, maxProperties: 0}}}"), nil)
	accepts(t, op, `{"n":null,"m":2,"r":{"id":"1"}}`)
	accepts(t, op, `{"m":9}`)
	rejects(t, op, `{"m":1}`)
	rejects(t, op, `{"n":"b"}`)
	if in := string(get(op.Definition, "inputSchema")); !strings.Contains(in, `"r":{"$ref":"#/$defs/Base","description":"d"}`) {
		t.Errorf("got %s", in)
	}
	if defs := string(get(op.Definition, "inputSchema", "$defs")); strings.Count(defs, `"type":"object"`) != 1 {
		t.Errorf("only what is used is defined: %s", defs)
	}
}
