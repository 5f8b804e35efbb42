package openapi_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/openapi"
)

const wrongInManyWays = `
openapi: 3.0.3
paths:
  no-slash: {get: {operationId: lost1}}
  /text: just a text
  /gone: {$ref: '#/components/pathItems/Gone'}
  /param: {get: {operationId: lost2, parameters: [{$ref: 'other.yaml#/Id'}]}}
  /body: {post: {operationId: lost3, requestBody: {$ref: '#/components/requestBodies/Gone'}}}
  /brace/{id: {get: {operationId: lost4}}
  /up/../x: {get: {operationId: lost5}}
  /good/{id}:
    get:
      operationId: good
      parameters:
      - {name: id, in: path, required: true, style: deepObject, schema: {type: strin}}
      - {in: query, schema: {type: string}}
      - {name: Host, in: header, schema: {type: string}}
      - {name: q, in: query, schema: {$ref: '#/components/schemas/Gone'}}
      - {name: r, in: query, schema: {type: array, items: {type: string}, maxItems: -1, enum: []}}
      security: [{nobody: []}]
      responses: {200: {$ref: '#/components/responses/Gone'}}
    put: {operationId: good, parameters: [{name: id, in: path, required: true, schema: {type: string}}]}
  /auto/{id}: {delete: {}}
`

func TestADocumentWithManyErrorsGivesWhatIsSoundAndListsTheRest(t *testing.T) {
	ops, problems := read(t, wrongInManyWays, nil)
	var names []string
	for _, op := range ops {
		names = append(names, op.Method+" "+op.Path)
	}
	if got, want := strings.Join(names, ", "), "GET /good/{id}, PUT /good/{id}, DELETE /auto/{id}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const good = "/paths/~1good~1{id}/get"
	for _, pointer := range []string{
		"/info", "/paths/no-slash", "/paths/~1text", "/paths/~1gone/$ref", "/paths/~1param/get/parameters/0", "/paths/~1body/post/requestBody",
		"/paths/~1brace~1{id/get", "/paths/~1up~1..~1x/get", good + "/parameters/0/style", good + "/parameters/0/schema/type", good + "/parameters/1",
		good + "/parameters/2", good + "/parameters/3/schema/$ref", good + "/parameters/4/schema/maxItems", good + "/parameters/4/schema/enum",
		good + "/security/0", good + "/responses/200", good + "/operationId", "/paths/~1good~1{id}/put/operationId", "/paths/~1auto~1{id}/delete",
	} {
		if !strings.Contains(fmt.Sprint(problems), "{"+pointer+" ") {
			t.Errorf("%s is not listed", pointer)
		}
	}
	if len(problems) != 20 {
		t.Errorf("%d problems: %q", len(problems), problems)
	}
	accepts(t, ops[0], `{"id":5,"q":{"any":"thing"},"r":["x"]}`)
}

func TestDocumentsThatAreNoneAreRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "null", "[]", "7", "{", `{"openapi":"3.0.0","paths":`, `{"openapi":"4.0.0","paths":{}}`, `{"swagger":"1.2"}`, "<html></html>", "\x00\x01", "a: b: c",
		"a: &a [*a]", "? [x]\n: y", "\xff\xfe\xff", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), strings.Repeat("- ", 20_000),
	} {
		if doc, err := openapi.Read([]byte(text), nil); err == nil || !isFault(err) {
			t.Errorf("%.20q gave %v, %v", text, doc, err)
		}
	}
	if _, err := openapi.Read(make([]byte, 101), &openapi.Options{MaxBytes: 100}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a large document gave %v", err)
	}
	if _, err := openapi.Read([]byte(operation("3.0.0", "/a", "get", "      {}\n")), &openapi.Options{Layout: "round"}); !fault.Is(err, fault.BadConfig) {
		t.Errorf("an unknown layout gave %v", err)
	}
}

func TestWrongTypesEverywhereAreNoCrash(t *testing.T) {
	for _, junk := range []string{"7", "'x'", "null", "[]", "[7]", "{x: 7}", "[{}]"} {
		for _, place := range []string{"info", "servers", "security", "components", "tags", "paths"} {
			text := "openapi: 3.0.0\n" + place + ": " + junk + "\n"
			if place != "paths" {
				text += "paths: {/a: {get: {operationId: a}}}\n"
			}
			read(t, text, nil)
		}
		for _, member := range []string{"operationId", "parameters", "requestBody", "responses", "security", "servers", "tags", "summary", "description", "deprecated"} {
			read(t, operation("3.0.0", "/a", "post", "      "+member+": "+junk+"\n"), nil)
			read(t, operation("2.0", "/a", "post", "      "+member+": "+junk+"\n"), nil)
		}
		for keyword := range strings.FieldsSeq("$ref type enum const properties required items allOf anyOf oneOf not if additionalProperties patternProperties dependentRequired dependentSchemas minimum exclusiveMinimum multipleOf minLength pattern format default examples title description discriminator prefixItems nullable readOnly uniqueItems deprecated") {
			read(t, posts("3.1.0", "{type: object, properties: {a: {"+keyword+": "+junk+"}}}"), nil)
			read(t, posts("3.0.0", "{"+keyword+": "+junk+"}"), nil)
		}
	}
}

func TestNamesThatStandTwiceCountOnceAndAreListed(t *testing.T) {
	for name, text := range map[string]string{
		"JSON": `{"openapi":"3.0.0","info":{},"paths":{"/a":{"get":{}},"/a":{"post":{"parameters":[{"name":"q","in":"query","schema":{"type":"string","type":"integer"}}]}}}}`,
		"YAML": "openapi: 3.0.0\ninfo: {}\npaths:\n  /a: {get: {}}\n  /a: {post: {parameters: [{name: q, in: query, schema: {type: string, type: integer}}]}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			ops, problems := read(t, text, nil)
			if len(ops) != 1 || ops[0].Method != "POST" || len(problems) != 2 {
				t.Fatalf("got %v, %v", ops, problems)
			}
			accepts(t, ops[0], `{"q":1}`)
			rejects(t, ops[0], `{"q":"x"}`)
		})
	}
}

func TestADocumentThatIsNotUTF8IsRepaired(t *testing.T) {
	ops, problems := read(t, "{\"openapi\":\"3.0.0\",\"info\":{},\"paths\":{\"/a\":{\"get\":{\"summary\":\"caf\xe9\"}}}}", nil)
	if len(ops) != 1 || len(problems) != 1 {
		t.Errorf("got %v, %v", ops, problems)
	}
}

func TestManyOperationsNeedBoundedMemory(t *testing.T) {
	raw := generate(2000, 2) // more are measured by the benchmark
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	doc, err := openapi.Read(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 2000*2000 {
		t.Errorf("a document of %d bytes takes %d more", len(raw), used)
	}
	ops, _ := doc.Operations(openapi.Filter{IDs: []string{"PostResource1999"}})
	if len(ops) != 1 {
		t.Errorf("%d operations", len(ops))
	}
	runtime.KeepAlive(raw)
}

func TestDocumentsAndOperationsAreSafeForConcurrentUse(t *testing.T) {
	doc, err := openapi.Read(generate(40, 6), nil)
	if err != nil {
		t.Fatal(err)
	}
	shared, _ := doc.Operations(openapi.Filter{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ops, _ := doc.Operations(openapi.Filter{})
			for i, op := range ops {
				if string(op.Definition) != string(shared[i].Definition) {
					t.Errorf("%s: another definition", op.Name)
				}
				if _, err := shared[i].Request([]byte(`{"id":"1","field1":"x"}`)); err != nil {
					t.Error(err)
				}
				shared[i].Result(200, nil, []byte(`{"id":"1"}`))
			}
		})
	}
	wg.Wait()
}
