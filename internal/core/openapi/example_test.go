package openapi_test

import (
	"fmt"
	"net/http"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

func Example() {
	doc, err := openapi.Read([]byte(`
openapi: 3.0.3
info: {title: Pets, version: '1'}
servers: [{url: 'https://api.example.com/v2'}]
security: [{key: []}]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {200: {description: the pet}}
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ops, problems := doc.Operations(openapi.Filter{ReadOnly: true})
	fmt.Println(len(ops), len(problems), ops[0].Name)
	req, err := ops[0].Request([]byte(`{"id":7}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := req.Apply(ops[0].Security()[0][0], "secret"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Curl())
	fmt.Println(string(ops[0].Result(404, http.Header{"Content-Type": {"application/json"}}, []byte(`{"message":"no such pet"}`))))
	// Output:
	// 1 0 getPet
	// curl --globoff 'https://api.example.com/v2/pets/7' -H 'Accept: */*' -H 'X-Key: <key>'
	// {"content":[{"type":"text","text":"HTTP 404 Not Found: no such pet"},{"type":"text","text":"{\"message\":\"no such pet\"}"}],"isError":true,"_meta":{"toolfit/http":{"status":404}}}
}
