//go:build unix

package openapi_test

import (
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/core/openapi"
)

// cpu is the processor time that this process has used. Wall time says little on a busy machine.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkToTools(b *testing.B) {
	raw := generate(450, 13)
	for _, format := range []struct {
		name string
		data []byte
	}{{"JSON", raw}, {"YAML", asYAML(raw)}} {
		b.Run(format.name, func(b *testing.B) {
			b.ReportAllocs()
			start := cpu(b)
			for b.Loop() {
				doc, err := openapi.Read(format.data, nil)
				if err != nil {
					b.Fatal(err)
				}
				ops, problems := doc.Operations(openapi.Filter{})
				if len(ops) != 450 || len(problems) != 0 {
					b.Fatalf("%d operations, problems %v", len(ops), problems)
				}
			}
			b.ReportMetric(float64(cpu(b)-start)/1e6/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(len(format.data))/1e6, "MB")
		})
	}
}

// BenchmarkManyOperations tells what the largest documents cost: all that stays is the
// document, an index of its operations, and the definitions.
func BenchmarkManyOperations(b *testing.B) {
	raw := generate(50_000, 2)
	before := heap()
	for b.Loop() {
		start := cpu(b)
		doc, err := openapi.Read(raw, &openapi.Options{MaxBytes: 128 << 20})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(cpu(b)-start)/1e6, "cpu-ms/read")
		b.ReportMetric(heap()-before, "MB-index")
		start = cpu(b)
		ops, _ := doc.Operations(openapi.Filter{})
		if len(ops) != 50_000 {
			b.Fatalf("%d operations", len(ops))
		}
		b.ReportMetric(float64(cpu(b)-start)/1e6, "cpu-ms/tools")
		b.ReportMetric(heap()-before, "MB-index-and-tools")
		size := 0
		for _, op := range ops {
			size += len(op.Definition)
		}
		b.ReportMetric(float64(size)/1e6, "MB-definitions")
		runtime.KeepAlive(doc)
	}
	b.ReportMetric(float64(len(raw))/1e6, "MB-document")
}

// heap is what is alive, in megabytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

func BenchmarkRequest(b *testing.B) {
	op := one(b, operation("3.0.0", "/a/{id}", "post", "      parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: array, items: {type: string}}}]\n"+
		"      requestBody: {content: {application/json: {schema: {type: object, properties: {name: {type: string}, size: {type: integer}}}}}}\n"), nil)
	args := []byte(`{"id":"7","q":["a","b"],"name":"x","size":3}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := op.Request(args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResult(b *testing.B) {
	op := one(b, operation("3.0.0", "/a", "get", "      operationId: a\n"), nil)
	body := []byte(`{"items":[` + strings.Repeat(`{"id":1,"name":"a thing with a name","tags":["x","y"]},`, 900) + `{}]}`)
	header := http.Header{"Content-Type": {"application/json"}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		op.Result(200, header, body)
	}
}
