package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func sampleCall(i int) store.Call {
	at := time.UnixMicro(1_800_000_000_000_000 + int64(i)*137).UTC()
	return store.Call{
		ID: string(store.AppendCallTime(nil, at)) + "0n0de0n0", At: at, Principal: fmt.Sprintf("k%07d", i%7), Profile: "default",
		Session: "ses_01hzy3", Agent: "helper", MCPSession: "5f0c7d1e9a", Server: "cloud", Tool: "cloud__envQuery",
		Upstream: "envQuery", Outcome: "ok", Level: "info", Duration: 12345 * time.Microsecond,
		BytesIn: 321, BytesFull: 50_000, BytesSent: 2_000,
	}
}

// plainCall has no session and no agent, so that it has no place in their indexes.
func plainCall(i int) store.Call {
	c := sampleCall(i)
	c.Session = ""
	c.Agent = ""
	return c
}

func BenchmarkAppendCalls(b *testing.B) {
	for name, sample := range map[string]func(int) store.Call{"plain": plainCall, "session": sampleCall} {
		for _, size := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%s/batch=%d", name, size), func(b *testing.B) {
				benchmarkAppend(b, filepath.Join(b.TempDir(), "bench.db"), size, sample)
			})
		}
	}
}

func benchmarkAppend(b *testing.B, dsn string, size int, sample func(int) store.Call) {
	ctx := context.Background()
	s, err := store.Open(ctx, dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	calls := make([]store.Call, (b.N+size-1)/size*size)
	for i := range calls {
		calls[i] = sample(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for ; len(calls) > 0; calls = calls[size:] {
		if err := s.AppendCalls(ctx, calls[:size]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadCalls(b *testing.B) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	calls := make([]store.Call, 1000)
	for i := range calls {
		calls[i] = sampleCall(i)
	}
	if err := s.AppendCalls(ctx, calls); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Calls(ctx, store.CallFilter{Limit: 200}); err != nil {
			b.Fatal(err)
		}
	}
}
