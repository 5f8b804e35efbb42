package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sink keeps what it is given, unless err says no. A gate makes each write wait.
type sink struct {
	mu      sync.Mutex
	calls   []store.Call
	batches []int
	err     error
	tries   int
	gate    chan struct{}
}

func (s *sink) AppendCalls(ctx context.Context, calls []store.Call) error {
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
	if s.err != nil {
		return s.err
	}
	s.calls = append(s.calls, calls...)
	s.batches = append(s.batches, len(calls))
	return nil
}

func (s *sink) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *sink) got() (ids string, batches []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return joined(s.calls), append([]int(nil), s.batches...)
}

func joined(calls []store.Call) string {
	var b []string
	for _, c := range calls {
		b = append(b, c.ID)
	}
	return strings.Join(b, " ")
}

func add(t *testing.T, l *record.Log, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		if err := l.Add(t.Context(), store.Call{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Fatalf("%s: got %s, want %s", what, g, w)
	}
}

func closeLog(t *testing.T, l *record.Log) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestBatchIsWrittenWhenFullOrOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := record.New(s, &record.Options{Batch: 3, Delay: time.Second})
		add(t, l, 1, 3)
		synctest.Wait()
		_, batches := s.got()
		expect(t, "a whole batch at once", batches, []int{3})
		add(t, l, 4, 5)
		time.Sleep(time.Second - time.Nanosecond) // fake time
		synctest.Wait()
		_, batches = s.got()
		expect(t, "before the delay", batches, []int{3})
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		_, batches = s.got()
		expect(t, "after the delay", batches, []int{3, 2})
		add(t, l, 6, 6)
		closeLog(t, l)
		ids, _ := s.got()
		expect(t, "after close", ids, "1 2 3 4 5 6")
	})
}

func TestFullQueueMakesAddWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := record.New(s, &record.Options{Batch: 1})
		add(t, l, 1, 1)
		synctest.Wait() // the writer holds 1 and waits at the gate
		add(t, l, 2, 17)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Add(short, store.Call{ID: "not taken"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("add to a full queue: %v", err)
		}
		added := make(chan error)
		go func() { added <- l.Add(t.Context(), store.Call{ID: "18"}) }()
		synctest.Wait()
		select {
		case err := <-added:
			t.Fatalf("add did not wait: %v", err)
		default:
		}
		close(s.gate)
		if err := <-added; err != nil {
			t.Fatal(err)
		}
		closeLog(t, l)
		ids, _ := s.got()
		expect(t, "written", ids, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18")
		expect(t, "dropped", l.Dropped(), 0)
	})
}

func TestOutageIsLoggedOnceAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged := &sink{err: errors.New("disk gone")}, &bytes.Buffer{}
		l := record.New(s, &record.Options{Batch: 2, Delay: time.Second, Logger: slog.New(slog.NewTextHandler(logged, nil))})
		add(t, l, 1, 5)
		time.Sleep(time.Minute) // fake time
		synctest.Wait()
		expect(t, "logged errors", strings.Count(logged.String(), "disk gone"), 1)
		if s.tries < 4 || s.tries > 12 {
			t.Fatalf("%d tries in a minute", s.tries)
		}
		s.fail(nil)
		add(t, l, 6, 6)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		ids, _ := s.got()
		expect(t, "written", ids, "1 2 3 4 5 6")
		expect(t, "logged recoveries", strings.Count(logged.String(), "written again"), 1)
		s.fail(errors.New("disk gone"))
		add(t, l, 7, 8)
		synctest.Wait()
		expect(t, "logged errors of the next outage", strings.Count(logged.String(), "disk gone"), 2)
		err := l.Close(t.Context())
		if err == nil || !strings.Contains(err.Error(), "2 call records: disk gone") {
			t.Fatalf("close: %v", err)
		}
	})
}

func TestLongOutageDropsTheOldestAndCountsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged := &sink{err: errors.New("disk gone")}, &bytes.Buffer{}
		l := record.New(s, &record.Options{Batch: 2, Logger: slog.New(slog.NewTextHandler(logged, nil))})
		for i := 1; i <= 200; i += 2 { // 64 batches of 2 are kept
			add(t, l, i, i+1)
			synctest.Wait()
		}
		expect(t, "dropped", l.Dropped(), 72)
		expect(t, "logged drops", strings.Count(logged.String(), "drop the oldest"), 1)
		s.fail(nil)
		closeLog(t, l)
		ids, _ := s.got()
		if !strings.HasPrefix(ids, "73 74 ") || !strings.HasSuffix(ids, " 199 200") || len(s.calls) != 128 {
			t.Fatalf("kept %d: %s", len(s.calls), ids)
		}
	})
}

func TestDurableAddReturnsAfterCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := record.New(s, &record.Options{Durable: true})
		done := make(chan error, 10)
		addOne := func(i int) { done <- l.Add(t.Context(), store.Call{ID: fmt.Sprint(i)}) }
		go addOne(0)
		synctest.Wait()
		for i := range 9 { // they come while the first is committed
			go addOne(i + 1)
		}
		synctest.Wait()
		expect(t, "returned before the commit", len(done), 0)
		expect(t, "shown before the commit", len(l.Last(10)), 0)
		s.gate <- struct{}{}
		synctest.Wait()
		expect(t, "returned after the first commit", len(done), 1)
		s.gate <- struct{}{}
		synctest.Wait()
		expect(t, "returned after the second commit", len(done), 10)
		_, batches := s.got()
		expect(t, "groups", batches, []int{1, 9})
		expect(t, "shown after the commit", len(l.Last(10)), 10)
		closeLog(t, l)
	})
}

func TestDurableAddReturnsTheSinksError(t *testing.T) {
	down := errors.New("disk gone")
	s, logged := &sink{err: down}, &bytes.Buffer{}
	l := record.New(s, &record.Options{Durable: true, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	if err := l.Add(t.Context(), store.Call{ID: "1"}); !errors.Is(err, down) {
		t.Fatalf("got %v", err)
	}
	if err := l.Refuses(); !errors.Is(err, down) {
		t.Errorf("while the sink is down, calls are refused for %v", err)
	}
	l.Add(t.Context(), store.Call{ID: "again"})
	s.fail(nil)
	add(t, l, 2, 2)
	if err := l.Refuses(); err != nil {
		t.Errorf("after a commit, calls are refused for %v", err)
	}
	l.ReportSink(down)
	if err := l.Refuses(); !errors.Is(err, down) {
		t.Errorf("after a probe found it down, calls are refused for %v", err)
	}
	l.ReportSink(nil)
	if err := l.Refuses(); err != nil {
		t.Errorf("after a probe found it up, calls are refused for %v", err)
	}
	closeLog(t, l)
	ids, _ := s.got()
	expect(t, "written", ids, "2")
	expect(t, "shown", joined(l.Last(9)), "2")
	expect(t, "said when it fails and when it works again", strings.Count(logged.String(), "\n"), 4)
}

func TestOnlyADurableLogRefusesCalls(t *testing.T) {
	s := &sink{err: errors.New("disk gone")}
	l := record.New(s, nil)
	add(t, l, 1, 1)
	l.Flush(t.Context())
	l.ReportSink(s.err)
	if err := l.Refuses(); err != nil {
		t.Errorf("refused for %v", err)
	}
	s.fail(nil)
	closeLog(t, l)
}

func TestDurableAddOfACanceledCallIsStillWritten(t *testing.T) {
	s := &sink{gate: make(chan struct{})}
	l := record.New(s, &record.Options{Durable: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Add(ctx, store.Call{ID: "1"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(s.gate)
	closeLog(t, l)
	ids, _ := s.got()
	expect(t, "written", ids, "1")
}

func TestClose(t *testing.T) {
	t.Run("ends a sink that hangs when its time is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := record.New(&sink{gate: make(chan struct{})}, nil)
			add(t, l, 1, 3)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := l.Close(ctx); err == nil || !strings.Contains(err.Error(), "3 call records") {
				t.Fatalf("got %v", err)
			}
		})
	})
	t.Run("waits for a store that comes back, and says what it could not write to one that does not", func(t *testing.T) {
		for _, back := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &sink{err: fault.New(fault.StoreDown, "away")}
				l := record.New(s, nil)
				add(t, l, 1, 3)
				if back {
					time.AfterFunc(4*time.Second, func() { s.fail(nil) })
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := l.Close(ctx)
				expect(t, "written", len(s.calls), map[bool]int{true: 3, false: 0}[back])
				if (err == nil) != back || !back && !strings.Contains(err.Error(), "the last 3 call records: away") {
					t.Errorf("got %v", err)
				}
			})
		}
	})
	t.Run("may be called twice, and nothing is taken after it", func(t *testing.T) {
		l := record.New(&sink{}, nil)
		closeLog(t, l)
		closeLog(t, l)
		if err := l.Add(t.Context(), store.Call{}); !errors.Is(err, record.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("writes all that was added, whoever adds at the same time", func(t *testing.T) {
		for _, durable := range []bool{false, true} {
			s := &sink{}
			l := record.New(s, &record.Options{Batch: 5, Durable: durable})
			var wg sync.WaitGroup
			var mu sync.Mutex
			taken := 0
			for range 8 {
				wg.Go(func() {
					for range 200 {
						if err := l.Add(context.Background(), store.Call{}); err != nil {
							return
						}
						mu.Lock()
						taken++
						mu.Unlock()
					}
				})
			}
			closeLog(t, l)
			wg.Wait()
			expect(t, "written", len(s.calls), taken)
		}
	})
}

func TestAddCompletesTheRecord(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	long := strings.Repeat("é", 3000)
	cases := []struct{ name, message, want string }{
		{"secrets are taken out", "Bearer hunter2 refused", "Bearer *** refused"},
		{"broken text is repaired", "a\xffb", "a\uFFFDb"},
		{"a long message is cut between characters", long, long[:4092] + "…"},
		{"a secret is taken out before the cut", strings.Repeat("x", 4090) + "hunter2", strings.Repeat("x", 4090) + "***"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := record.New(&sink{}, &record.Options{
				Now:    func() time.Time { return now },
				Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
			})
			defer closeLog(t, l)
			if err := l.Add(t.Context(), store.Call{Message: c.message}); err != nil {
				t.Fatal(err)
			}
			got := l.Last(1)[0]
			expect(t, "message", got.Message, c.want)
			if got.ID == "" || !got.At.Equal(now) {
				t.Fatalf("id %q, at %v", got.ID, got.At)
			}
		})
	}
}

func TestAddBoundsWhatWasRepaired(t *testing.T) {
	long := `"` + strings.Repeat("x", 2000) + `"`
	cases := []struct{ name, repairs, want string }{
		{"a list stays as it is", ` [{"n": 1e400}] `, ` [{"n": 1e400}] `},
		{"secrets are taken out", `["hunter2"]`, `["***"]`},
		{"the last items of a long list are left out", "[" + long + "," + long + "," + long + "]", "[" + long + "," + long + "]"},
		{"nothing is left of one long item", `["` + strings.Repeat("x", 5000) + `"]`, "[]"},
		{"what is no list is left out", `[{"cut off`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := record.New(&sink{}, &record.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
			defer closeLog(t, l)
			if err := l.Add(t.Context(), store.Call{Repairs: c.repairs}); err != nil {
				t.Fatal(err)
			}
			expect(t, "repairs", l.Last(1)[0].Repairs, c.want)
		})
	}
}

func TestWhatWasAddedIsInTheSinkAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := record.New(s, nil)
		l.Flush(t.Context()) // there is nothing to wait for
		for _, id := range []string{"a", "b"} {
			if err := l.Add(t.Context(), store.Call{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		before := time.Now()
		l.Flush(t.Context())
		if ids, _ := s.got(); ids != "a b" || !time.Now().Equal(before) {
			t.Errorf("%q after %v", ids, time.Since(before))
		}
		s.fail(errors.New("no room"))
		if err := l.Add(t.Context(), store.Call{ID: "c"}); err != nil {
			t.Fatal(err)
		}
		l.Flush(t.Context()) // the sink is tried once
		l.Flush(t.Context()) // and then left alone
		if s.tries != 2 {
			t.Errorf("%d tries", s.tries)
		}
		s.fail(nil)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { l.Flush(t.Context()) })
		}
		all.Wait()
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		l.Flush(t.Context()) // it has ended
		if ids, _ := s.got(); ids != "a b c" {
			t.Errorf("%q", ids)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		blocked := record.New(&sink{gate: make(chan struct{})}, nil)
		_ = blocked.Add(t.Context(), store.Call{ID: "d"})
		blocked.Flush(gone) // who has gone does not wait
		_ = blocked.Close(gone)
	})
}
