package access

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestABurstPassesAndThenTheRate(t *testing.T) {
	l, now := NewLimiter(10, 3), time.Unix(1000, 0)
	for range 3 {
		if ok, _ := l.Allow(t.Context(), "a", 1, now); !ok {
			t.Fatal("the burst is refused")
		}
	}
	ok, wait := l.Allow(t.Context(), "a", 1, now)
	if ok || wait != 100*time.Millisecond {
		t.Errorf("after the burst: %v, again in %v", ok, wait)
	}
	if ok, _ := l.Allow(t.Context(), "b", 1, now); !ok {
		t.Error("one caller takes another's turn")
	}
	if ok, _ := l.Allow(t.Context(), "a", 1, now.Add(wait-time.Millisecond)); ok {
		t.Error("it passes before its time")
	}
	if ok, _ := l.Allow(t.Context(), "a", 1, now.Add(wait)); !ok {
		t.Error("it does not pass at the time that it was told")
	}
}

func TestAPauseFillsTheBucketAndNoMore(t *testing.T) {
	l, now := NewLimiter(10, 3), time.Unix(1000, 0)
	l.Allow(t.Context(), "a", 1, now)
	passed := 0
	for range 10 {
		if ok, _ := l.Allow(t.Context(), "a", 1, now.Add(time.Hour)); ok {
			passed++
		}
	}
	if passed != 3 {
		t.Errorf("%d pass after an hour, want the burst of 3", passed)
	}
}

func TestAClockSetBackLocksNobodyOut(t *testing.T) {
	l, now := NewLimiter(1, 1), time.Unix(1000, 0)
	l.Allow(t.Context(), "a", 1, now)
	if _, wait := l.Allow(t.Context(), "a", 1, now.Add(-time.Hour)); wait > time.Second {
		t.Errorf("told to wait %v", wait)
	}
	if ok, _ := l.Allow(t.Context(), "a", 1, now.Add(-time.Hour+time.Second)); !ok {
		t.Error("still refused a second later")
	}
}

func TestSlowRatesTellTheirLongWait(t *testing.T) {
	l, now := NewLimiter(1.0/60, 1), time.Unix(1000, 0)
	l.Allow(t.Context(), "a", 1, now)
	if ok, wait := l.Allow(t.Context(), "a", 1, now); ok || wait < 59*time.Second || wait > 61*time.Second {
		t.Errorf("got %v, %v", ok, wait)
	}
}

func TestALimiterRemembersABoundedNumberOfCallers(t *testing.T) {
	l, now := NewLimiter(1, 2), time.Unix(1000, 0)
	l.Allow(t.Context(), "first", 1, now)
	l.Allow(t.Context(), "first", 1, now)
	for i := range 3 * maxBuckets {
		l.Allow(t.Context(), fmt.Sprint(i), 1, now.Add(time.Duration(i)*time.Microsecond))
	}
	if n := len(l.buckets); n > maxBuckets {
		t.Errorf("%d callers are kept, want at most %d", n, maxBuckets)
	}
}

func TestALimiterForgetsFirstWhoseBucketIsFull(t *testing.T) {
	l, now := NewLimiter(1, 2), time.Unix(1000, 0)
	for i := range maxBuckets - 1 {
		l.Allow(t.Context(), fmt.Sprint(i), 1, now)
	}
	late := now.Add(time.Hour)
	l.Allow(t.Context(), "busy", 1, late)
	l.Allow(t.Context(), "new", 1, late)
	if _, kept := l.buckets["busy"]; !kept || len(l.buckets) != 2 {
		t.Errorf("%d callers are kept, busy %v", len(l.buckets), kept)
	}
}

func TestInTheLongRunTheRateHolds(t *testing.T) {
	l, now := NewLimiter(50, 10), time.Unix(1000, 0)
	random := rand.New(rand.NewPCG(1, 2))
	passed, from := 0, now
	for now.Sub(from) < 20*time.Second {
		if ok, _ := l.Allow(t.Context(), "a", 1, now); ok {
			passed++
		}
		now = now.Add(time.Duration(random.IntN(10_000)) * time.Microsecond)
	}
	if passed < 995 || passed > 1011 {
		t.Errorf("%d pass in 20 s at 50/s with a burst of 10", passed)
	}
}

func TestCallersAtOnceShareOneBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, now := NewLimiter(1, 100), time.Now()
		var mu sync.Mutex
		var all sync.WaitGroup
		passed := 0
		for range 8 {
			all.Go(func() {
				for range 100 {
					if ok, _ := l.Allow(t.Context(), "a", 1, now); ok {
						mu.Lock()
						passed++
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		if passed != 100 {
			t.Errorf("%d pass, want 100", passed)
		}
	})
}

func TestSeveralAtOnceTakeAsManyTokens(t *testing.T) {
	l, now := NewLimiter(10, 3), time.Unix(1000, 0)
	if ok, _ := l.Allow(t.Context(), "a", 4, now); ok {
		t.Error("more than the burst passes")
	}
	if ok, _ := l.Allow(t.Context(), "a", 2, now); !ok {
		t.Error("less than the burst is refused")
	}
	if ok, wait := l.Allow(t.Context(), "a", 2, now); ok || wait != 100*time.Millisecond {
		t.Errorf("two with one token left: %v, again in %v", ok, wait)
	}
	if ok, _ := l.Allow(t.Context(), "a", 1, now); !ok {
		t.Error("what is refused costs tokens")
	}
}
