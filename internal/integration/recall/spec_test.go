package recall

import (
	"encoding/json"
	"fmt"
	"testing"
)

// product is a specification with the definitions of a whole product, of which each refers
// to some others.
func product(definitions, fields int) json.RawMessage {
	all := object{}
	for i := range definitions {
		fieldsOf := object{"name": object{"type": "string"}}
		for j := range fields {
			fieldsOf[fmt.Sprint("f", j)] = object{"$ref": fmt.Sprintf("#/components/schemas/S%d", (i*fields+j+1)%definitions)}
		}
		all[fmt.Sprint("S", i)] = object{"type": "object", "description": fmt.Sprintf("%0200d", i), "properties": fieldsOf}
	}
	return jsonOf(object{
		"request_body": object{"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/S0"}}}},
		"responses": []any{object{"status_code": "200",
			"content": object{"application/json": object{"schema": object{"$ref": "#/components/schemas/S1"}}}}},
		"components": object{"schemas": all},
	})
}

func TestAToolOfAHugeSpecificationNeedsItsOwnDefinitionsAlone(t *testing.T) {
	w := newWorld(t, "limits: {schema: 64KB}\nrecall: {}", nil)
	for _, fields := range []int{1, 3, 40} { // three in a row reach three definitions, some, or more than the limit
		in := product(600, fields)
		if len(in) < 2*w.options.MaxInput {
			t.Fatalf("%d bytes are not huge", len(in))
		}
		spec, err := readSpec(in)
		if err != nil {
			t.Fatal(err)
		}
		places, err := w.layered("t", spec)
		if err != nil {
			t.Fatalf("%d fields: %v", fields, err)
		}
		out, err := json.Marshal(places)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := places["body"]["properties"].(object)["f0"].(object)
		if first["type"] != "object" || first["description"] != fmt.Sprintf("%0200d", 1) || hasReference(out) {
			t.Errorf("%d fields: %.500s", fields, out)
		}
		if output := w.output("t", spec); output == nil || hasReference(output) {
			t.Errorf("%d fields: answers %.500s", fields, output)
		}
		if string(spec.root.Raw()) != string(in) {
			t.Error("the specification was changed")
		}
	}
}

func TestDefinitionsAreGatheredThreeReferencesDeep(t *testing.T) {
	spec, err := readSpec(json.RawMessage(`{"a":{"$ref":"#/components/schemas/A"},"components":{"schemas":{
		"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"items":{"$ref":"#/components/schemas/C"}},
		"C":{"anyOf":[{"$ref":"#/components/schemas/D"}]},"D":{"type":"array","description":"d","items":{"type":"string","enum":["x"]},"not":{"$ref":"#/components/schemas/E"}},
		"E":{},"Other":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := string(jsonOf(spec.reached([]*node{spec.root.Get("a")}, 4)))
	want := `{"components":{"schemas":{"A":{"properties":{"b":{"$ref":"#/components/schemas/B"}}},` +
		`"B":{"items":{"$ref":"#/components/schemas/C"}},` +
		`"C":{"anyOf":[{"$ref":"#/components/schemas/D"}]},"D":{"description":"d","items":{"type":"string"},"type":"array"}}}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// operation is a row of the corpus of operations as the specification of a tool.
func operation(row object) json.RawMessage {
	spec := object{"components": row["components"]}
	var params []any
	fields, _ := row["properties"].(object)
	for name, schema := range fields {
		if name != "body" {
			params = append(params, object{"name": name, "in": "query", "schema": schema})
			continue
		}
		content := object{"content": object{"application/json": object{"schema": schema}}}
		spec["request_body"] = content
		spec["responses"] = []any{object{"status_code": "200", "content": content["content"]}}
	}
	spec["parameters"] = params
	return jsonOf(spec)
}

func TestRealOperationsKeepTheirParametersAndNoReference(t *testing.T) {
	w := newWorld(t, "recall: {}", nil)
	realSchemas(t, 7, func(file string, row int, schema json.RawMessage) {
		if file != "openapi_ops_dev.jsonl" {
			return
		}
		var in object
		if err := json.Unmarshal(schema, &in); err != nil {
			t.Fatal(err)
		}
		text := operation(in)
		spec, err := readSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		from := cpu()
		places, err := w.layered(file, spec)
		output := w.output(file, spec)
		if took := cpu() - from; err != nil || took > tooLong {
			t.Errorf("row %d: %s, %v", row, took, err)
			return
		}
		out, err := json.Marshal(places)
		if err != nil || hasReference(out) || hasReference(output) {
			t.Errorf("row %d: %v, %.300s, answers %.300s", row, err, out, output)
		}
		query, _ := places["query"]["properties"].(object)
		for _, p := range spec.params {
			if query[p.name] == nil {
				t.Errorf("row %d: %s is lost", row, p.name)
			}
		}
		if string(spec.root.Raw()) != string(text) {
			t.Errorf("row %d: the specification was changed", row)
		}
	})
}
