//go:build unix

package store_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/state/store"
)

// longResult has a body whose length and bytes follow from its number.
func longResult(i int) store.Result {
	r := sampleResult(i)
	r.Body = bytes.Repeat([]byte{'a' + byte(i%26)}, 1+i*7919%30_000)
	return r
}

// keepUntilKilled keeps results from four goroutines and prints each that is acknowledged.
func keepUntilKilled(path string) error {
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		return err
	}
	errs := make(chan error, 4)
	for w := range 4 {
		go func() {
			for i := w; ; i += 4 {
				if err := s.SaveResult(context.Background(), longResult(i)); err != nil {
					errs <- err
					return
				}
				fmt.Println(i)
			}
		}()
	}
	return <-errs
}

func TestKilledKeeperLosesNoAcknowledgedResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	next := 0
	for round := range 2 { // each one begins with what the last one left
		keeper := exec.Command(os.Args[0])
		keeper.Env = append(os.Environ(), keepEnv+"="+path)
		keeper.Stderr = os.Stderr
		out, err := keeper.StdoutPipe()
		check(t, err)
		check(t, keeper.Start())
		acknowledged := readUntilKilled(t, keeper, bufio.NewScanner(out))
		s := open(t, path, nil)
		for _, i := range acknowledged {
			want := longResult(i)
			got, err := s.Result(t.Context(), want.Owner, want.Ref)
			if err != nil || !bytes.Equal(got.Body, want.Body) {
				t.Fatalf("round %d, result %d of %d acknowledged: %v", round, i, len(acknowledged), err)
			}
		}
		_, err = s.TrimResults(t.Context(), store.ResultLimits{Total: 1}) // what is fresh may still be written to
		check(t, err)
		own := longResult(1_000_000 + next)
		next++
		check(t, s.SaveResult(t.Context(), own))
		_, err = s.Result(t.Context(), own.Owner, own.Ref)
		check(t, err)
		check(t, os.RemoveAll(path+"-results")) // the refs come again
	}
}

// readUntilKilled kills the keeper after some results, at any point of a write, and returns
// all that it acknowledged.
func readUntilKilled(t *testing.T, keeper *exec.Cmd, lines *bufio.Scanner) (acknowledged []int) {
	t.Helper()
	killed := false
	for lines.Scan() {
		var i int
		if _, err := fmt.Sscan(lines.Text(), &i); err == nil {
			acknowledged = append(acknowledged, i)
		}
		if len(acknowledged) > 600 && !killed {
			check(t, keeper.Process.Kill())
			killed = true
		}
	}
	if err := keeper.Wait(); err == nil || !killed {
		t.Fatalf("the keeper ended by itself after %d results: %v", len(acknowledged), err)
	}
	return acknowledged
}

const secondResults = 300

// keepSome keeps, reads and trims as one of two processes.
func keepSome(s *store.Store, writer int) error {
	ctx := context.Background()
	for i := range secondResults {
		r := longResult(i)
		r.Ref = fmt.Sprint(r.Ref, "_", writer)
		if err := s.SaveResult(ctx, r); err != nil {
			return err
		}
		if i%50 == 0 {
			if _, err := s.TrimResults(ctx, store.ResultLimits{Owner: 1 << 30, Total: 1 << 30}); err != nil {
				return err
			}
		}
	}
	return nil
}

func keepAsSecond(path string) error {
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		return err
	}
	return errors.Join(s.Patient(), keepSome(s, 1), s.Close())
}

func TestTwoProcessesKeepResultsAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), secondKeepEnv+"="+path)
	other.Stderr = os.Stderr
	check(t, other.Start())
	s := open(t, path, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := keepSome(s, 0); err != nil {
			t.Error(err)
		}
	})
	check(t, other.Wait())
	wg.Wait()
	for _, s := range []*store.Store{s, open(t, path, nil)} {
		for i := range 2 * secondResults {
			want := longResult(i / 2)
			want.Ref = fmt.Sprint(want.Ref, "_", i%2)
			got, err := s.Result(t.Context(), want.Owner, want.Ref)
			if err != nil || !bytes.Equal(got.Body, want.Body) {
				t.Fatalf("%s: %v", want.Ref, err)
			}
		}
	}
}
