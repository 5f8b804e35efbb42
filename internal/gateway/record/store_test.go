package record_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestRecordsReachARealStoreInOrder(t *testing.T) {
	for _, durable := range []bool{false, true} {
		s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "toolfit.db"), &store.Options{Durable: durable})
		if err != nil {
			t.Fatal(err)
		}
		l := record.New(s, &record.Options{Durable: durable, Keep: 1000})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 50 {
					if err := l.Add(context.Background(), store.Call{ID: l.NewID(), Outcome: "ok"}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		last := l.NewID()
		if err := l.Add(t.Context(), store.Call{ID: last}); err != nil {
			t.Fatal(err)
		}
		closeLog(t, l)
		calls, err := s.Calls(t.Context(), store.CallFilter{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "stored", len(calls), 201)
		expect(t, "newest", calls[0].ID, last)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkAddToStore(b *testing.B) {
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "toolfit.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l := record.New(s, nil)
	call := store.Call{Principal: "p", Profile: "default", Server: "cloud", Tool: "cloud__list", Upstream: "list", Outcome: "ok", Level: "info"}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Add(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
