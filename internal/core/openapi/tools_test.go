package openapi_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

func TestNamesAreUniqueStableAndSuitEveryProvider(t *testing.T) {
	const doc = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /a/{id}: {get: {operationId: getA}, put: {operationId: repos/get}, post: {}}\n  /a/id: {post: {}, get: {operationId: 7 up}}\n" +
		"  /用户: {get: {}}\n  /: {get: {}}\n  /c: {get: {operationId: dup}, post: {operationId: dup}}\n"
	long := "  /long: {get: {operationId: " + strings.Repeat("x", 80) + "}, put: {operationId: " + strings.Repeat("x", 81) + "}}\n"
	ops, _ := read(t, doc+long, nil)
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	byPath := map[string]string{}
	taken := map[string]bool{}
	for _, op := range ops {
		if !valid.MatchString(op.Name) || taken[op.Name] {
			t.Errorf("%s %s is called %q", op.Method, op.Path, op.Name)
		}
		taken[op.Name] = true
		byPath[op.Method+" "+op.Path] = op.Name
	}
	for path, want := range map[string]string{"GET /a/{id}": "getA", "PUT /a/{id}": "repos_get", "GET /a/id": "_7_up"} {
		if byPath[path] != want {
			t.Errorf("%s is called %s", path, byPath[path])
		}
	}
	for _, path := range []string{"POST /a/{id}", "POST /a/id"} {
		if !regexp.MustCompile(`^post_a_id_[0-9a-f]{8}$`).MatchString(byPath[path]) {
			t.Errorf("%s is called %s", path, byPath[path])
		}
	}
	more, _ := read(t, doc+"  /new: {get: {operationId: other}}\n"+long, nil)
	for _, op := range more {
		if old := byPath[op.Method+" "+op.Path]; old != "" && old != op.Name {
			t.Errorf("%s was renamed from %s to %s", op.Path, old, op.Name)
		}
	}
}

func TestFilters(t *testing.T) {
	doc, err := openapi.Read([]byte("openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  /pets: {get: {operationId: list, tags: [pet, read]}, post: {operationId: add, tags: [pet]}}\n"+
		"  /pets/{id}/toys: {get: {tags: [toy]}}\n  /admin/a/b: {delete: {operationId: wipe}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		filter openapi.Filter
		want   string
	}{
		{openapi.Filter{}, "list add get_pets_id_toys wipe"},
		{openapi.Filter{Tags: []string{"read", "toy"}}, "list get_pets_id_toys"},
		{openapi.Filter{Paths: []string{"/pets"}}, "list add"},
		{openapi.Filter{Paths: []string{"/pets/*/toys"}}, "get_pets_id_toys"},
		{openapi.Filter{Paths: []string{"/pets/**"}}, "list add get_pets_id_toys"},
		{openapi.Filter{Paths: []string{"/**/b"}}, "wipe"},
		{openapi.Filter{Paths: []string{"/pets/{id}/toys"}}, "get_pets_id_toys"},
		{openapi.Filter{Paths: []string{"/*"}}, "list add"},
		{openapi.Filter{Methods: []string{"post", "DELETE"}}, "add wipe"},
		{openapi.Filter{IDs: []string{"wipe", "get_pets_id_toys"}}, "get_pets_id_toys wipe"},
		{openapi.Filter{ReadOnly: true}, "list get_pets_id_toys"},
		{openapi.Filter{ReadOnly: true, Tags: []string{"pet"}}, "list"},
		{openapi.Filter{Tags: []string{"none"}}, ""},
	}
	for _, c := range cases {
		ops, _ := doc.Operations(c.filter)
		var names []string
		for _, op := range ops {
			names = append(names, op.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.filter, got, c.want)
		}
	}
}

func TestDescriptionsAndAnnotations(t *testing.T) {
	cases := []struct{ method, body, want string }{
		{"get", "summary: List, description: 'All of them.'", `"description":"List\n\nAll of them."|"annotations":{"title":"List","readOnlyHint":true,"openWorldHint":true}`},
		{"get", "summary: List all, description: List all pets.", `"description":"List all pets."|`},
		{"delete", "deprecated: true, description: Gone.", `"description":"Deprecated. Gone."|"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":true}`},
		{"put", "", `"description":"PUT /a"|"annotations":{"readOnlyHint":false,"idempotentHint":true,"openWorldHint":true}`},
		{"post", "", `"annotations":{"readOnlyHint":false,"openWorldHint":true}`},
	}
	for _, c := range cases {
		def := string(one(t, "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {/a: {"+c.method+": {"+c.body+"}}}\n", nil).Definition)
		for want := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(def, want) {
				t.Errorf("%s %s: got %s, want %s", c.method, c.body, def, want)
			}
		}
	}
	long := one(t, operation("3.0.0", "/a", "get", "      description: "+strings.Repeat("漢", 20_000)+"\n"), nil)
	if n := len(long.Definition); n > 20_000 {
		t.Errorf("a description of %d bytes", n)
	}
}

func TestTheLayersHoldWhatIsRequired(t *testing.T) {
	op := one(t, operation("3.0.0", "/a/{id}", "post", "      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}]\n"+
		"      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {b: {type: string}}}}}}\n"), &openapi.Options{Layout: openapi.Layered, Base: testBase})
	want := `{"type":"object","properties":{"path":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false},` +
		`"query":{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false},"body":{"type":"object","properties":{"b":{"type":"string"}}}},"required":["path","body"],"additionalProperties":false}`
	if got := string(get(op.Definition, "inputSchema")); got != want {
		t.Errorf("got %s", got)
	}
	refused(t, op, `{"path":{}}`, "/path/id")
	refused(t, op, `{"path":{"id":"1"}}`, "/body")
	refused(t, op, `{"path":{"id":"1","x":2},"body":{}}`, "/path/x")
	refused(t, op, `{"path":7,"body":{}}`, "/path")
	refused(t, op, `{"id":"1"}`, "/id")
	refused(t, op, `{"cookie":{"c":"1"}}`, "/cookie/c")
}

func TestArgumentsThatCannotBeSentAreRefused(t *testing.T) {
	text := operation("3.0.0", "/a", "get", "      parameters: [{name: X-H, in: header, schema: {type: string}}, {name: q, in: query, required: true, schema: {type: string}}, {name: c, in: cookie, schema: {type: string}}]\n")
	op := one(t, text, nil)
	for args, pointer := range map[string]string{
		`[]`: "", `7`: "", `{`: "", `{"q":"1","other":2}`: "/other", `{}`: "/q", `{"q":null}`: "/q",
		`{"q":"1","X-H":"a\r\nEvil: 1"}`: "/X-H", `{"q":"1","X-H":"a\u0000"}`: "/X-H", `{"q":"1","X-H":{"k":"a\nb"}}`: "/X-H",
	} {
		refused(t, op, args, pointer)
	}
	req := send(t, op, `{"q":"漢&","c":"a;b\r\nc\"","X-H":null}`)
	if req.URL != "http://127.0.0.1:9/base/a?q=%E6%BC%A2%26" || req.Header.Get("Cookie") != "c=a%3Bb%0D%0Ac%22" || req.Header.Values("X-H") != nil {
		t.Errorf("got %s", req.Curl())
	}
	for _, base := range []string{"ftp://x", "x", "http://", "://", "http://a b/"} {
		if _, err := one(t, text, &openapi.Options{Base: base}).Request([]byte(`{"q":"1"}`)); !isFault(err) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestSecretsAreAppliedAndNeverShown(t *testing.T) {
	const doc = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\nsecurity: [{h: []}, {q: [], c: []}, {basic: []}, {bearer: []}, {oauth: [read, write]}, {oidc: []}, {}, {auth: []}]\ncomponents:\n  securitySchemes:\n" +
		"    h: {type: apiKey, in: header, name: X-Key}\n    auth: {type: apiKey, in: header, name: Authorization}\n    q: {type: apiKey, in: query, name: 'api key'}\n    c: {type: apiKey, in: cookie, name: sid}\n    basic: {type: http, scheme: Basic}\n    bearer: {type: http, scheme: bearer}\n" +
		"    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: https://x/token, scopes: {}}}}\n    oidc: {type: openIdConnect, openIdConnectUrl: https://x/.well-known}\n" +
		"paths:\n  /a:\n    get:\n      parameters: [{name: x-key, in: header, required: true, schema: {type: string}}, {name: api key, in: query, schema: {type: string}}, {name: sid, in: cookie, schema: {type: string}}, {name: k, in: cookie, schema: {type: string}}]\n"
	op := one(t, doc, nil)
	if got := string(get(op.Definition, "inputSchema", "properties")); got != `{"k":{"type":"string"}}` {
		t.Errorf("a secret is asked of the model: %s", got)
	}
	security := op.Security()
	if len(security) != 8 || len(security[6]) != 0 || security[4][0].TokenURL != "https://x/token" || strings.Join(security[4][0].Scopes, " ") != "read write" || security[5][0].OpenID == "" {
		t.Fatalf("got %+v", security)
	}
	const secret = "s3cr&t"
	for _, alternative := range security {
		req := send(t, op, `{"k":"1"}`)
		for _, scheme := range alternative {
			if err := req.Apply(scheme, secret); err != nil {
				t.Fatal(err)
			}
			if err := req.Apply(scheme, "a\r\nb"); !isFault(err) {
				t.Errorf("%s: a credential with a line break was taken", scheme.Name)
			}
		}
		curl := req.Curl()
		if strings.Contains(curl, "s3cr") || strings.Contains(curl, "czNjciZ0") {
			t.Errorf("a secret is shown: %s", curl)
		}
		for _, scheme := range alternative {
			if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(curl, "%3C", "<"), "%3E", ">"), "<"+scheme.Name+">") {
				t.Errorf("nothing stands for %s: %s", scheme.Name, curl)
			}
		}
	}
	set := send(t, op, `{}`)
	if set.SetHeader("X-Tenant", secret); set.Header.Get("X-Tenant") != secret || !strings.Contains(set.Curl(), "'X-Tenant: <X-Tenant>'") {
		t.Errorf("got %s", set.Curl())
	}
	req := send(t, op, `{"k":"1"}`)
	for i, want := range []string{"", "http://127.0.0.1:9/base/a?api+key=s3cr%26t"} {
		for _, scheme := range security[i] {
			if err := req.Apply(scheme, secret); err != nil {
				t.Fatal(err)
			}
		}
		if want != "" && (req.URL != want || req.Header.Get("Cookie") != "k=1; sid=s3cr%26t" || req.Header.Get("X-Key") != secret) {
			t.Errorf("got %s %v", req.URL, req.Header)
		}
	}
}

func TestAnExplodedObjectCannotBringASecret(t *testing.T) {
	const doc = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\ncomponents: {securitySchemes: {q: {type: apiKey, in: query, name: token}, h: {type: apiKey, in: header, name: Authorization}}}\npaths:\n  /a: {get: {parameters: [{name: f, in: query, schema: {type: object}}]}}\n"
	op := one(t, doc, nil)
	refused(t, op, `{"f":{"token":"mine"}}`, "/f/token")
	if req := send(t, op, `{"f":{"other":"x"}}`); req.URL != "http://127.0.0.1:9/base/a?other=x" {
		t.Errorf("got %s", req.URL)
	}
}

func TestAPublicOperationKeepsItsParameters(t *testing.T) {
	const doc = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\nsecurity: [{q: []}]\ncomponents: {securitySchemes: {q: {type: apiKey, in: query, name: token}}}\npaths:\n  /verify: {get: {security: [], parameters: [{name: token, in: query, schema: {type: string}}]}}\n"
	op := one(t, doc, nil)
	accepts(t, op, `{"token":"x"}`)
	if len(op.Security()) != 0 {
		t.Errorf("got %v", op.Security())
	}
}

func TestCurlIsQuotedForTheShell(t *testing.T) {
	text := withBody("application/json: {schema: {type: object, properties: {a: {type: string}}}}")
	op := one(t, text, nil)
	want := `curl -X POST --globoff 'http://127.0.0.1:9/base/echo' -H 'Accept: */*' -H 'Content-Type: application/json' --data-raw '{"a":"it'\''s $HOME ` + "`id`" + `"}'`
	if got := send(t, op, `{"a":"it's $HOME `+"`id`"+`"}`).Curl(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	binary := one(t, withBody("application/octet-stream: {}"), nil)
	if got := send(t, binary, `{"body":"AAE="}`).Curl(); !strings.HasSuffix(got, "--data-binary '@body-of-2-bytes'") {
		t.Errorf("got %s", got)
	}
	req, err := one(t, text, &openapi.Options{Base: "http://user:s3cret@127.0.0.1/"}).Request([]byte(`{}`))
	if err != nil || strings.Contains(req.Curl(), "s3cret") || !strings.Contains(req.URL, "user:s3cret@") {
		t.Errorf("got %v, %v", req, err)
	}
}

func TestLargeSchemasAreCutToWhatModelsCanRead(t *testing.T) {
	var b strings.Builder
	b.WriteString(operation("3.0.0", "/a", "post", "      operationId: a\n      requestBody: {content: {application/json: {schema: {type: object, properties: {x: {$ref: '#/components/schemas/S0'}}}}}}\n      responses: {200: {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}\n"))
	b.WriteString("components:\n  schemas:\n")
	for i := range 600 {
		fmt.Fprintf(&b, "    S%d: {type: object, description: %s, properties: {l: {$ref: '#/components/schemas/S%d'}, r: {$ref: '#/components/schemas/S%d'}}}\n", i, strings.Repeat("word ", 20), (2*i+1)%600, (2*i+2)%600)
	}
	ops, problems := read(t, b.String(), nil)
	if len(ops) != 1 || len(problems) == 0 || !strings.Contains(fmt.Sprint(problems), "too large to show, with ") {
		t.Fatalf("%d operations, problems %.200v", len(ops), problems)
	}
	op := ops[0]
	if n := len(get(op.Definition, "inputSchema")); n > 100<<10 {
		t.Errorf("the input schema has %d bytes", n)
	}
	if n := len(get(op.Definition, "outputSchema")); n > 30<<10 {
		t.Errorf("the output schema has %d bytes", n)
	}
	accepts(t, op, `{"x":{"l":{"r":{}}}}`)
	rejects(t, op, `{"x":{"l":{"r":7}}}`)
}

func TestOperationsSayWhereTheyAre(t *testing.T) {
	get := func(id, servers string) string {
		return `"/` + id + `":{` + servers + `"get":{"operationId":"` + id + `","responses":{}}}`
	}
	variable := func(value string) string {
		return `"servers":[{"url":"https://{h}.example","variables":{"h":{"default":"` + value + `"}}}],`
	}
	doc := `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"https://Own.example:443/v1"}],"paths":{` + strings.Join([]string{
		get("a", ""), get("b", variable("one")), get("c", variable("two")), get("d", `"servers":[{"url":"https://{h}.example"}],`),
		get("e", `"servers":[{"url":"/rel"},{"url":"https://second.example"}],`), get("f", ""),
	}, ",") + `}}`
	d, err := openapi.Read([]byte(doc), &openapi.Options{URL: "http://spec.example:8080/x/openapi.json"})
	if err != nil {
		t.Fatal(err)
	}
	ops, _ := d.Operations(openapi.Filter{})
	var got []string
	for _, op := range ops {
		got = append(got, op.Name+" "+op.Origin+" "+op.Base)
	}
	want := []string{
		"a https://own.example https://Own.example:443/v1", "b https://one.example https://one.example", "c https://two.example https://two.example",
		"d  ", "e http://spec.example:8080 http://spec.example:8080/rel", "f https://own.example https://Own.example:443/v1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q,\nwant %q", got, want)
	}
}
