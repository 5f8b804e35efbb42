package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestARequestIsLoosenedUntilItsProviderTakesIt(t *testing.T) {
	tool := func(d Dialect, optional int) *Result {
		var props []string
		for i := range optional {
			props = append(props, `"p`+itoa(i)+`":{"type":"string"}`)
		}
		return mustPlan(t, `{"type":"object","properties":{`+strings.Join(props, ",")+`}}`, d, nil)
	}
	plain := func(d Dialect) *Result { return mustPlan(t, `{"type":"object","properties":{"a":{}}}`, d, nil) }
	many := make([]*Result, 22)
	for i := range many {
		many[i] = tool(AnthropicStrict, 0)
	}
	for _, c := range []struct {
		name    string
		dialect Dialect
		list    []*Result
		want    []int
	}{
		{"what fits stays strict", AnthropicStrict, []*Result{tool(AnthropicStrict, 10), tool(AnthropicStrict, 10)}, nil},
		{"the costliest goes first", AnthropicStrict, []*Result{tool(AnthropicStrict, 5), tool(AnthropicStrict, 30), tool(AnthropicStrict, 10)}, []int{1}},
		{"no more than twenty are strict", AnthropicStrict, many, []int{0, 1}},
		{"DeepSeek takes all or none", DeepSeekStrict, []*Result{tool(DeepSeekStrict, 1), plain(DeepSeekStrict)}, []int{0}},
		{"all", DeepSeekStrict, []*Result{tool(DeepSeekStrict, 1), tool(DeepSeekStrict, 2)}, nil},
		{"others do not count", OpenAIStrict, []*Result{tool(OpenAIStrict, 50)}, nil},
	} {
		if got := Loosen(c.dialect, c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
