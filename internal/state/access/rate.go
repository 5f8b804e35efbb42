package access

import (
	"context"
	"math"
	"sync"
	"time"
)

// maxBuckets is how many callers a Limiter remembers.
const maxBuckets = 10_000

// Limiter limits the rate of each caller's requests with a token bucket. It may be used
// concurrently.
type Limiter struct {
	rate  float64 // tokens a second
	burst float64 // tokens in a full bucket

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time // when it had so many
}

// NewLimiter makes a limiter with a rate and a burst, both positive.
func NewLimiter(perSecond float64, burst int) *Limiter {
	return &Limiter{rate: perSecond, burst: float64(burst), buckets: map[string]bucket{}}
}

// Allow reports whether the caller may make n requests now, and if not, when to retry. More than
// the burst is never allowed.
func (l *Limiter) Allow(_ context.Context, id string, n int, now time.Time) (ok bool, retryAfter time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, known := l.buckets[id]
	if !known {
		makeRoom(l.buckets, func(b bucket) bool { return l.filled(b, now).tokens >= l.burst })
		b = bucket{tokens: l.burst, at: now}
	}
	b = l.filled(b, now)
	need := float64(n)
	if b.tokens >= need {
		b.tokens -= need
		l.buckets[id] = b
		return true, 0
	}
	l.buckets[id] = b
	return false, time.Duration(math.Ceil((need - b.tokens) / l.rate * float64(time.Second)))
}

// filled returns the bucket as of now. A clock that was set back removes no tokens.
func (l *Limiter) filled(b bucket, now time.Time) bucket {
	if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(l.burst, b.tokens+passed.Seconds()*l.rate)
	}
	b.at = now
	return b
}

// makeRoom forgets callers of whom there is nothing to remember, and if these are few, others as well, so that it
// need not run again at once.
func makeRoom[T any](callers map[string]T, idle func(T) bool) {
	if len(callers) < maxBuckets {
		return
	}
	for id, c := range callers {
		if idle(c) {
			delete(callers, id)
		}
	}
	for id := range callers {
		if len(callers) <= maxBuckets*3/4 {
			return
		}
		delete(callers, id)
	}
}
