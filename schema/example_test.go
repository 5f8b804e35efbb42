package schema_test

import (
	"fmt"

	"github.com/toolfit/toolfit/schema"
)

func ExamplePlan() {
	tool := `{"type":"object","properties":{"labels":{"type":"object","additionalProperties":{"type":"string"}},"size":{"enum":[1,2]}},"required":["size"]}`
	res, err := schema.Plan([]byte(tool), schema.GeminiParams, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(res.Parameters))
	args, _, err := res.Back([]byte(`{"size":"2","labels":[{"key":"env","value":"test"}]}`))
	fmt.Println(string(args), err)
	// Output:
	// {"type":"object","properties":{"labels":{"type":"array","items":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}},"required":["key","value"]}},"size":{"type":"string","enum":["1","2"]}},"required":["size"]}
	// {"size":2,"labels":{"env":"test"}} <nil>
}
