package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func fullCall(i int) Call {
	return Call{ID: fmt.Sprintf("c_%09d", i), Message: strings.Repeat("x", 500), Outcome: "ok"}
}

// fillUp appends until it is refused, and returns how many calls were acknowledged.
func fillUp(t *testing.T, s *Store, from int) int {
	t.Helper()
	for n := from; n < 200_000; n += 20 {
		batch := make([]Call, 20)
		for i := range batch {
			batch[i] = fullCall(n + i)
		}
		if err := s.AppendCalls(t.Context(), batch); err != nil {
			wantFull(t, err)
			return n
		}
	}
	t.Fatal("it never became full")
	return 0
}

func wantFull(t *testing.T, err error) {
	t.Helper()
	if f := fault.As(err); err == nil || f.Hint == "" || !strings.Contains(f.Message, "disk") {
		t.Fatalf("got %v, want a fault that speaks of the disk", err)
	}
}

func wantCalls(t *testing.T, s *Store, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.Call(t.Context(), fullCall(i).ID); err != nil {
			t.Fatalf("call %d of %d: %v", i, n, err)
		}
	}
	var count int
	if err := s.read.QueryRow("SELECT count(*) FROM calls").Scan(&count); err != nil || count != n {
		t.Fatalf("%d calls, %v, want %d", count, err, n)
	}
}

func setMaxPages(t *testing.T, s *Store, change string) {
	t.Helper()
	var pages int
	if err := s.write.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := 1 << 30
	if change == "full soon" {
		limit = pages + 50
	}
	if _, err := s.write.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", limit)); err != nil {
		t.Fatal(err)
	}
}

func TestFullFileIsSaidSoLosesNothingAndGoesOnWithSpace(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for range 3 {
		setMaxPages(t, s, "full soon")
		n = fillUp(t, s, n)
		wantFull(t, s.SaveTools(t.Context(), Server{ID: "big", Instructions: strings.Repeat("x", 1<<20)}))
		wantCalls(t, s, n)
		setMaxPages(t, s, "room again")
		batch := make([]Call, 20)
		for i := range batch {
			batch[i] = fullCall(n + i)
		}
		if err := s.AppendCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		n += len(batch)
		wantCalls(t, s, n)
	}
}

func TestFullDiskIsSaidSoLosesNothingAndGoesOnWithSpace(t *testing.T) {
	dir := testparts.SmallDisk(t, 2048).Dir
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 500_000), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "toolfit.db")
	s, err := Open(t.Context(), path, &Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	n := fillUp(t, s, 0)
	wantCalls(t, s, n)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendCalls(t.Context(), []Call{fullCall(n)}); err != nil {
		t.Fatal(err)
	}
	wantCalls(t, s, n+1)
	n = fillUp(t, s, n+1)
	if err := s.Close(); err != nil { // on a full disk as well
		t.Fatal(err)
	}
	if s, err = Open(context.Background(), path, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wantCalls(t, s, n)
}
