package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// callOf is one of several calls at once, some time before noon.
func callOf(ago time.Duration, n int) store.Call {
	at := noon.Add(-ago)
	c := store.Call{
		ID: string(store.AppendCallTime(nil, at)) + fmt.Sprintf("%08d", n), At: at, Tool: tool.Name(fmt.Sprint("a__", n%3)),
		Profile: fmt.Sprint("p", n%2), BytesIn: 1, BytesFull: int64(n), TokensFull: int64(10 * n), TokensSent: int64(n % 7), Server: "a",
	}
	if n%5 == 0 {
		c.Rule = "r"
	}
	if n%4 == 0 {
		c.Shadow = "s"
		c.TokensShadow = 3
	}
	return c
}

// summed adds up the calls themselves.
func summed(t *testing.T, s *store.Store, by store.SavingKey, since time.Time) []store.Saving {
	t.Helper()
	sums := map[string]*store.Saving{}
	add := func(key string, shadow bool, sent int64, c *store.Call) {
		at := fmt.Sprint(shadow, key)
		if sums[at] == nil {
			sums[at] = &store.Saving{Key: key, Shadow: shadow}
		}
		sum := sums[at]
		sum.Calls++
		sum.BytesIn += c.BytesIn
		sum.BytesFull += c.BytesFull
		sum.TokensFull += c.TokensFull
		sum.TokensSent += sent
	}
	for f := (store.CallFilter{Since: since, Limit: 1000}); ; {
		page, err := s.Calls(t.Context(), f)
		check(t, err)
		for i := range page {
			c := &page[i]
			key := map[store.SavingKey]string{
				store.ByTool: string(c.Tool), store.ByProfile: c.Profile, store.ByRule: c.Rule, store.ByDay: c.At.Format(time.DateOnly),
			}[by]
			add(key, false, c.TokensSent, c)
			if by == store.ByRule && c.Shadow != "" {
				add(c.Shadow, true, c.TokensShadow, c)
			}
		}
		if len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].ID
	}
	out := []store.Saving{}
	for _, sum := range sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(x, y store.Saving) int {
		if x.Shadow != y.Shadow {
			return strings.Compare(fmt.Sprint(x.Shadow), fmt.Sprint(y.Shadow))
		}
		return strings.Compare(x.Key, y.Key)
	})
	return out
}

func checkSums(t *testing.T, s *store.Store) {
	t.Helper()
	for _, ago := range []time.Duration{0, time.Second, 5 * time.Minute, time.Hour, 12*time.Hour + 1, 90 * time.Minute, 100 * time.Hour} {
		since := noon.Add(-ago)
		if ago == 0 {
			since = time.Time{}
		}
		for _, by := range []store.SavingKey{store.ByTool, store.ByProfile, store.ByRule, store.ByDay} {
			got, err := s.Savings(t.Context(), by, since)
			check(t, err)
			if want := summed(t, s, by, since); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("by %s since %s ago:\n got %v\nwant %v", by, ago, got, want)
			}
		}
	}
}

func testSums(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	other := open(t, dsn, clock.options())
	ctx := t.Context()
	rounds := 10
	if *long {
		rounds = 40
	}
	var all sync.WaitGroup
	for side := range 4 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(side)))
			for range rounds {
				var batch []store.Call
				for range 1 + random.IntN(30) {
					batch = append(batch, callOf(time.Duration(random.Int64N(int64(30*time.Hour))), random.IntN(100)))
					batch = append(batch, callOf(time.Duration(random.Int64N(int64(5*time.Minute))), random.IntN(100)))
				}
				if err := s.AppendCalls(ctx, batch); err != nil {
					t.Error(err)
				}
				if err := other.AppendCalls(ctx, batch[len(batch)/2:]); err != nil { // once more
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for i := range rounds / 2 {
			if err := other.SumCalls(ctx); err != nil {
				t.Error(err)
			}
			if _, err := s.TrimCalls(ctx, noon.Add(-30*time.Hour+time.Duration(i)*7*time.Minute)); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	checkSums(t, s)
	clock.pass(time.Hour)
	check(t, s.SumCalls(ctx))
	checkSums(t, s)
	_, err := s.TrimCalls(ctx, noon.Add(-10*time.Hour-time.Minute))
	check(t, err)
	checkSums(t, other)
	_, err = s.TrimCalls(ctx, noon.Add(time.Hour))
	check(t, err)
	got, err := s.Savings(ctx, store.ByTool, time.Time{})
	check(t, err)
	equal(t, len(got), 0)
}
