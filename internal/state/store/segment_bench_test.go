//go:build unix

package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func BenchmarkKeepResult(b *testing.B) {
	key, err := ParseSecretKey("correct horse battery staple")
	if err != nil {
		b.Fatal(err)
	}
	for name, opts := range map[string]*Options{"plain": {}, "encrypted": {SecretKey: key}} {
		for _, size := range []int{1000, 50_000} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) { benchmarkKeep(b, opts, size) })
		}
	}
}

// benchmarkKeep reports the time of the processor beside that of the clock. It trims as a
// gateway does, so that no disk fills.
func benchmarkKeep(b *testing.B, opts *Options, size int) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), opts)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := Result{
		Owner: "key_01hzy3", Server: "cloud", Tool: "cloud__envQuery", Profile: "default", Rule: "env-list",
		Args: []byte(`{"action":"list"}`), Body: make([]byte, size),
	}
	refs := make([]string, b.N)
	for i := range refs {
		refs[i] = fmt.Sprintf("r_%08d", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu()
	for i, ref := range refs {
		r.At = time.Now()
		r.Ref = ref
		r.Call = ref
		r.Expires = r.At.Add(24 * time.Hour)
		if err := s.SaveResult(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		if i%2000 == 1999 {
			if _, err := s.TrimResults(b.Context(), ResultLimits{Total: 64 << 20}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}

func BenchmarkReadResult(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := Result{Owner: "o", Body: make([]byte, 50_000), At: time.Now()}
	for i := range 100 {
		r.Ref = fmt.Sprint("r_", i)
		if err := s.SaveResult(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Result(b.Context(), "o", "r_50"); err != nil {
			b.Fatal(err)
		}
	}
}
