package schema

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

func TestCacheGivesWhatPlanGives(t *testing.T) {
	c := NewCache(nil)
	c.limit = 2000 // small enough to turn over many times
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 200 {
				raw := []byte(`{"type":"object","properties":{"` + strings.Repeat("x", i%37+1) + `":{"type":"string"}}}`)
				want, _ := Plan(raw, OpenAIStrict, nil)
				got, err := c.Plan(raw, OpenAIStrict)
				if err != nil || string(got.Parameters) != string(want.Parameters) {
					t.Errorf("%s: got %s, %v", raw, got.Parameters, err)
				}
			}
		})
	}
	group.Wait()
	if size := len(c.recent) + len(c.older); size > 20 {
		t.Errorf("the cache holds %d plans of about 250 bytes in 4,000", size)
	}
}

func TestCacheRemembersRefusals(t *testing.T) {
	c := NewCache(&Options{MaxInput: 10})
	for range 2 {
		if _, err := c.Plan([]byte(`{"type":"object"}`), MCP); err == nil {
			t.Error("a schema over the limit was read")
		}
	}
}

func TestFitSetsOneToolAsideAndSendsTheOthers(t *testing.T) {
	tools := []Tool{
		{Name: "a", Description: "x \"y\"", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		{Name: "b", InputSchema: json.RawMessage(`{"$ref":"https://example.com/b.json"}`)},
		{Name: "c"},
	}
	for d := range Dialects() {
		list := NewCache(nil).Fit(tools, d)
		for i, f := range list {
			refused := i == 1 && d != Inlined // it degrades
			if (f.Error != nil) != refused || (f.Plan == nil) != refused || (f.Tool == nil) != refused {
				t.Errorf("%s: %+v", d, f)
			}
			if f.Tool != nil && !json.Valid(f.Tool) {
				t.Errorf("%s: no JSON: %s", d, f.Tool)
			}
			if f.Name != tools[i].Name {
				t.Errorf("%s: %s in the place of %s", d, f.Name, tools[i].Name)
			}
		}
	}
}

func TestFitKeepsTheLimitsOfOneRequest(t *testing.T) {
	var tools []Tool
	for range 30 {
		tools = append(tools, Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)})
	}
	strict := 0
	for _, f := range NewCache(nil).Fit(tools, AnthropicStrict) {
		switch {
		case f.Strict:
			strict++
		case len(f.Report) == 0 || f.Report[0].Kind != Fallback:
			t.Errorf("nothing says why the tool is not strict: %v", f.Report)
		}
	}
	if strict != 20 {
		t.Errorf("%d strict tools in one request, want 20", strict)
	}
}

func TestFormOfEachProvider(t *testing.T) {
	tools := []Tool{{Name: "a", Description: "d", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}}
	for d, want := range map[Dialect]string{
		OpenAI:       `{"type":"function","function":{"name":"a","description":"d","parameters":{`,
		OpenAIStrict: `{"type":"function","function":{"name":"a","description":"d","strict":true,"parameters":{`,
		Anthropic:    `{"name":"a","description":"d","input_schema":{`,
		Gemini:       `{"name":"a","description":"d","parametersJsonSchema":{`,
		GeminiParams: `{"name":"a","description":"d","parameters":{`,
		MCP:          `{"name":"a","description":"d","inputSchema":{`,
		Inlined:      `{"name":"a","description":"d","parameters":{`,
	} {
		if got := NewCache(nil).Fit(tools, d)[0].Tool; !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: got %s, want %s…", d, got, want)
		}
	}
}

func BenchmarkCacheHit(b *testing.B) {
	raw := median(b)
	c := NewCache(nil)
	if _, err := c.Plan(raw, OpenAIStrict); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Plan(raw, OpenAIStrict)
	}
}
