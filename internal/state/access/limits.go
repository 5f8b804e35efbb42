package access

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/policy"
)

// Ledger has the calls that several gateways have counted.
type Ledger interface {
	CountCall(ctx context.Context, counts []policy.Count) (over int, wait time.Duration, err error)
}

// countTimeout is how long a call waits for the ledger.
const countTimeout = 3 * time.Second

// Limits counts calls for the limits of the policy, at all gateways that have the same ledger. While it does not answer,
// each gateway counts alone, and begins with nothing. Limits may be used concurrently.
type Limits struct {
	ledger Ledger
	away   *absence

	mu    sync.Mutex
	alone map[string]policy.Counted
}

// NewLimits makes limits; the logger may be nil.
func NewLimits(ledger Ledger, log *slog.Logger) *Limits {
	return &Limits{ledger: ledger, away: newAbsence("limits of the policy", log), alone: map[string]policy.Counted{}}
}

// Count counts a call for each limit, or for none if one is reached: then it returns the one with the longest wait. Else over
// is -1.
func (l *Limits) Count(ctx context.Context, counts []policy.Count, now time.Time) (over int, wait time.Duration) {
	if away, _ := l.away.check(now); away {
		return l.countAlone(counts, now)
	}
	over, wait, err := l.ask(ctx, counts)
	if err != nil {
		l.away.tell(err, now.Add(countTimeout))
		return l.countAlone(counts, now)
	}
	l.away.tell(nil, now)
	return over, wait
}

var errSilent = fault.New(fault.StoreDown, "the store does not answer in time")

// ask asks the ledger. It does not end with its request: one that is canceled says nothing about the ledger. And it does not
// rely on the ledger to end in time: SQLite waits for locks of other programs as long as it was told to.
func (l *Limits) ask(ctx context.Context, counts []policy.Count) (over int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	type answer struct {
		over int
		wait time.Duration
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		over, wait, err := l.ledger.CountCall(ctx, counts)
		answered <- answer{over, wait, err}
	}()
	select {
	case a := <-answered:
		return a.over, a.wait, a.err
	case <-ctx.Done():
		return 0, 0, errSilent
	}
}

func (l *Limits) countAlone(counts []policy.Count, now time.Time) (over int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	makeRoom(l.alone, func(h policy.Counted) bool { return h.Until <= now.UnixNano() })
	held := make([]policy.Counted, len(counts))
	for i := range counts {
		held[i] = l.alone[counts[i].Key]
	}
	over, wait = policy.CountCall(counts, held, now.UnixNano())
	for i := range counts {
		if over < 0 {
			l.alone[counts[i].Key] = held[i]
		}
	}
	return over, wait
}
