package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func testTokens(t *testing.T, dsn string, raw rawFunc) {
	s := open(t, dsn, nil)
	db := raw(t, dsn)
	of := store.Tokens{Every: time.Hour, Burst: 100}
	// pass lets time pass for the callers.
	pass := func(d time.Duration) {
		t.Helper()
		_, err := db.Exec("UPDATE rates SET full_at = full_at - $1", d.Nanoseconds())
		check(t, err)
	}
	take := func(caller string, need, extra, want int, back time.Duration) {
		t.Helper()
		got, full, err := s.TakeTokens(t.Context(), caller, of, need, extra)
		check(t, err)
		equal(t, got, want)
		equal(t, full.Round(time.Minute), back)
	}
	take("钥匙", 1, 0, 1, time.Hour)
	take("other", 1, 1000, 25, 25*time.Hour) // a quarter of the rest, whoever is new
	take("钥匙", 2, 10, 12, 13*time.Hour)
	take("钥匙", 67, 0, 67, 80*time.Hour)
	take("钥匙", 4, 10, 8, 88*time.Hour) // a quarter of the rest
	take("钥匙", 13, 0, 0, 88*time.Hour) // not enough
	take("钥匙", 12, 10, 12, 100*time.Hour)
	take("钥匙", 1, 0, 0, 100*time.Hour)
	pass(59 * time.Minute)
	take("钥匙", 1, 0, 0, 99*time.Hour+time.Minute)
	pass(time.Minute)
	take("钥匙", 1, 0, 1, 100*time.Hour)
	pass(500 * time.Hour)
	take("钥匙", 100, 0, 100, 100*time.Hour) // no more than are in a full bucket
	of.Burst = 10                          // another limit
	take("钥匙", 1, 0, 0, 100*time.Hour)
	n, err := s.TrimRates(t.Context())
	check(t, err)
	equal(t, n, 1)
	take("other", 10, 0, 10, 10*time.Hour)
}

func testTokensAtOnce(t *testing.T, dsn string, _ rawFunc) {
	s := open(t, dsn, nil)
	var all atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				got, _, err := s.TakeTokens(t.Context(), "one", store.Tokens{Every: time.Hour, Burst: 100}, 1, 2)
				if err != nil {
					t.Error(err)
				}
				all.Add(int64(got))
			}
		})
	}
	wg.Wait()
	equal(t, all.Load(), 100)
}
