package access

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// Bank has the tokens that several gateways share.
type Bank interface {
	TakeTokens(ctx context.Context, caller string, of store.Tokens, need, extra int) (got int, full time.Duration, err error)
}

const (
	// leaseFor is how long tokens that were taken in advance are held without being used.
	leaseFor = time.Second
	// bankTimeout is how long a request waits for the bank.
	bankTimeout = 500 * time.Millisecond
	// refusedFor is how long a caller who was refused is refused without asking the bank, unless a quarter of its
	// tokens come back sooner. It is told to wait longer.
	refusedFor = 100 * time.Millisecond
)

// Shared is a Limiter for a caller's requests at all gateways that have the same bank. It takes tokens in advance for
// callers that send many requests: at most a tenth of the burst, and no more than come back while they are held unused.
// In any time, a caller's requests exceed its limit by no more than what each gateway holds. While the bank does not
// answer, each gateway counts alone. A Shared may be used concurrently.
type Shared struct {
	bank  Bank
	of    store.Tokens
	most  int           // tokens taken in advance
	pause time.Duration // after a refusal
	alone *Limiter
	away  *absence

	mu     sync.Mutex
	leases map[string]*lease
}

// lease is what one caller has taken and not used.
type lease struct {
	mu     sync.Mutex // also held while the bank is asked: other requests wait for what it gives
	tokens int
	extra  int       // how many are taken in advance
	used   time.Time // after leaseFor without use they are given up
	full   time.Time // when the bank has all tokens again, at the earliest
	again  time.Time // refused until then
}

// NewShared makes a limiter with a rate and a burst, both positive.
func NewShared(bank Bank, perSecond float64, burst int, log *slog.Logger) *Shared {
	every := max(1, time.Duration(float64(time.Second)/perSecond))
	return &Shared{
		bank: bank, of: store.Tokens{Every: every, Burst: burst}, leases: map[string]*lease{},
		most: min(burst/10, int(leaseFor/every)), pause: min(refusedFor, time.Duration(burst)*every/4),
		alone: NewLimiter(perSecond, burst), away: newAbsence("rates", log),
	}
}

// Allow reports whether the caller may make n requests now, and if not, when to retry. More than the burst is never allowed.
func (s *Shared) Allow(ctx context.Context, id string, n int, now time.Time) (ok bool, retryAfter time.Duration) {
	away, seen := s.away.check(now)
	if away || n > s.of.Burst {
		return s.alone.Allow(ctx, id, n, now)
	}
	l := s.lease(id, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.used) >= leaseFor {
		l.tokens = 0
		l.extra = 0
	}
	l.used = now
	need := n - l.tokens
	if need <= 0 {
		l.tokens -= n
		return true, 0
	}
	if wait := s.wait(l, need, now); wait > 0 {
		return false, wait
	}
	if until := s.away.until.Load(); until != 0 && until != seen { // found out while we waited for the lease
		return s.alone.Allow(ctx, id, n, now)
	}
	got, full, err := s.ask(ctx, id, need, l.extra)
	s.away.tell(err, now)
	if err != nil {
		return s.alone.Allow(ctx, id, n, now)
	}
	l.full = now.Add(full)
	if got < need {
		l.again = now.Add(s.pause)
		return false, s.wait(l, need, now)
	}
	if full > time.Duration(s.of.Burst-1)*s.of.Every { // it took the last: let some come back
		l.again = now.Add(s.pause / 5)
	}
	l.tokens = got - need
	l.extra = min(2*l.extra+1, s.most)
	return true, 0
}

// wait is how long the bank is known not to have so many tokens.
func (s *Shared) wait(l *lease, need int, now time.Time) time.Duration {
	enough := l.full.Add(-time.Duration(s.of.Burst-need) * s.of.Every)
	return max(enough.Sub(now), l.again.Sub(now))
}

// ask takes tokens. It does not end with its request: others may wait for what it takes in advance.
func (s *Shared) ask(ctx context.Context, id string, need, extra int) (got int, full time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bankTimeout)
	defer cancel()
	return s.bank.TakeTokens(ctx, id, s.of, need, extra)
}

// lease finds what a caller holds. Of too many callers some are forgotten, idle ones first.
func (s *Shared) lease(id string, now time.Time) *lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l == nil {
		makeRoom(s.leases, func(l *lease) bool { return l.idle(now) })
		l = &lease{}
		s.leases[id] = l
	}
	return l
}

func (l *lease) idle(now time.Time) bool {
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	return now.Sub(l.used) >= leaseFor && !l.full.After(now)
}
