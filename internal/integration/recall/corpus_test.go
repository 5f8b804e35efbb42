package recall

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
	"github.com/toolfit/toolfit/schema"
)

// realSchemas calls do with every nth schema of the corpora.
func realSchemas(t testing.TB, nth int, do func(file string, row int, schema json.RawMessage)) {
	t.Helper()
	for _, name := range corpora.Tools {
		for n, row := range corpora.Rows[struct{ InputSchema json.RawMessage }](t, name) {
			if n%nth == 0 {
				do(name, n, row.InputSchema)
			}
		}
	}
}

func TestRealSchemasLoseNoReferenceAndNoTime(t *testing.T) {
	w := newWorld(t, "recall: {}", nil)
	converted := 0
	refused := 0
	realSchemas(t, 7, func(file string, row int, schema json.RawMessage) {
		out, err := w.convert(file, schema)
		if err != nil {
			refused++
			return
		}
		converted++
		if hasReference(out) {
			t.Errorf("%s row %d: a reference is left in %.300s", file, row, out)
		}
		if len(schema) > 10_000 {
			if took := w.conversion(schema); took > tooLong {
				t.Errorf("%s row %d: converted in %s", file, row, took)
			}
		}
	})
	if refused*200 > converted {
		t.Errorf("%d of %d refused", refused, converted+refused)
	}
}

// tooLong is the CPU that nothing real needs, on a slow machine and under the race detector
// either. The benchmark tells what it does need.
const tooLong = time.Second

// conversion is how much CPU the conversion of a schema takes that the cache does not know.
// It is the best of three, because the collector works at the same time.
func (w *world) conversion(in json.RawMessage) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		from := cpu()
		schema.Plan(in, schema.Inlined, w.options) // one that is refused takes its time as well
		best = min(best, cpu()-from)
	}
	return best
}

// cpu is what this process has used so far. The time of the clock would count what the
// machine does besides.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRealSchemas tells what a conversion takes that the cache does not know: the
// middle one of all real schemas, and the slowest. The budget is 100 µs and 100 ms.
func BenchmarkRealSchemas(b *testing.B) {
	w := newWorld(b, "recall: {}", nil)
	var all []float64
	for b.Loop() {
		all = all[:0]
		realSchemas(b, 1, func(file string, row int, in json.RawMessage) {
			all = append(all, float64(w.conversion(in).Nanoseconds())/1e3)
		})
	}
	slices.Sort(all)
	b.ReportMetric(all[len(all)/2], "µs/typical")
	b.ReportMetric(all[len(all)*99/100], "µs/p99")
	b.ReportMetric(all[len(all)-1], "µs/worst")
	b.ReportMetric(float64(len(all)), "schemas")
}

// hasReference looks for $ref as a keyword; a property may be called so, and data may hold one.
func hasReference(schema []byte) bool {
	var walk func(v any, names bool) bool
	walk = func(v any, names bool) bool {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if _, text := value.(string); text && key == "$ref" && !names {
					return true
				}
				if data := key == "enum" || key == "const"; data && !names {
					continue
				}
				if walk(value, (key == "properties" || key == "patternProperties") && !names) {
					return true
				}
			}
		case []any:
			for _, item := range v {
				if walk(item, false) {
					return true
				}
			}
		}
		return false
	}
	var doc any
	d := json.NewDecoder(bytes.NewReader(schema))
	return d.Decode(&doc) == nil && walk(doc, false)
}

func TestAHostileSchemaEndsSoonAndSmall(t *testing.T) {
	w := newWorld(t, "recall: {}", nil)
	defs := map[string]any{}
	all := map[string]any{}
	for i := range 60 {
		all[string(rune('一'+i))] = map[string]any{"$ref": "#/$defs/" + string(rune('一'+i))}
	}
	for name := range all {
		defs[name] = map[string]any{"type": "object", "properties": all}
	}
	in, err := json.Marshal(map[string]any{"type": "object", "properties": all, "$defs": defs})
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.convert("hostile", in) // 60³ copies if nobody counted
	if err != nil || len(out) > 3*maxParameters || hasReference(out) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func BenchmarkHostileSchema(b *testing.B) {
	w := newWorld(b, "recall: {}", nil)
	all := map[string]any{}
	for i := range 60 {
		all[string(rune('a'+i))] = map[string]any{"$ref": "#/$defs/a"}
	}
	in, _ := json.Marshal(map[string]any{"properties": all, "$defs": map[string]any{"a": map[string]any{"properties": all}}})
	for i := 0; b.Loop(); i++ {
		// each one is new to the cache
		if _, err := w.convert("hostile", append(in[:len(in):len(in)], bytes.Repeat([]byte{' '}, i)...)); err != nil {
			b.Fatal(err)
		}
	}
}
