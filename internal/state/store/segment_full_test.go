package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestFullDiskLosesNoAcknowledgedResultAndGoesOnWithSpace(t *testing.T) {
	dir := testparts.SmallDisk(t, 2048).Dir
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 500_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), filepath.Join(dir, "toolfit.db"), &Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result := func(i int) Result {
		return Result{Ref: fmt.Sprint("r", i), Owner: "o", Body: bytes.Repeat([]byte{byte(i)}, 30_001), At: time.UnixMicro(int64(i + 1))}
	}
	n := 0
	fill := func() {
		for ; n < 100; n++ {
			if err := s.SaveResult(t.Context(), result(n)); err != nil {
				wantFull(t, err)
				return
			}
		}
		t.Fatal("it never became full")
	}
	fill()
	fill() // the file is as it was before
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	before := n
	fill()
	if n < before+10 {
		t.Fatalf("%d results before there was space, %d after", before, n)
	}
	for i := range n {
		got, err := s.Result(t.Context(), "o", result(i).Ref)
		if err != nil || !bytes.Equal(got.Body, result(i).Body) {
			t.Fatalf("result %d of %d: %v", i, n, err)
		}
	}
}
