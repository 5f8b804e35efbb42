package restapi_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/schema"
)

// openAPI is the part of the document that tests look at.
type openAPI struct {
	Servers    []struct{ URL string }
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]any }
}

// operation is one method of a path.
type operation struct {
	Responses map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

func readDocument(t testing.TB) openAPI {
	t.Helper()
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc openAPI
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentNamesExactlyTheRoutes(t *testing.T) {
	var documented []string
	for path, methods := range readDocument(t).Paths {
		for method := range methods {
			if method != "parameters" {
				documented = append(documented, strings.ToUpper(method)+" /api/v1"+path)
			}
		}
	}
	slices.Sort(documented)
	served := restapi.Routes()
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented\n%s\nserved\n%s", strings.Join(documented, "\n"), strings.Join(served, "\n"))
	}
}

// schemas are the document's, made strict: what it does not name may not be there.
type schemas struct {
	defs     map[string]any
	resolved map[string]*jsonschema.Resolved
}

func newSchemas(t testing.TB) schemas {
	t.Helper()
	text, err := json.Marshal(readDocument(t).Components.Schemas)
	if err != nil {
		t.Fatal(err)
	}
	var defs map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "#/components/schemas/", "#/$defs/")), &defs); err != nil {
		t.Fatal(err)
	}
	strict(defs)
	return schemas{defs, map[string]*jsonschema.Resolved{}}
}

func strict(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, described := v["properties"].(map[string]any); described && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			strict(inner)
		}
	case []any:
		for _, inner := range v {
			strict(inner)
		}
	}
}

// check holds that the text is what the schema of the name says.
func (s schemas) check(t testing.TB, name, text string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("no JSON: %v: %.200s", err, text)
	}
	if err := s.resolve(t, name).Validate(value); err != nil {
		t.Errorf("not as %s describes it: %v: %.500s", name, err, text)
	}
}

func (s schemas) resolve(t testing.TB, name string) *jsonschema.Resolved {
	t.Helper()
	if r := s.resolved[name]; r != nil {
		return r
	}
	if s.defs[name] == nil {
		t.Fatalf("the document has no schema %q", name)
	}
	whole, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": s.defs})
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(whole, &schema); err != nil {
		t.Fatal(err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("schema %s: %v", name, err)
	}
	s.resolved[name] = r
	return r
}

// answerSchema is the name of the schema of an operation's answer.
func (doc openAPI) answerSchema(t testing.TB, method, path, status string) string {
	t.Helper()
	var op operation
	if err := json.Unmarshal(doc.Paths[path][strings.ToLower(method)], &op); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	answer, ok := op.Responses[status]
	if !ok {
		answer = op.Responses["default"]
	}
	if strings.HasSuffix(answer.Ref, "/Error") {
		return "Error"
	}
	return strings.TrimPrefix(answer.Content["application/json"].Schema.Ref, "#/components/schemas/")
}

func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	g := newGateway(t)
	doc, schemas := readDocument(t), newSchemas(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	_, body := g.ask(t, "root", "POST", "/api/v1/keys", `{"name":"temp"}`)
	var key restapi.NewKey
	if err := json.Unmarshal([]byte(body), &key); err != nil {
		t.Fatal(err)
	}
	call := g.call(t, "ann", "shop__list_orders", `{}`)
	kept := g.callModel(t, "root", "cloud__envQuery", `{"action":"list"}`).Ref
	cases := []struct {
		method, path, target, body string
		status                     int
	}{
		{"GET", "/servers", "/servers", "", 200},
		{"POST", "/servers", "/servers", `{"name":"extra","builtin":"demo-shop"}`, 201},
		{"POST", "/servers", "/servers", `{"name":"extra","builtin":"demo-shop"}`, 409},
		{"GET", "/servers/{id}", "/servers/extra", "", 200},
		{"POST", "/servers/{id}/refresh", "/servers/extra/refresh", "", 200},
		{"GET", "/servers/{id}/config", "/servers/extra/config", "", 200},
		{"GET", "/servers/{id}/config", "/servers/shop/config", "", 200},
		{"PUT", "/servers/{id}", "/servers/extra", `{"builtin":"demo-shop","timeout":"2m"}`, 200},
		{"PUT", "/servers/{id}", "/servers/shop", `{"builtin":"demo-shop"}`, 409},
		{"POST", "/servers/{id}/disable", "/servers/extra/disable", "", 200},
		{"POST", "/servers/{id}/enable", "/servers/extra/enable", "", 200},
		{"POST", "/servers/{id}/restart", "/servers/extra/restart", "", 200},
		{"GET", "/servers/{id}/held", "/servers/extra/held", "", 200},
		{"POST", "/servers/{id}/approve", "/servers/extra/approve", "", 200},
		{"POST", "/servers/{id}/keep-out", "/servers/extra/keep-out", `{"tools":["nobody"]}`, 200},
		{"POST", "/servers/{id}/keep-out", "/servers/extra/keep-out", `{"tools":[]}`, 400},
		{"DELETE", "/servers/{id}", "/servers/shop", "", 409},
		{"DELETE", "/servers/{id}", "/servers/extra", "", 200},
		{"GET", "/servers/{id}", "/servers/extra", "", 404},
		{"GET", "/tools", "/tools", "", 200},
		{"GET", "/tools/{name}", "/tools/shop__get_order", "", 200},
		{"GET", "/tools/{name}/history", "/tools/shop__get_order/history", "", 200},
		{"GET", "/tools/{name}/history", "/tools/nope/history", "", 404},
		{"POST", "/tools/{name}/call", "/tools/shop__list_orders/call", "{}", 200},
		{"POST", "/tools/{name}/call", "/tools/nope/call", "{}", 404},
		{"GET", "/search", "/search?q=orders&detail=full&limit=2", "", 200},
		{"GET", "/search", "/search?q=zzz", "", 200},
		{"GET", "/search", "/search", "", 400},
		{"GET", "/prompt", "/prompt?format=sig", "", 200},
		{"GET", "/prompt", "/prompt?format=pdf", "", 400},
		{"GET", "/calls", "/calls", "", 200},
		{"GET", "/calls/{id}", "/calls/" + call, "", 200},
		{"GET", "/calls/{id}", "/calls/nope", "", 404},
		{"POST", "/tools/{name}/call", "/tools/cloud__envQuery/call?view=model", `{"action":"list"}`, 200},
		{"GET", "/results/{ref}", "/results/" + kept, "", 200},
		{"GET", "/results/{ref}", "/results/" + kept + "?count=o200k", "", 200},
		{"GET", "/results/{ref}", "/results/r_nothing", "", 404},
		{"GET", "/results", "/results?tool=cloud__envQuery&limit=1", "", 200},
		{"GET", "/results", "/results?cursor=x", "", 400},
		{"GET", "/results", "/results?limit=0", "", 400},
		{"POST", "/results/{ref}/try", "/results/" + kept + "/try", `{"tool":"cloud__envQuery","keep":"EnvList/EnvId,nope"}`, 200},
		{"POST", "/results/{ref}/try", "/results/" + kept + "/try", `{"tool":"cloud__envQuery","jq":".EnvList[0].x.y | error(\"no\")"}`,
			200},
		{"POST", "/results/{ref}/try", "/results/" + kept + "/try", `{"keep":"a"}`, 400},
		{"GET", "/activity", "/activity", "", 200},
		{"GET", "/activity", "/activity?range=30d&by=outcome&sort=time&limit=3", "", 200},
		{"GET", "/activity", "/activity?range=1y", "", 400},
		{"GET", "/savings", "/savings", "", 200},
		{"GET", "/savings", "/savings?by=profile&count=o200k", "", 200},
		{"GET", "/savings", "/savings?by=planet", "", 400},
		{"GET", "/suggestions", "/suggestions", "", 200},
		{"PUT", "/rules/{id}", "/rules/orders",
			`{"tool":"shop__list_orders","when":{"status":["paid",null]},"keep":"orders(id)","mode":"shadow"}`, 200},
		{"PUT", "/rules/{id}", "/rules/orders", `{"tool":"shop__list_orders","keep":"orders(id"}`, 400},
		{"GET", "/rules", "/rules", "", 200},
		{"DELETE", "/rules/{id}", "/rules/orders", "", 200},
		{"DELETE", "/rules/{id}", "/rules/cloud-envQuery-list", "", 409},
		{"DELETE", "/rules/{id}", "/rules/orders", "", 404},
		{"GET", "/policy", "/policy", "", 200},
		{"POST", "/policy/explain", "/policy/explain", `{"tool":"shop__list_orders","as":{"who":"key:ann"},"arguments":{"limit":"3"}}`, 200},
		{"POST", "/policy/explain", "/policy/explain", `{"tool":"shop__list_orders","as":{"who":"ann"}}`, 400},
		{"POST", "/agents", "/agents", `{"id":"helper","name":"H","model":"m","capabilities":{"max_tool_calls":3},"metadata":{"a":1}}`,
			201},
		{"POST", "/agents", "/agents", `{"id":"helper","model":"m"}`, 409},
		{"POST", "/agents", "/agents", `{"model":"m","capabilities":{"max_tool_calls":0}}`, 400},
		{"PUT", "/agents/{id}", "/agents/helper", `{"model":"m","available_tools":["shop__*"],"budget":500,"language":"zh"}`, 200},
		{"PUT", "/agents/{id}", "/agents/helper?version=1", `{"model":"m"}`, 409},
		{"GET", "/agents/{id}", "/agents/helper", "", 200},
		{"GET", "/agents/{id}/prompt", "/agents/helper/prompt", "", 200},
		{"GET", "/agents/{id}/prompt", "/agents/helper/prompt?session=ses_nothing", "", 404},
		{"GET", "/agents", "/agents", "", 200},
		{"DELETE", "/agents/{id}", "/agents/helper", "", 200},
		{"DELETE", "/agents/{id}", "/agents/filed", "", 409},
		{"GET", "/agents/{id}", "/agents/helper", "", 404},
		{"POST", "/sessions", "/sessions", `{"id":"ses_a","title":"第一","metadata":{"k":[1]}}`, 201},
		{"POST", "/sessions", "/sessions", `{"id":"ses_a"}`, 409},
		{"POST", "/sessions", "/sessions", "", 201},
		{"PATCH", "/sessions/{id}", "/sessions/ses_a", `{"title":"b","metadata":{"l":null}}`, 200},
		{"GET", "/sessions/{id}", "/sessions/ses_a", "", 200},
		{"GET", "/sessions", "/sessions?limit=1&metadata.k=[1]", "", 200},
		{"GET", "/sessions", "/sessions?limit=0", "", 400},
		{"GET", "/sessions/{id}/messages", "/sessions/ses_a/messages", "", 200},
		{"GET", "/sessions/{id}/messages", "/sessions/ses_b/messages", "", 404},
		{"DELETE", "/sessions/{id}", "/sessions/ses_a", "", 200},
		{"DELETE", "/sessions/{id}", "/sessions/ses_a", "", 200},
		{"GET", "/keys", "/keys", "", 200},
		{"GET", "/clients", "/clients", "", 200},
		{"POST", "/keys", "/keys", `{"name":"more","role":"viewer"}`, 201},
		{"POST", "/keys", "/keys", `{"name":"more"}`, 409},
		{"DELETE", "/keys/{id}", "/keys/" + key.ID, "", 200},
		{"GET", "/events", "/events", "", 400},
	}
	for _, c := range cases {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			status, body := g.ask(t, "root", c.method, "/api/v1"+c.target, c.body)
			if status != c.status {
				t.Fatalf("HTTP %d, want %d: %s", status, c.status, body)
			}
			name := doc.answerSchema(t, c.method, c.path, strconv.Itoa(status))
			schemas.check(t, name, body)
			if c.method == "POST" && c.path == "/servers" {
				schemas.check(t, "ServerConfig", c.body)
			}
			if c.method == "PUT" && c.path == "/rules/{id}" && status == 200 {
				schemas.check(t, "RuleConfig", c.body)
			}
			if c.path == "/agents" && status == 201 {
				schemas.check(t, "AgentConfig", c.body)
			}
			if c.method == "POST" && c.path == "/keys" {
				schemas.check(t, "KeyConfig", c.body)
			}
		})
	}
}

func TestDocumentIsServed(t *testing.T) {
	g := newGateway(t)
	status, body := g.ask(t, "ann", "GET", "/api/v1/openapi.json", "")
	var doc openAPI
	if err := json.Unmarshal([]byte(body), &doc); err != nil || status != 200 || doc.Servers[0].URL != "/api/v1" {
		t.Errorf("HTTP %d, %v, %+v", status, err, doc.Servers)
	}
}

func TestDocumentHasTheKeysOfAServerInTheFile(t *testing.T) {
	text, err := os.ReadFile("../../state/config/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ours, _ := newSchemas(t).defs["ServerConfig"].(map[string]any)["properties"].(map[string]any)
	documented := slices.Sorted(maps.Keys(ours))
	want := slices.AppendSeq([]string{"name"}, maps.Keys(file.Defs["server"].Properties))
	want = slices.AppendSeq(want, maps.Keys(file.Defs["api"].Properties))
	slices.Sort(want)
	want = slices.Compact(want)
	if !slices.Equal(documented, want) {
		t.Errorf("documented %v, in the file %v", documented, want)
	}
}

func TestDocumentHasTheKeysOfARuleInTheFile(t *testing.T) {
	text, err := os.ReadFile("../../state/config/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ours, _ := newSchemas(t).defs["RuleConfig"].(map[string]any)["properties"].(map[string]any)
	documented, want := slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(file.Defs["result"].Properties))
	if !slices.Equal(documented, want) {
		t.Errorf("documented %v, in the file %v", documented, want)
	}
}

func TestDocumentHasEveryDialect(t *testing.T) {
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Parameters struct {
				For struct {
					Schema struct{ Enum []schema.Dialect }
				}
			}
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	documented := doc.Components.Parameters.For.Schema.Enum
	if want := slices.Sorted(maps.Keys(schema.Dialects())); !slices.Equal(documented, want) {
		t.Errorf("documented %q, want %q", documented, want)
	}
}

func TestEveryCodeHasAStatusAndIsDocumented(t *testing.T) {
	source, err := os.ReadFile("../../base/fault/fault.go")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	codes := namesIn(string(source), `Code = "(\w+)"`)
	if len(codes) < 10 {
		t.Fatalf("only %d codes found: the test looks in the wrong place", len(codes))
	}
	for _, code := range codes {
		if (fault.Code(code).Status() == 500) != (code == "internal") {
			t.Errorf("%s is HTTP %d", code, fault.Code(code).Status())
		}
		if !strings.Contains(string(document), `"`+code+`"`) {
			t.Errorf("the document does not name %s", code)
		}
	}
}
