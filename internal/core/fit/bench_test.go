package fit

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/schema"
)

func BenchmarkFitValid(b *testing.B) {
	tool := compiled(b, typical, nil)
	args := []byte(`{"query":"weather in Paris","limit":20,"sort":"desc","exact":true,"tags":["a","b","c"],"filter":{"year":2020,` +
		`"owner_id":null}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitValid50KB(b *testing.B) {
	tool := compiled(b, typical, nil)
	args := []byte(`{"query":"` + strings.Repeat("long text ", 5<<10) + `"}`)
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

// A name that one part of a schema does not declare and another one does.
func BenchmarkFitValidInParts(b *testing.B) {
	tool := compiled(b, `{"allOf":[{"properties":{"query":{"type":"string"},"limit":{"type":"integer"}}},{"$ref":"#/$defs/P"}],`+
		`"$defs":{"P":{"properties":{"page":{"type":"integer"},"size":{"type":"integer"}}}}}`, nil)
	args := []byte(`{"query":"weather in Paris","limit":20,"page":1,"size":50}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitRepaired(b *testing.B) {
	tool := compiled(b, typical, nil)
	args := []byte(`{"query":"weather in Paris","limit":"20","sort":"DESC","tags":"a","filter":"{\"year\":2020}"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitRefused(b *testing.B) {
	tool := compiled(b, typical, nil)
	args := []byte(`{"query":"weather in Paris","limit":"many"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err == nil {
			b.Fatal("it fits")
		}
	}
}

func BenchmarkFitKnownServer(b *testing.B) {
	server := Recognize(Builtin(), []string{"browser_click", "browser_fill_form"})
	tool := compiled(b, string(withTarget["browser_click"]), &Options{Known: server.Tool("browser_click")})
	args := []byte(`{"element":"login button","ref":"e19"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitAfterDialect(b *testing.B) {
	plan, err := schema.Plan([]byte(typical), schema.OpenAI, nil)
	if err != nil {
		b.Fatal(err)
	}
	tool := compiled(b, typical, &Options{Back: plan})
	args := []byte(`{"query":"weather in Paris","limit":20,"sort":"desc","exact":true,"tags":["a","b","c"],"filter":{"year":2020,"owner_id":null}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tool.Fit(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	raw := []byte(typical)
	b.ReportAllocs()
	for b.Loop() {
		compile(raw)
	}
}
