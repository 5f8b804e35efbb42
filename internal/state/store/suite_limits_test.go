package store_test

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func testLimits(t *testing.T, dsn string, raw rawFunc) {
	s := open(t, dsn, nil)
	mails := policy.Count{Key: "limit mails 钥匙", Most: 2, Per: time.Hour}
	all := policy.Count{Key: "limit all 钥匙", Most: 3, Per: 24 * time.Hour}
	loop := policy.Count{Key: "repeats loop 钥匙 s", Most: 2, Per: time.Minute, Same: "a"}
	count := func(want int, wait time.Duration, counts ...policy.Count) {
		t.Helper()
		over, got, err := s.CountCall(t.Context(), counts)
		check(t, err)
		equal(t, over, want)
		equal(t, got.Round(time.Minute), wait)
	}
	count(-1, 0, mails)
	count(-1, 0, mails, all)
	count(0, time.Hour, mails, all)
	count(1, time.Hour, all, mails)
	count(-1, 0, all) // the refused ones did not count
	s = open(t, dsn, nil)
	count(-1, 0, all)
	count(1, 24*time.Hour, mails, all) // the longest wait
	count(-1, 0, loop)
	count(-1, 0, loop)
	count(0, time.Minute, loop)
	loop.Same = "b"
	count(-1, 0, loop)
	mails.Most = 1 // another limit
	count(0, time.Hour, mails)
	mails.Most = 3
	count(-1, 0, mails)
	count(0, time.Hour, mails)

	_, err := raw(t, dsn).Exec("UPDATE limits SET until = 1 WHERE key = $1", mails.Key)
	check(t, err)
	n, err := s.TrimLimits(t.Context())
	check(t, err)
	equal(t, n, 1)
	count(-1, 0, mails)
}

// Two gateways count for one caller, with the limits in different orders.
func testLimitsAtOnce(t *testing.T, dsn string, _ rawFunc) {
	const most = 50
	counts := []policy.Count{{Key: "a", Most: most, Per: time.Hour}, {Key: "b", Most: 2 * most, Per: time.Hour}}
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		s := open(t, dsn, nil)
		check(t, s.Patient())
		for i := range 4 {
			wg.Go(func() {
				for range 20 {
					over, _, err := s.CountCall(t.Context(), []policy.Count{counts[i%2], counts[1-i%2]})
					if err != nil {
						t.Error(err)
					}
					if over < 0 {
						passed.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	equal(t, passed.Load(), most)
	over, _, err := open(t, dsn, nil).CountCall(t.Context(), []policy.Count{{Key: "b", Most: most + 1, Per: time.Hour}})
	check(t, err)
	equal(t, over, -1) // refused ones did not count there
}

func BenchmarkCountCall(b *testing.B) {
	bench := func(dsn string, remembered int) func(b *testing.B) {
		return func(b *testing.B) {
			s, err := store.Open(b.Context(), dsn, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			count := []policy.Count{{Key: b.Name(), Most: 1 << 30, Per: time.Hour}}
			for range remembered {
				if _, _, err := s.CountCall(b.Context(), count); err != nil {
					b.Fatal(err)
				}
			}
			count[0].Most = remembered // from here on it is refused
			if remembered == 0 {
				count[0] = policy.Count{Key: b.Name(), Most: 1, Per: 1}
			}
			for b.Loop() {
				if _, _, err := s.CountCall(b.Context(), count); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("sqlite/counted", bench(filepath.Join(b.TempDir(), "t.db"), 0))
	b.Run("sqlite/refused of 1000", bench(filepath.Join(b.TempDir(), "t.db"), 1000))
	pg := testparts.NeedPostgres(b)
	b.Run("postgres/counted", bench(pg.Schema(b), 0))
	b.Run("postgres/refused of 1000", bench(pg.Schema(b), 1000))
}
