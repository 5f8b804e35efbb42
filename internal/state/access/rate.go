package access

import (
	"math"
	"sync"
	"time"
)

// maxBuckets bounds how many callers a Limiter remembers.
const maxBuckets = 10_000

// Limiter bounds how often each caller may ask: a bucket of tokens for each, refilled at a
// steady rate. It may be used concurrently.
type Limiter struct {
	rate  float64 // tokens a second
	burst float64 // tokens in a full bucket

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	tokens float64
	at     time.Time // when tokens was right
}

// NewLimiter makes a limiter of perSecond requests in the long run and burst at once. Both
// must be positive.
func NewLimiter(perSecond float64, burst int) *Limiter {
	return &Limiter{rate: perSecond, burst: float64(burst), buckets: map[string]bucket{}}
}

// Allow tells whether the caller may ask n times at once now, and if not, when it may again:
// never, where n is more than the burst.
func (l *Limiter) Allow(id string, n int, now time.Time) (ok bool, retryAfter time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, known := l.buckets[id]
	if !known {
		l.makeRoom(now)
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

// filled is the bucket as it is now. A clock that was set back takes no tokens away.
func (l *Limiter) filled(b bucket, now time.Time) bucket {
	if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(l.burst, b.tokens+passed.Seconds()*l.rate)
	}
	b.at = now
	return b
}

// makeRoom forgets callers whose bucket is full again: they lose nothing. Where these are
// few, some are forgotten that gain by it, so that room need not be made again at once. The
// caller holds mu.
func (l *Limiter) makeRoom(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for id, b := range l.buckets {
		if l.filled(b, now).tokens >= l.burst {
			delete(l.buckets, id)
		}
	}
	for id := range l.buckets {
		if len(l.buckets) <= maxBuckets*3/4 {
			return
		}
		delete(l.buckets, id)
	}
}
