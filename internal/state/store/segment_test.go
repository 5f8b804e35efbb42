package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// keepThree keeps three results in one segment, and returns the store's path and the segment's.
func keepThree(t *testing.T) (path, segment string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "toolfit.db")
	s, err := store.Open(t.Context(), path, nil)
	check(t, err)
	for i := range 3 {
		check(t, s.SaveResult(t.Context(), sampleResult(i)))
	}
	check(t, s.Close())
	return path, filepath.Join(path+"-results", "000001.seg")
}

// readable tells which of the three can be read.
func readable(t *testing.T, s *store.Store) (whole []int) {
	t.Helper()
	for i := range 3 {
		want := sampleResult(i)
		if got, err := s.Result(t.Context(), want.Owner, want.Ref); err == nil {
			equal(t, got, want)
			whole = append(whole, i)
		}
	}
	return whole
}

func TestTornEndHurtsNothingBeforeIt(t *testing.T) {
	path, segment := keepThree(t)
	whole, err := os.ReadFile(segment)
	check(t, err)
	third := bytes.LastIndex(whole, []byte("tfr1"))
	for cut := third; cut < len(whole); cut += 29 {
		check(t, os.WriteFile(segment, whole[:cut], 0o600))
		s, err := store.Open(t.Context(), path, nil)
		check(t, err)
		equal(t, readable(t, s), []int{0, 1})
		check(t, s.SaveResult(t.Context(), sampleResult(2)))
		equal(t, readable(t, s), []int{0, 1, 2})
		check(t, s.Close())
		check(t, os.Remove(filepath.Join(path+"-results", "000002.seg")))
	}
}

func TestDamageIsSeenAndHurtsNoOther(t *testing.T) {
	path, segment := keepThree(t)
	whole, err := os.ReadFile(segment)
	check(t, err)
	body := bytes.Index(whole, []byte(`"rows": [1,`))
	for at := body % 17; at < len(whole); at += 17 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0x20
		check(t, os.WriteFile(segment, broken, 0o600))
		s, err := store.Open(t.Context(), path, nil)
		check(t, err)
		if left := readable(t, s); len(left) >= 3 {
			t.Fatalf("byte %d: damage was not seen", at)
		} else if at == body {
			equal(t, left, []int{0, 2})
			_, err := s.Result(t.Context(), sampleResult(1).Owner, sampleResult(1).Ref)
			if !fault.Is(err, fault.BadConfig) {
				t.Fatalf("got %v, want a fault that says so", err)
			}
		}
		check(t, s.Close())
	}
}

func TestResultsAreTheirOwnersAlone(t *testing.T) {
	_, segment := keepThree(t)
	for name, want := range map[string]os.FileMode{segment: 0o600, filepath.Dir(segment): 0o700} {
		info, err := os.Stat(name)
		check(t, err)
		equal(t, info.Mode().Perm(), want)
	}
}

func TestOpeningAStoreMakesNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s := open(t, path, nil)
	_, err := s.Results(t.Context(), store.ResultFilter{})
	check(t, err)
	_, err = s.TrimResults(t.Context(), store.ResultLimits{Owner: 1, Total: 1})
	check(t, err)
	if _, err := os.Stat(path + "-results"); !os.IsNotExist(err) {
		t.Fatalf("got %v, want no folder", err)
	}
}

func TestTrimLeavesWhatAnotherProcessMayStillWriteTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	ctx := t.Context()
	writer := open(t, path, nil)
	trimmer := open(t, path, nil)
	expired := sampleResult(0)
	expired.Expires = noon
	check(t, writer.SaveResult(ctx, expired))
	deleted, err := trimmer.TrimResults(ctx, store.ResultLimits{Owner: 1, Total: 1})
	check(t, err)
	equal(t, deleted, 1) // from its index
	check(t, writer.SaveResult(ctx, sampleResult(1)))
	_, err = trimmer.Result(ctx, "k1", sampleResult(1).Ref)
	check(t, err)

	segment := filepath.Join(path+"-results", "000001.seg")
	long := time.Now().Add(-2 * time.Hour)
	check(t, os.Chtimes(segment, long, long))
	check(t, trimmer.SaveResult(ctx, sampleResult(3)))
	deleted, err = trimmer.TrimResults(ctx, store.ResultLimits{Total: 1})
	check(t, err)
	equal(t, deleted, 1)
	if _, err := os.Stat(segment); !os.IsNotExist(err) {
		t.Fatalf("got %v, want the segment gone", err)
	}
	if _, err := writer.Result(ctx, "k1", sampleResult(1).Ref); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
}

func TestDurableResultsAreKeptByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	ctx := t.Context()
	s := open(t, path, &store.Options{Durable: true})
	errs := make(chan error)
	const many = 10
	for i := range many {
		go func() {
			r := sampleResult(i)
			r.Body = bytes.Repeat([]byte("x"), 2_000_000) // more than one segment
			errs <- s.SaveResult(ctx, r)
		}()
	}
	for range many {
		check(t, <-errs)
	}
	segments, err := filepath.Glob(filepath.Join(path+"-results", "*.seg"))
	check(t, err)
	if len(segments) < 2 {
		t.Fatalf("%d segments", len(segments))
	}
	for i := range many {
		_, err := s.Result(ctx, fmt.Sprint("k", i%2), sampleResult(i).Ref)
		check(t, err)
	}
}

func TestResultsHoldTheirSizeWhileManyKeepAndTrim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s := open(t, path, nil)
	const limit, writers, each = 800_000, 4, 3
	trim := func() {
		if _, err := s.TrimResults(t.Context(), store.ResultLimits{Total: limit}); err != nil {
			t.Error(err)
		}
	}
	trim()
	for round := range 40 {
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					r := sampleResult((round*writers+w)*each + i)
					r.Body = bytes.Repeat([]byte("x"), 10_000)
					if err := s.SaveResult(t.Context(), r); err != nil {
						t.Error(err)
					}
				}
			})
		}
		if round%3 > 0 {
			all.Go(trim)
		}
		all.Wait()
		var size int64
		files, err := os.ReadDir(path + "-results")
		check(t, err)
		for _, f := range files {
			info, err := f.Info()
			check(t, err)
			size += info.Size()
		}
		if size > limit+limit/8 || round > 10 && size < limit*6/10 {
			t.Fatalf("%d bytes after %d results, the limit is %d", size, (round+1)*writers*each, limit)
		}
	}
}

func TestFolderThatIsRemovedIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	ctx := t.Context()
	s := open(t, path, nil)
	check(t, s.SaveResult(ctx, sampleResult(0)))
	check(t, os.RemoveAll(path+"-results"))
	if _, err := s.Result(ctx, "k0", sampleResult(0).Ref); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
	check(t, s.SaveResult(ctx, sampleResult(1)))
	_, err := s.Result(ctx, "k1", sampleResult(1).Ref)
	check(t, err)
}

// Others put files into every folder.
func TestOtherFilesInTheFolderAreLeftAlone(t *testing.T) {
	path, segment := keepThree(t)
	dir := filepath.Dir(segment)
	for _, name := range []string{".DS_Store", "1.seg", "notes.seg", "000009.seg.bak", "-00001.seg"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte("tfr1"), 0o600))
	}
	check(t, os.Mkdir(filepath.Join(dir, "x.seg"), 0o700))
	s := open(t, path, nil)
	equal(t, readable(t, s), []int{0, 1, 2})
	_, err := s.TrimResults(t.Context(), store.ResultLimits{Owner: 1, Total: 1})
	check(t, err)
	left, err := os.ReadDir(dir)
	check(t, err)
	equal(t, len(left), 7)
}

func TestALongResultThatIsReadAgainIsTheSameAndGoesWhenItIsTrimmed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "toolfit.db"), nil)
	var long [2]store.Result
	for i := range long {
		long[i] = sampleResult(i)
		long[i].Body = bytes.Repeat([]byte{'0' + byte(i)}, 300<<10)
		check(t, s.SaveResult(t.Context(), long[i]))
	}
	for _, i := range []int{0, 0, 1, 0, 1, 1} {
		got, err := s.Result(t.Context(), long[i].Owner, long[i].Ref)
		check(t, err)
		if got.Ref != long[i].Ref || !bytes.Equal(got.Args, long[i].Args) || !bytes.Equal(got.Body, long[i].Body) {
			t.Fatalf("%s has %d bytes: %.20s", got.Ref, len(got.Body), got.Body)
		}
		if _, err := s.Result(t.Context(), "another", long[i].Ref); !fault.Is(err, fault.NotFound) {
			t.Fatalf("another reads it: %v", err)
		}
	}
	_, err := s.TrimResults(t.Context(), store.ResultLimits{Owner: 1})
	check(t, err)
	if _, err := s.Result(t.Context(), long[1].Owner, long[1].Ref); !fault.Is(err, fault.NotFound) {
		t.Fatalf("what was trimmed can be read: %v", err)
	}
}
