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

// A schema that cannot be fitted sets its own tool aside, not the others.
func ExampleError() {
	_, err := schema.Plan([]byte(`{"$ref":"other.json"}`), schema.OpenAI, nil)
	fmt.Println(err)
	// Output: external_ref at /$ref: the reference "other.json" leads to another document
}

// Strict providers want every property; what the tool does not require may then be null,
// which Back leaves out again.
func ExampleResult_Back() {
	res, err := schema.Plan([]byte(`{"type":"object","properties":{"limit":{"type":"integer"}}}`), schema.OpenAIStrict, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	args, _, err := res.Back([]byte(`{"limit":null}`))
	fmt.Println(string(args), err)
	// Output: {} <nil>
}

// A cache fits the tools of a list and remembers each.
func ExampleCache_Fit() {
	cache := schema.NewCache(nil)
	for _, t := range cache.Fit([]schema.Tool{{Name: "greet", InputSchema: []byte(`{"properties":{"name":{"const":"Ada"}}}`)}}, schema.Gemini) {
		fmt.Println(t.Name, string(t.Plan.Parameters))
	}
	// Output: greet {"type":"object","properties":{"name":{"type":"string","enum":["Ada"]}}}
}

// Check tells what a provider would refuse.
func ExampleCheck() {
	for _, v := range schema.Check([]byte(`{"type":"object","properties":{"a":{"type":"array"}}}`), schema.OpenAI) {
		fmt.Println(v.Pointer, v.Message)
	}
	// Output: /properties/a an array must have items
}

// Every tool gets a name that all providers take, and that leads back to it.
func ExampleFitNames() {
	names := schema.FitNames([]schema.Named{{Server: "files", Tool: "read_file"}, {Server: "files", Tool: "read all"}})
	fmt.Println(names.Shown(0))
	fmt.Println(names.Back(names.Shown(1)))
	// Output:
	// read_file
	// {files read all} true
}
