package openapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/openapi"
)

// FuzzRead holds that every document gives tools that are JSON, or a fault.
func FuzzRead(f *testing.F) {
	f.Add([]byte(wrongInManyWays))
	f.Add(generate(1, 1))
	f.Add(asYAML(generate(1, 1)))
	f.Add([]byte(posts("3.1.0", "{$ref: '#/components/schemas/Child'}")))
	f.Add([]byte("swagger: '2.0'\nhost: h\npaths: {/a: {post: {consumes: [text/xml], parameters: [{in: body, name: b, schema: {type: file}}, {in: formData, name: f, type: file}]}}}\n"))
	f.Add([]byte("openapi: 3.1\npaths: {/a: &a {get: {requestBody: {content: {multipart/form-data: {encoding: {a: {style: deepObject}}, schema: {allOf: [{$ref: '#/paths/~1a'}]}}}}}}, /b: {<<: *a}}\n"))
	f.Add([]byte("openapi: 3.0\nservers: [{url: 'https://a/%2f/v1?q#f'}]\npaths: {/a: {servers: [{url: '../x/../v2'}], get: {}}, /b: {servers: [{url: 'https://a/v2'}], get: {}}, /c: {servers: [{url: '{h}:', variables: {h: {default: c}}}], get: {}}}\n"))
	f.Add([]byte(named(`"S":{"$id":"s","$ref":"t#a","$defs":{"x":{"$dynamicAnchor":"a","$dynamicRef":"#a"}}},"T":{"$id":"t","$anchor":"a","properties":{"p":{"$ref":"#/$defs/x"}}}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for layout, base := range map[openapi.Layout]string{openapi.Flat: "", openapi.Layered: "http://127.0.0.1:9/base"} {
			doc, err := openapi.Read(data, &openapi.Options{Layout: layout, Base: base})
			if err != nil {
				if !isFault(err) {
					t.Fatal(err)
				}
				return
			}
			ops, problems := doc.Operations(openapi.Filter{})
			for _, op := range ops {
				if _, err := tool.ParseDefinition(op.Definition); err != nil || !json.Valid(op.Definition) {
					t.Fatalf("%v: %q", err, op.Definition)
				}
				if _, err := op.Request(json.RawMessage(`{"body":{}}`)); err != nil && !isFault(err) {
					t.Fatal(err)
				}
				if res := op.Result(200, nil, []byte(`[1]`)); !json.Valid(res) {
					t.Fatalf("no JSON: %q", res)
				}
			}
			for _, p := range problems {
				if p.Message == "" || p.Pointer != "" && p.Pointer[0] != '/' {
					t.Fatalf("%q", p)
				}
			}
		}
	})
}

const manyPlaces = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/a/{p}/{m}{l}":{"post":{"operationId":"x","parameters":[
{"name":"p","in":"path","required":true,"schema":{}},{"name":"m","in":"path","required":true,"style":"matrix","explode":true,"schema":{}},{"name":"l","in":"path","required":true,"style":"label","schema":{}},
{"name":"q","in":"query","schema":{}},{"name":"d","in":"query","style":"deepObject","schema":{}},{"name":"s","in":"query","style":"spaceDelimited","schema":{}},
{"name":"j","in":"query","content":{"application/json":{}}},{"name":"r","in":"query","allowReserved":true,"schema":{}},{"name":"H","in":"header","schema":{}},{"name":"c","in":"cookie","schema":{}}],
"requestBody":{"content":{"MEDIA":{"schema":{"type":"object","properties":{"f":{"type":"string","format":"binary"},"o":{"type":"object"},"t":{"type":"string"}}}}}}}}}}`

// FuzzRequest holds that arguments give a request that stays on its host and path, or a fault.
func FuzzRequest(f *testing.F) {
	var ops []*openapi.Operation
	for _, media := range []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "application/octet-stream"} {
		ops = append(ops, one(f, strings.Replace(manyPlaces, "MEDIA", media, 1), nil))
	}
	for _, s := range []string{
		`{"p":"1","m":"2","l":"3"}`, `{"p":"..","m":[".."],"l":{"..":"."}}`, `{"p":[1,{"a":"/"}],"m":{"k":"%2e%2e"},"l":[],"q":{"a":[1]},"d":{"a":{"b":[1,{}]}},"s":["a b"],"j":null,"r":"#&","H":"x","c":"a;b"}`,
		`{"p":"1","m":"2","l":"3","f":"AA==","o":{"k":"v"},"t":"x","more":1}`, `{"p":"1","m":"2","l":"3","body":{"text":"x","contentType":"a/b"}}`, `null`, `{"p":"\ud800","m":" ","l":"\u0000"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		for _, op := range ops {
			req, err := op.Request(args)
			if err != nil {
				if !isFault(err) {
					t.Fatal(err)
				}
				continue
			}
			u, err := url.Parse(req.URL)
			if err != nil || u.Host != "127.0.0.1:9" || u.Fragment != "" || !strings.HasPrefix(u.EscapedPath(), "/base/a/") || strings.Count(u.EscapedPath(), "/") != 4 {
				t.Fatalf("%s: %v", req.URL, err)
			}
			for part := range strings.SplitSeq(u.Path, "/") {
				if part == "." || part == ".." {
					t.Fatalf("the path can be left: %s", req.URL)
				}
			}
			for key, list := range req.Header {
				if strings.ContainsAny(key+strings.Join(list, ""), "\r\n\x00") {
					t.Fatalf("%q: %q", key, list)
				}
			}
			if _, err := http.NewRequest(req.Method, req.URL, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzResult holds that every response gives a result that is JSON in UTF-8 and has content.
func FuzzResult(f *testing.F) {
	ops := []*openapi.Operation{}
	for _, schema := range []string{"", "{type: object}", "{type: array, items: {type: string}}"} {
		body := "      operationId: a\n"
		if schema != "" {
			body += "      responses: {200: {description: ok, content: {application/json: {schema: " + schema + "}}}}\n"
		}
		ops = append(ops, one(f, operation("3.0.0", "/a", "get", body), nil))
	}
	f.Add(200, "application/json", `</a>; rel=next, <`, []byte(`{"next":{"href":"x"},"meta":{"page":{"next":1}}}`))
	f.Add(404, "application/problem+json; charset=latin1", "", []byte(`{"errors":[{"source":{"pointer":"/a"},"detail":[{"loc":[1],"msg":"x"}]}]}`))
	f.Add(500, "text/html; charset=utf-16", "<x", []byte("\xff\xfe<\x00"))
	f.Add(204, "", "", []byte(""))
	f.Add(200, "image/png", "", []byte("\x89PNG"))
	f.Fuzz(func(t *testing.T, status int, media, link string, body []byte) {
		h := http.Header{"Content-Type": {media}, "Link": {link}, "Location": {link}, "Content-Disposition": {link}}
		for _, op := range ops {
			res := op.Result(status, h, body)
			if !json.Valid(res) || !utf8.Valid(res) || get(res, "content") == nil {
				t.Fatalf("%q", res)
			}
			if get(op.Definition, "outputSchema") != nil && status < 300 && get(res, "structuredContent") == nil {
				t.Fatalf("no structured content: %s", res)
			}
		}
	})
}
