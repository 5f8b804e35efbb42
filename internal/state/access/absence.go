package access

import (
	"cmp"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// bankAgain is how long a bank that failed is left alone.
const bankAgain = 5 * time.Second

// absence remembers that the bank, where gateways count together, does not answer.
type absence struct {
	until atomic.Int64 // it is not asked, in nanoseconds; 0: it answers
	what  string       // is counted
	log   *slog.Logger
}

func newAbsence(what string, log *slog.Logger) *absence {
	return &absence{what: what, log: cmp.Or(log, slog.New(slog.DiscardHandler))}
}

// check tells whether the bank is not to be asked, and until when as far as is known. Of all requests after that, one
// may try it.
func (a *absence) check(now time.Time) (away bool, until int64) {
	until = a.until.Load()
	if until == 0 {
		return false, 0
	}
	next := now.Add(bankAgain).UnixNano()
	return now.UnixNano() < until || !a.until.CompareAndSwap(until, next), next
}

// tell notes whether the bank has answered, and logs when that changes.
func (a *absence) tell(err error, now time.Time) {
	if err == nil {
		if a.until.Load() != 0 && a.until.Swap(0) != 0 {
			a.log.Info(a.what + " are counted together with the other gateways again")
		}
		return
	}
	if a.until.Swap(now.Add(bankAgain).UnixNano()) == 0 {
		a.log.Warn(a.what+" are counted by each gateway alone", "error", fault.As(err))
	}
}
