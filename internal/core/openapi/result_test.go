package openapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

// answers is an operation that answers with JSON of the schema; "" for no promise at all.
func answers(t *testing.T, schema string) *openapi.Operation {
	t.Helper()
	body := "      operationId: a\n"
	if schema != "" {
		body += "      responses: {200: {description: ok, content: {application/json: {schema: " + schema + "}}}}\n"
	}
	return one(t, operation("3.0.0", "/a", "get", body), nil)
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

const anObject = "{type: object, properties: {a: {type: integer}}}"

func TestResults(t *testing.T) {
	const list = "{type: array, items: {type: integer}}"
	cases := []struct {
		name, schema string
		status       int
		header       http.Header
		body, want   string
	}{
		{"an object keeps its bytes", anObject, 200, header("Content-Type", "application/json"), `{"a": 1.0,"b":9007199254740993}`,
			`{"content":[{"type":"text","text":"{\"a\": 1.0,\"b\":9007199254740993}"}],"structuredContent":{"a": 1.0,"b":9007199254740993}}`},
		{"a list stands under result", list, 200, header("Content-Type", "application/json; charset=UTF-8"), `[1,2]`,
			`{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"result":[1,2]}}`},
		{"a list that nobody announced too", "", 200, header("Content-Type", "application/json"), `[1]`,
			`{"content":[{"type":"text","text":"[1]"}],"structuredContent":{"result":[1]}}`},
		{"an object where a list was promised is told", list, 200, header("Content-Type", "application/json"), `{"x":1}`,
			`{"content":[{"type":"text","text":"{\"x\":1}"}],"structuredContent":{"result":null},"_meta":{"toolfit/http":{"note":"the API description promises another type: array"}}}`},
		{"text where JSON was promised stays text", anObject, 200, header("Content-Type", "text/html"), `<p>`,
			`{"content":[{"type":"text","text":"<p>"}],"structuredContent":{},"_meta":{"toolfit/http":{"note":"the API description promises JSON, but this is not: invalid JSON at byte 0: expected a value"}}}`},
		{"half of a JSON is text", "", 200, header("Content-Type", "application/json"), `{"a":`,
			`{"content":[{"type":"text","text":"{\"a\":"}],"_meta":{"toolfit/http":{"note":"the API description promises JSON, but this is not: invalid JSON at byte 5: expected a value"}}}`},
		{"JSON under another name is JSON where it was promised", anObject, 200, header("Content-Type", "text/plain"), `{"a":1}`,
			`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
		{"JSON without a name is JSON", "", 200, nil, ` {"a":1} `, `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
		{"text is text", "", 200, header("Content-Type", "text/plain"), "hi\n", `{"content":[{"type":"text","text":"hi\n"}]}`},
		{"nothing is said to be nothing", anObject, 204, nil, "", `{"content":[{"type":"text","text":"HTTP 204 No Content"}],"structuredContent":{},"_meta":{"toolfit/http":{"status":204}}}`},
		{"what was made is named", "", 201, header("Location", "/a/7"), "",
			`{"content":[{"type":"text","text":"HTTP 201 Created\nLocation: /a/7"}],"_meta":{"toolfit/http":{"status":201,"location":"/a/7"}}}`},
		{"an image is one", "", 200, header("Content-Type", "image/png"), "\x89PNG", `{"content":[{"type":"image","data":"iVBORw==","mimeType":"image/png"}]}`},
		{"a sound is one", "", 200, header("Content-Type", "audio/mpeg"), "\xff\xfb", `{"content":[{"type":"audio","data":"//s=","mimeType":"audio/mpeg"}]}`},
		{"an image of text is text", "", 200, header("Content-Type", "image/svg+xml"), "<svg/>", `{"content":[{"type":"text","text":"<svg/>"}]}`},
		{"a file is a resource with its name", "", 200, header("Content-Type", "application/pdf", "Content-Disposition", `attachment; filename="../a b.pdf"`), "%PDF",
			`{"content":[{"type":"resource","resource":{"uri":"response:///a%20b.pdf","mimeType":"application/pdf","blob":"JVBERg=="}}]}`},
		{"Latin-1 becomes UTF-8", "", 200, header("Content-Type", "text/plain; charset=ISO-8859-1"), "caf\xe9 \x80", `{"content":[{"type":"text","text":"café €"}]}`},
		{"UTF-16 becomes UTF-8", "", 200, header("Content-Type", "application/json; charset=utf-16"), "\xff\xfe{\x00}\x00", `{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`},
		{"a charset that is not supported is passed on as it is", "", 200, header("Content-Type", "text/plain; charset=gbk"), "\xc4\xe3",
			`{"content":[{"type":"resource","resource":{"uri":"response:///a","mimeType":"text/plain; charset=gbk","blob":"xOM="}}],"_meta":{"toolfit/http":{"note":"the charset gbk is not supported"}}}`},
		{"bytes that are not UTF-8 are replaced", "", 200, header("Content-Type", "application/json; charset=utf-8"), "{\"a\":\"\xff\"}",
			`{"content":[{"type":"text","text":"{\"a\":\"�\"}"}],"structuredContent":{"a":"�"},"_meta":{"toolfit/http":{"note":"some bytes were not UTF-8 and have been replaced"},"toolfit/replaced":1}}`},
		{"the next page is noted: header", "", 200, header("Content-Type", "text/plain", "Link", `<https://x/?page=1>; rel="prev", <https://x/?a=1,2&page=3>; rel="next"`), "x",
			`{"content":[{"type":"text","text":"x"}],"_meta":{"toolfit/http":{"next":"https://x/?a=1,2&page=3"}}}`},
		{"the next page is noted: body", "", 200, header("Content-Type", "application/json"), `{"next":null,"meta":{"next_cursor":"c2"}}`,
			`{"content":[{"type":"text","text":"{\"next\":null,\"meta\":{\"next_cursor\":\"c2\"}}"}],"structuredContent":{"next":null,"meta":{"next_cursor":"c2"}},"_meta":{"toolfit/http":{"next":"c2","nextField":"/meta/next_cursor"}}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			op := answers(t, c.schema)
			got := string(op.Result(c.status, c.header, []byte(c.body)))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if out := get(op.Definition, "outputSchema"); out != nil {
				if err := validate(t, op, "outputSchema", string(get([]byte(got), "structuredContent"))); err != nil {
					t.Errorf("the result is not what was announced: %v", err)
				}
			}
		})
	}
}

func TestHTTPErrorsBecomeToolErrorsWithTheBodysOwnMessage(t *testing.T) {
	cases := []struct{ name, media, body, want string }{
		{"problem details", "application/problem+json", `{"title":"No money","detail":"Your balance is 30","status":403}`, "No money: Your balance is 30"},
		{"error.message", "application/json", `{"error":{"code":5,"message":"no such pet"}}`, "no such pet"},
		{"error", "application/json", `{"error":"bad"}`, "bad"},
		{"OAuth", "application/json", `{"error":"invalid_grant","error_description":"the token is old"}`, "the token is old"},
		{"message", "application/json", `{"message":"no","code":"E1"}`, "no"},
		{"errors", "application/json", `{"errors":[{"detail":"a"},{"message":"b","field":"x"},"c"]}`, "a; x: b; c"},
		{"FastAPI", "application/json", `{"detail":[{"loc":["body","name"],"msg":"field required","type":"x"}]}`, "body.name: field required"},
		{"capitals", "application/json", `{"Message":"Rate exceeded"}`, "Rate exceeded"},
		{"a page", "text/html", "<html><head><TITLE>502 Bad Gateway</TITLE></head></html>", "502 Bad Gateway"},
		{"a text", "text/plain", "try later", "try later"},
		{"no message at all", "application/json", `{"x":{"y":1}}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raw := answers(t, anObject).Result(403, header("Content-Type", c.media, "Retry-After", "7"), []byte(c.body))
			var res struct {
				IsError bool
				Content []struct{ Text string }
				Meta    map[string]struct {
					Status     int
					RetryAfter string
				} `json:"_meta"`
				StructuredContent json.RawMessage
			}
			if err := json.Unmarshal(raw, &res); err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSuffix("HTTP 403 Forbidden: "+c.want, ": ")
			if !res.IsError || res.Content[0].Text != want || res.Meta["toolfit/http"].Status != 403 || res.Meta["toolfit/http"].RetryAfter != "7" || res.StructuredContent != nil {
				t.Errorf("got %s", raw)
			}
			if c.body != c.want && res.Content[1].Text != c.body {
				t.Errorf("the body is not there: %s", raw)
			}
		})
	}
	if got := string(answers(t, anObject).Result(302, header("Location", "https://elsewhere"), nil)); !strings.Contains(got, `HTTP 302 Found: https://elsewhere`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
}

func TestWhatHEADAsksForIsTold(t *testing.T) {
	op := one(t, operation("3.0.0", "/a", "head", "      operationId: a\n"), nil)
	got := string(op.Result(200, header("Content-Length", "42", "Set-Cookie", "secret=1", "Etag", "x"), nil))
	if got != `{"content":[{"type":"text","text":"HTTP 200 OK\nContent-Length: 42\nEtag: x"}]}` {
		t.Errorf("got %s", got)
	}
}

func TestAnOutputSchemaForbidsNothingThatServersDo(t *testing.T) {
	op := answers(t, "{type: object, required: [a], additionalProperties: false, properties: {a: {type: string, enum: [x], minLength: 9, format: date}, b: {oneOf: [{type: string}, {type: string, maxLength: 3}]}, c: {type: array, maxItems: 1, items: {type: integer, maximum: 3}}}}")
	for _, v := range []string{`{}`, `{"a":null,"b":"y","c":[9,null],"more":1}`, `{"a":"new"}`} {
		if err := validate(t, op, "outputSchema", v); err != nil {
			t.Errorf("%s: %v in %s", v, err, op.Definition)
		}
	}
	if validate(t, op, "outputSchema", `{"c":7}`) == nil {
		t.Error("a wrong type is told")
	}
	two := one(t, operation("3.0.0", "/a", "post", "      responses: {200: {content: {application/json: {schema: {type: object}}}}, 201: {content: {application/json: {schema: {type: array}}}}}\n"), nil)
	if got := get(two.Definition, "outputSchema"); got != nil {
		t.Errorf("two different answers have no one schema: %s", got)
	}
}
