package schema

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// median is the schema of the tool in the middle of the file, by size.
func median(b *testing.B) []byte {
	all := corpora.Schemas(b, "toucan_mcp_tools.jsonl")
	slices.SortStableFunc(all, func(x, y json.RawMessage) int { return len(x) - len(y) })
	return all[len(all)/2]
}

func BenchmarkPlan(b *testing.B) {
	raw := median(b)
	for _, d := range []Dialect{OpenAI, OpenAIStrict, Anthropic, Gemini, GeminiParams, Moonshot, DeepSeekStrict, Inlined} {
		b.Run(string(d), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Plan(raw, d, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBack(b *testing.B) {
	res, err := Plan([]byte(`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"},"m":{"type":"object","additionalProperties":{"type":"string"}}}}`), OpenAIStrict, nil)
	if err != nil {
		b.Fatal(err)
	}
	args := []byte(`{"a":"some text","n":null,"m":[{"key":"k","value":"v"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := res.Back(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, in := range hostile() {
		for _, d := range []Dialect{OpenAI, OpenAIStrict, GeminiParams} {
			b.Run(name+"/"+string(d), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = Plan([]byte(in), d, nil)
				}
			})
		}
	}
}
