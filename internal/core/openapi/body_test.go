package openapi_test

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

// withBody is a document of one operation that takes a body of the media types.
func withBody(content string) string {
	return operation("3.0.3", "/echo", "post", "      operationId: echo\n      requestBody: {required: true, content: {"+content+"}}\n      responses: {200: {description: ok}}\n")
}

func TestBodies(t *testing.T) {
	const object = `{type: object, required: [a], properties: {a: {type: string}, n: {type: integer}, l: {type: array, items: {type: string}}, o: {type: object, properties: {k: {type: string}}}}}`
	cases := []struct{ name, content, args, media, body string }{
		{"a JSON object is given by its properties, in the order they came", "application/json: {schema: " + object + "}",
			`{"n":9007199254740993,"a":"x","o":{"k": 1.0}}`, "application/json", `{"n":9007199254740993,"a":"x","o":{"k": 1.0}}`},
		{"JSON of any name is JSON", "application/vnd.api+json: {schema: " + object + "}", `{"a":"x"}`, "application/vnd.api+json", `{"a":"x"}`},
		{"an array is given whole", "application/json: {schema: {type: array, items: {type: integer}}}", `{"body":[1, 2]}`, "application/json", `[1, 2]`},
		{"a map is given whole", "application/json: {schema: {type: object, additionalProperties: {type: string}}}", `{"body":{"x":"y"}}`, "application/json", `{"x":"y"}`},
		{"a union is given whole", "application/json: {schema: {oneOf: [{type: string}, {type: object}]}}", `{"body":"s"}`, "application/json", `"s"`},
		{"a body without a schema is given whole", "application/json: {}", `{"body":{"x":null}}`, "application/json", `{"x":null}`},
		{"JSON is preferred to a form", "application/x-www-form-urlencoded: {schema: " + object + "}, application/json: {schema: " + object + "}", `{"a":"x"}`, "application/json", `{"a":"x"}`},
		{"any type is JSON", "'*/*': {schema: " + object + "}", `{"a":"x"}`, "application/json", `{"a":"x"}`},
		{"parameters of the type are sent as declared", "'application/json; charset=utf-8': {schema: " + object + "}", `{"a":"x"}`, "application/json; charset=utf-8", `{"a":"x"}`},
		{"a form repeats names of lists and writes objects as JSON", "application/x-www-form-urlencoded: {schema: " + object + "}",
			`{"a":"x y&","l":["1","2"],"o":{"k":"v"}}`, "application/x-www-form-urlencoded", "a=x%20y%26&l=1&l=2&o=%7B%22k%22%3A%22v%22%7D"},
		{"a form nests where the document says so", "application/x-www-form-urlencoded: {schema: " + object + ", encoding: {o: {style: deepObject}, l: {explode: false}}}",
			`{"a":"x","l":["1","2"],"o":{"k":"v"}}`, "application/x-www-form-urlencoded", "a=x&l=1,2&o%5Bk%5D=v"},
		{"a form leaves out what is null", "application/x-www-form-urlencoded: {schema: " + object + "}", `{"a":"x","n":null}`, "application/x-www-form-urlencoded", "a=x"},
		{"text is sent as it is", "text/plain: {schema: {type: string}}", `{"body":"zwei\nZeilen"}`, "text/plain", "zwei\nZeilen"},
		{"XML is text", "application/xml: {schema: {type: object}}", `{"body":"<a/>"}`, "application/xml", "<a/>"},
		{"bytes are given in base64", "application/octet-stream: {schema: {type: string, format: binary}}", `{"body":"AAH/"}`, "application/octet-stream", "\x00\x01\xff"},
		{"base64 of either alphabet, without padding", "application/octet-stream: {}", `{"body":"_-8"}`, "application/octet-stream", "\xff\xef"},
		{"bytes may be text, with a type", "application/octet-stream: {}", `{"body":{"text":"hi","contentType":"text/csv"}}`, "text/csv", "hi"},
		{"a data URL brings its type", "application/octet-stream: {}", `{"body":"data:image/png;base64,AAE="}`, "image/png", "\x00\x01"},
		{"a declared type stays", "image/png: {schema: {type: string, format: binary}}", `{"body":"AAE="}`, "image/png", "\x00\x01"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req := send(t, one(t, withBody(c.content), nil), c.args)
			if string(req.Body) != c.body || req.Header.Get("Content-Type") != c.media {
				t.Errorf("got  %s %q\nwant %s %q", req.Header.Get("Content-Type"), req.Body, c.media, c.body)
			}
		})
	}
}

func TestAnIndependentDecoderReadsBodies(t *testing.T) {
	base, last := echo(t)
	for _, media := range []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"} {
		t.Run(media, func(t *testing.T) {
			text := `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/echo":{"post":{"requestBody":{"required":true,"content":{"` + media + `":{"schema":` +
				`{"type":"object","required":["a","l","n"],"properties":{"a":{"type":"string","enum":["x ä&=+"]},"l":{"type":"array","items":{"type":"string"},"enum":[["1","2"]]},"n":{"type":"integer","enum":[7]}}}}}},"responses":{"200":{"description":"ok"}}}}}}`
			req, err := one(t, text, &openapi.Options{Base: base}).Request(json.RawMessage(`{"a":"x ä&=+","l":["1","2"],"n":7}`))
			if err != nil {
				t.Fatal(err)
			}
			check(t, text, overTheWire(t, req, last))
		})
	}
}

func TestMultipartCarriesFilesWithNameAndType(t *testing.T) {
	op := one(t, withBody(`multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}, files: {type: array, items: {type: string, format: binary}}, meta: {type: object}, note: {type: string}, photo: {type: string}}}, encoding: {photo: {contentType: image/png}}}`), nil)
	args := `{"file":{"data":"AAH/","filename":"ä\"b.bin","contentType":"application/x-thing"},"files":["AA==",{"text":"two"}],"meta":{"k":[1]},"note":"hi","photo":"iVBORw=="}`
	req := send(t, op, args)
	type part struct{ name, file, media, body string }
	want := []part{
		{"file", `ä"b.bin`, "application/x-thing", "\x00\x01\xff"}, {"files", "files", "application/octet-stream", "\x00"}, {"files", "files", "application/octet-stream", "two"},
		{"meta", "", "application/json", `{"k":[1]}`}, {"note", "", "", "hi"}, {"photo", "photo", "image/png", "\x89PNG"},
	}
	media, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" {
		t.Fatal(media, err)
	}
	var got []part
	r := multipart.NewReader(strings.NewReader(string(req.Body)), params["boundary"])
	for {
		p, err := r.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(p.FileName(), "%22", `"`) // as browsers write it
		got = append(got, part{p.FormName(), name, p.Header.Get("Content-Type"), string(body)})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if again := send(t, op, args); again.Curl() != req.Curl() {
		t.Error("the same call made another request")
	}
}

func TestFilesThatCannotBeReadAreRefused(t *testing.T) {
	op := one(t, withBody(`multipart/form-data: {schema: {type: object, properties: {f: {type: string, format: binary}}}}`), nil)
	refused(t, op, `{"f":"%%%"}`, "/f")
	refused(t, op, `{"f":7}`, "/f")
	refused(t, op, `{"f":{}}`, "/f")
	refused(t, op, `{"f":{"text":"a","data":"b"}}`, "/f")
	refused(t, op, `{"f":{"data":7}}`, "/f/data")
	refused(t, op, `{"f":{"text":"a","contentType":"x\r\ny"}}`, "/f/contentType")
}

func TestAnOptionalBodyIsSentOnlyWhenSomethingOfItIsGiven(t *testing.T) {
	text := strings.Replace(withBody("application/json: {schema: {type: object, required: [a], properties: {a: {type: string}}}}"), "required: true, ", "", 1)
	op := one(t, text, nil)
	if req := send(t, op, `{}`); req.Body != nil || req.Header.Get("Content-Type") != "" {
		t.Errorf("got %s", req.Curl())
	}
	if req := send(t, op, `{"a":"x"}`); string(req.Body) != `{"a":"x"}` {
		t.Errorf("got %s", req.Curl())
	}
	if got := get(op.Definition, "inputSchema", "required"); got != nil {
		t.Errorf("required: %s", got)
	}
}

func TestSwaggerBodies(t *testing.T) {
	cases := []struct{ name, params, args, media, body string }{
		{"body", "{in: body, name: pet, required: true, schema: {type: object, properties: {a: {type: string}}}}", `{"a":"x"}`, "application/json", `{"a":"x"}`},
		{"formData", "{in: formData, name: a, type: string}, {in: formData, name: l, type: array, items: {type: string}, collectionFormat: multi}", `{"a":"x","l":["1","2"]}`, "application/x-www-form-urlencoded", "a=x&l=1&l=2"},
		{"lists are joined by commas", "{in: formData, name: l, type: array, items: {type: string}}", `{"l":["1","2"]}`, "application/x-www-form-urlencoded", "l=1,2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			op := one(t, operation("2.0", "/echo", "post", "      parameters: ["+c.params+"]\n      responses: {200: {description: ok}}\n"), nil)
			req := send(t, op, c.args)
			if string(req.Body) != c.body || req.Header.Get("Content-Type") != c.media {
				t.Errorf("got %s %q", req.Header.Get("Content-Type"), req.Body)
			}
		})
	}
	op := one(t, operation("2.0", "/echo", "post", "      parameters: [{in: formData, name: f, type: file, required: true}, {in: formData, name: a, type: string}]\n"), nil)
	if req := send(t, op, `{"f":"AA==","a":"x"}`); !strings.HasPrefix(req.Header.Get("Content-Type"), "multipart/form-data;") {
		t.Errorf("got %s", req.Curl())
	}
}

func TestSwaggerCollections(t *testing.T) {
	for format, want := range map[string]string{"csv": "l=1,2", "ssv": "l=1%202", "tsv": "l=1%092", "pipes": "l=1%7C2", "multi": "l=1&l=2"} {
		op := one(t, operation("2.0", "/echo", "get", "      parameters: [{in: query, name: l, type: array, items: {type: string}, collectionFormat: "+format+"}]\n"), nil)
		if _, got, _ := strings.Cut(send(t, op, `{"l":["1","2"]}`).URL, "?"); got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}

func TestParametersWithContentAreWrittenByTheirType(t *testing.T) {
	op := one(t, operation("3.1.0", "/echo", "get", "      parameters:\n      - {name: q, in: query, content: {application/json: {schema: {type: object, properties: {a: {type: array, items: {type: integer}}}}}}}\n"+
		"      - {name: X-J, in: header, content: {application/json: {schema: {type: object}}}}\n"), nil)
	req := send(t, op, `{"q":{"a": [1, 2]},"X-J":{"k": "v"}}`)
	u, err := url.Parse(req.URL)
	if err != nil || u.Query().Get("q") != `{"a":[1,2]}` || req.Header.Get("X-J") != `{"k":"v"}` {
		t.Errorf("got %s, %v", req.Curl(), err)
	}
}

func TestReservedCharactersStayOnlyWhereTheyAreAllowed(t *testing.T) {
	op := one(t, operation("3.0.0", "/echo", "get", "      parameters: [{name: a, in: query, allowReserved: true, schema: {type: string}}, {name: b, in: query, schema: {type: string}}]\n"), nil)
	if _, got, _ := strings.Cut(send(t, op, `{"a":"/x?y&z=1#+","b":"/x?"}`).URL, "?"); got != "a=/x?y%26z%3D1%23%2B&b=%2Fx%3F" {
		t.Errorf("got %s", got)
	}
}

func TestServers(t *testing.T) {
	const doc = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\nservers: [{url: 'https://{region}.example.com:{port}/v1', variables: {region: {default: eu, enum: [eu, us]}, port: {default: 8443}}}]\n" +
		"paths:\n  /a: {get: {operationId: a}}\n  /b: {servers: [{url: 'https://b.example.com/'}], get: {operationId: b}, put: {operationId: c, servers: [{url: /rel}]}}\n"
	ops, problems := read(t, doc, &openapi.Options{URL: "https://docs.example.com/specs/api.yaml", Variables: map[string]string{"region": "us"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []string{"https://us.example.com:8443/v1/a", "https://b.example.com/b", "https://docs.example.com/rel/b"} {
		req, err := ops[i].Request(nil)
		if err != nil || req.URL != want {
			t.Errorf("got %v, %v, want %s", req, err, want)
		}
	}
	if _, err := ops[0].Servers()[0].Expand(map[string]string{"region": "mars"}); !isFault(err) {
		t.Errorf("a value outside the list was taken: %v", err)
	}
	swagger := one(t, "swagger: 2.0\ninfo: {title: t, version: 1}\nhost: api.example.com\nbasePath: /v2/\nschemes: [http, https]\npaths: {/a: {get: {}}}\n", &openapi.Options{})
	if req, err := swagger.Request(nil); err != nil || req.URL != "https://api.example.com/v2/a" {
		t.Errorf("got %v, %v", req, err)
	}
	if _, err := one(t, operation("3.0.0", "/a", "get", "      operationId: x\n"), &openapi.Options{}).Request(nil); !isFault(err) {
		t.Errorf("a document without an address needs one: %v", err)
	}
}

func TestABaseMovesTheAPIAndNoOtherService(t *testing.T) {
	doc := func(servers string) string {
		return `{"openapi":"3.1.0","info":{"title":"T","version":"1"},` + servers + `"paths":{"/a":{"get":{"operationId":"a"}},` +
			`"/b":{"servers":[{"url":"https://uploads.example.com/v1"}],"get":{"operationId":"b"}},` +
			`"/c":{"servers":[{"url":"/v1/files"}],"get":{"operationId":"c"}},` +
			`"/d":{"servers":[{"url":"/v9"}],"get":{"operationId":"d","servers":[{"url":"https://api.example.com:443/v2/"}]}},` +
			`"/e":{"servers":[{"url":"https://{h}.example.com/v1","variables":{"h":{"default":"test"}}}],"get":{"operationId":"e"}},` +
			`"/f":{"servers":[{"url":"/v1"}],"get":{"operationId":"f"}}}}`
	}
	const absolute, relative = `"servers":[{"url":"https://api.example.com/v1"},{"url":"https://test.example.com/v1"}],`, `"servers":[{"url":"/v1"}],`
	for _, c := range []struct {
		name, servers, base, url string
		want                     []string
	}{
		{"another host", absolute, "http://127.0.0.1:9/v1", "", []string{
			"http://127.0.0.1:9/v1/a", "https://uploads.example.com/v1/b", "http://127.0.0.1:9/v1/files/c", "http://127.0.0.1:9/v2/d", "http://127.0.0.1:9/v1/e", "http://127.0.0.1:9/v1/f"}},
		{"behind a prefix", absolute, "https://me@proxy.example/pets/v1?key=1", "https://docs.example/v1.json", []string{
			"https://me@proxy.example/pets/v1/a?key=1", "https://uploads.example.com/v1/b", "https://me@proxy.example/pets/v1/files/c?key=1", "https://me@proxy.example/pets/v2/d?key=1", "https://me@proxy.example/pets/v1/e?key=1", "https://me@proxy.example/pets/v1/f?key=1"}},
		{"without the prefix", relative, "http://127.0.0.1:9", "specs/api.json", []string{
			"http://127.0.0.1:9/a", "https://uploads.example.com/v1/b", "http://127.0.0.1:9/files/c", "https://api.example.com:443/v2/d", "https://test.example.com/v1/e", "http://127.0.0.1:9/f"}},
		{"relative to where the document is", relative, "http://127.0.0.1:9/v1", "https://api.example.com/openapi.json", []string{
			"http://127.0.0.1:9/v1/a", "https://uploads.example.com/v1/b", "http://127.0.0.1:9/v1/files/c", "http://127.0.0.1:9/v2/d", "https://test.example.com/v1/e", "http://127.0.0.1:9/v1/f"}},
		{"no servers", "", "http://127.0.0.1:9/x", "", []string{
			"http://127.0.0.1:9/x/a", "https://uploads.example.com/v1/b", "http://127.0.0.1:9/x/v1/files/c", "https://api.example.com:443/v2/d", "https://test.example.com/v1/e", "http://127.0.0.1:9/x/v1/f"}},
		{"servers that cannot be used", `"servers":[{"url":"https://{none}/v1"}],`, "http://127.0.0.1:9/x", "", []string{
			"http://127.0.0.1:9/x/a", "https://uploads.example.com/v1/b", "", "https://api.example.com:443/v2/d", "https://test.example.com/v1/e", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ops, _ := read(t, doc(c.servers), &openapi.Options{Base: c.base, URL: c.url})
			for i, want := range c.want {
				req, err := ops[i].Request(nil)
				if want == "" {
					if !isFault(err) || ops[i].Origin != "" {
						t.Errorf("%s: got %v, %v", ops[i].Name, req, err)
					}
				} else if err != nil || req.URL != want || !strings.HasPrefix(strings.Replace(want, "me@", "", 1), strings.TrimSuffix(ops[i].Origin, ":443")) {
					t.Errorf("%s: got %v, %v, want %s; it is at %s", ops[i].Name, req, err, want, ops[i].Origin)
				}
			}
		})
	}
}

func TestQueryOfABaseIsSentAndNotShown(t *testing.T) {
	doc := `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"paths":{"/p":{"get":{"operationId":"p","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{}}}}}`
	for _, c := range []struct{ base, url, shown string }{
		{"https://a.example/v1?key=s3cret&x", "https://a.example/v1/p?key=s3cret&x&q=1", "https://a.example/v1/p?key=<key>&<base>&q=1"},
		{"https://me:s3cret@a.example?key=s3cret", "https://me:s3cret@a.example/p?key=s3cret&q=1", "https://a.example/p?key=<key>&q=1"},
		{"https://a.example", "https://a.example/p?q=1", "https://a.example/p?q=1"},
	} {
		req, err := one(t, doc, &openapi.Options{Base: c.base}).Request([]byte(`{"q":"1"}`))
		if err != nil || req.URL != c.url || !strings.Contains(req.Curl(), "'"+c.shown+"'") {
			t.Errorf("%s: %v, %s, %s", c.base, err, req.URL, req.Curl())
		}
	}
}
