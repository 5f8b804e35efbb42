package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
)

// ledger is one that answers as told.
type ledger func(ctx context.Context) error

func (l ledger) CountCall(ctx context.Context, _ []policy.Count) (over int, wait time.Duration, err error) {
	return -1, 0, l(ctx)
}

func TestWithoutItsLedgerAGatewayCountsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		asked := 0
		answer := func(ctx context.Context) error { return ctx.Err() }
		l := NewLimits(ledger(func(ctx context.Context) error { asked++; return answer(ctx) }), slog.New(slog.NewTextHandler(&said, nil)))
		counts := []policy.Count{{Key: "a", Most: 3, Per: time.Hour}, {Key: "b", Most: 100, Per: time.Hour}}
		count := func(ctx context.Context) bool {
			over, _ := l.Count(ctx, counts, time.Now())
			return over < 0
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if !count(canceled) || said.Len() > 0 {
			t.Errorf("a request that was canceled: %s", &said)
		}
		answer = func(context.Context) error { time.Sleep(2 * countTimeout); return nil } // whatever its context says
		began := time.Now()
		passed := 0
		for range 10 {
			if count(t.Context()) {
				passed++
			}
		}
		took := time.Since(began)
		time.Sleep(bankAgain)
		synctest.Wait()
		if passed != 3 || asked != 2 || took != countTimeout || len(l.alone["b"].Times) != 3 {
			t.Errorf("%d passed of 3, asked %d times, waited %s, counted %v", passed, asked, took, l.alone)
		}
		answer = func(context.Context) error { return nil }
		if !count(t.Context()) {
			t.Error("refused by a ledger that is back")
		}
		if n := strings.Count(said.String(), "\n"); n != 2 || !strings.Contains(said.String(), "limits of the policy are counted by each gateway alone") {
			t.Errorf("logged: %s", &said)
		}
	})
}

func TestAGatewayThatCountsAloneRemembersABoundedNumberOfCallers(t *testing.T) {
	l := NewLimits(ledger(func(context.Context) error { return errors.New("gone") }), nil)
	for i := range 2 * maxBuckets {
		l.Count(t.Context(), []policy.Count{{Key: fmt.Sprint(i), Most: 1, Per: time.Hour}}, time.Unix(1000, 0))
	}
	if n := len(l.alone); n > maxBuckets {
		t.Errorf("%d callers are kept", n)
	}
}
