package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestFillWritesAllThatWasAskedFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "filled.db")
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := fill(t.Context(), file, "500", now); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, c := range map[string]struct {
		filter store.CallFilter
		want   int
	}{
		"all":              {store.CallFilter{Limit: 1000}, 500},
		"errors":           {store.CallFilter{Level: "error", Limit: 1000}, 5},
		"of the last days": {store.CallFilter{Since: now.Add(-fillSpan / 2), Limit: 1000}, 250},
	} {
		calls, err := s.Calls(t.Context(), c.filter)
		if err != nil || len(calls) != c.want {
			t.Errorf("%s: %d records, want %d, %v", name, len(calls), c.want, err)
		}
	}
	for _, count := range []string{"", "0", "many"} {
		if err := fill(t.Context(), file, count, now); err == nil {
			t.Errorf("%q was taken for a number", count)
		}
	}
}
