package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// vault is a bank in memory.
type vault struct {
	mu    sync.Mutex
	full  map[string]time.Time
	now   func() time.Time
	asked int
	err   error
	hangs bool
}

func newVault(now func() time.Time) *vault { return &vault{full: map[string]time.Time{}, now: now} }

func (v *vault) TakeTokens(
	ctx context.Context, caller string, of store.Tokens, need, extra int,
) (got int, full time.Duration, err error) {
	if v.hangs {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	now := v.now()
	start := v.full[caller]
	if start.Before(now) {
		start = now
	}
	has := of.Burst - int((start.Sub(now)+of.Every-1)/of.Every)
	if v.err == nil && has >= need {
		got = need + min(extra, (has-need)/4)
	}
	v.full[caller] = start.Add(time.Duration(got) * of.Every)
	return got, v.full[caller].Sub(now), v.err
}

// team are several gateways with one bank and one clock.
type team struct {
	*vault
	at  time.Time
	all []*Shared
}

func newTeam(n int, perSecond float64, burst int) *team {
	t := &team{at: time.Unix(1000, 0)}
	t.vault = newVault(func() time.Time { return t.at })
	for range n {
		t.all = append(t.all, NewShared(t.vault, perSecond, burst, nil))
	}
	return t
}

func (t *team) allow(gateway int, id string, n int) bool {
	ok, _ := t.all[gateway%len(t.all)].Allow(context.Background(), id, n, t.at)
	return ok
}

func TestGatewaysTogetherKeepToTheRate(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		burst int
	}{{50, 100}, {50, 10}, {1000, 2000}, {10, 500}, {1, 1}, {100.0 / 3600, 100}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			team := newTeam(3, c.rate, c.burst)
			random := rand.New(rand.NewPCG(1, 2))
			passed, tried := 0, 0
			from := team.at
			for team.at.Sub(from) < 60*time.Second {
				team.at = team.at.Add(time.Duration(random.Float64() * float64(time.Second) / c.rate / 2)) // four times the rate
				tried++
				if team.allow(random.IntN(3), "a", 1) {
					passed++
				}
			}
			limit := float64(c.burst) + 60*c.rate
			if float64(passed) > limit || float64(passed) < 0.85*limit-3*float64(team.all[0].most) && passed < tried {
				t.Errorf("%d of %d pass in a minute, the limit is %.1f", passed, tried, limit)
			}
			t.Logf("%d of %d passed, the limit is %.1f; %.2f statements for one that passed", passed, tried, limit, float64(team.asked)/float64(passed))
		})
	}
}

func TestInNoTimeMoreThanTheLimitAndWhatIsHeldPass(t *testing.T) {
	const rate, burst = 50, 100
	team := newTeam(3, rate, burst)
	random := rand.New(rand.NewPCG(3, 4))
	var times []time.Time
	for range 20_000 {
		pause := random.Float64() * 0.02
		if random.IntN(500) == 0 {
			pause = random.Float64() * 3
		}
		team.at = team.at.Add(time.Duration(pause * float64(time.Second)))
		if team.allow(random.IntN(3), "a", 1) {
			times = append(times, team.at)
		}
	}
	most := 3 * team.all[0].most
	for i := range times {
		for _, n := range []int{1, burst, 2 * burst, 10 * burst, 50 * burst} {
			if i+n > len(times) {
				continue
			}
			span := times[i+n-1].Sub(times[i]).Seconds()
			if limit := burst + span*rate + float64(most) + 1; float64(n) > limit {
				t.Fatalf("%d pass in %.3f s, the limit is %.1f with what is held", n, span, limit)
			}
		}
	}
}

func TestACallerWithinItsRateIsNeverRefusedAndSeldomCounted(t *testing.T) {
	for _, share := range []float64{0.01, 0.1, 0.5, 0.9} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			team := newTeam(3, 50, 100)
			n := int(50 * share * 120)
			for i := range n {
				team.at = team.at.Add(time.Duration(float64(time.Second) / 50 / share))
				if !team.allow(i, "a", 1) {
					t.Fatalf("request %d is refused", i)
				}
			}
			per := float64(team.asked) / float64(n)
			t.Logf("%.3f statements for a request", per)
			if share >= 0.1 && per > 0.15 {
				t.Errorf("%.2f statements for a request", per)
			}
		})
	}
}

// TestTokensAtAnotherGatewayAreNotMissed: of callers who come in bursts, and always to another gateway.
func TestTokensAtAnotherGatewayAreNotMissed(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		team := newTeam(3, 10, 20)
		for range 200 {
			n := 1 + random.IntN(14)
			for i := range n {
				if !team.allow(random.IntN(3), "a", 1) {
					t.Fatalf("request %d of a burst of %d is refused", i+1, n)
				}
			}
			team.at = team.at.Add(time.Duration(n)*100*time.Millisecond + time.Second)
		}
	}
	slow := newTeam(3, 100.0/3600, 100) // hardly any come back
	for i := range 100 {
		if !slow.allow(i, "a", 1) {
			t.Fatalf("request %d of 100 is refused", i+1)
		}
		slow.at = slow.at.Add(time.Duration(i%3) * 400 * time.Millisecond)
	}
}

func TestARefusedCallerIsToldWhenAndCostsLittle(t *testing.T) {
	team := newTeam(1, 10, 10)
	for range 10 {
		team.allow(0, "a", 1)
	}
	asked := team.asked
	ok, wait := team.all[0].Allow(t.Context(), "a", 1, team.at)
	if ok || wait != 100*time.Millisecond {
		t.Errorf("after the burst: %v, again in %v", ok, wait)
	}
	if ok, wait := team.all[0].Allow(t.Context(), "a", 5, team.at); ok || wait != 500*time.Millisecond {
		t.Errorf("a batch: %v, again in %v", ok, wait)
	}
	for range 1000 {
		team.allow(0, "a", 1)
	}
	if ok, _ := team.all[0].Allow(t.Context(), "a", 11, team.at.Add(time.Hour)); ok {
		t.Error("more than the burst pass")
	}
	if team.asked-asked > 1 {
		t.Errorf("the bank was asked %d times for refusals", team.asked-asked)
	}
	team.at = team.at.Add(wait)
	if !team.allow(0, "a", 1) {
		t.Error("it does not pass at the time that it was told")
	}
}

func TestWithoutItsBankAGatewayCountsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault(time.Now)
		var said bytes.Buffer
		s := NewShared(v, 10, 20, slog.New(slog.NewTextHandler(&said, nil)))
		v.err = errors.New("gone")
		passed := 0
		for range 40 {
			if ok, _ := s.Allow(t.Context(), "a", 1, time.Now()); ok {
				passed++
			}
		}
		if passed != 20 || v.asked != 1 {
			t.Errorf("%d pass of a burst of 20, the bank was asked %d times", passed, v.asked)
		}
		v.hangs = true
		time.Sleep(bankAgain)
		began := time.Now()
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { s.Allow(t.Context(), fmt.Sprint("caller ", i), 1, began) })
		}
		all.Wait()
		if took := time.Since(began); took > bankTimeout {
			t.Errorf("100 callers waited %s", took)
		}
		v.hangs = false
		v.err = nil
		time.Sleep(bankAgain)
		if ok, _ := s.Allow(t.Context(), "b", 1, time.Now()); !ok {
			t.Error("refused by a bank that is back")
		}
		if n := strings.Count(said.String(), "\n"); n != 2 || !strings.Contains(said.String(), "together") {
			t.Errorf("logged: %s", &said)
		}
	})
}

func TestRequestsAtOnceShareWhatIsTaken(t *testing.T) {
	v := newVault(func() time.Time { return time.Unix(1000, 0) })
	s := NewShared(v, 100, 1000, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	passed := 0
	for range 16 {
		all.Go(func() {
			for range 100 {
				if ok, _ := s.Allow(t.Context(), "a", 1, time.Unix(1000, 0)); ok {
					mu.Lock()
					passed++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if passed < 990 || passed > 1000 || v.asked > 100 {
		t.Errorf("%d pass of 1000, the bank was asked %d times", passed, v.asked)
	}
}

func TestASharedLimiterRemembersABoundedNumberOfCallers(t *testing.T) {
	team := newTeam(1, 1, 2)
	for i := range 2 * maxBuckets {
		team.allow(0, fmt.Sprint(i), 1)
	}
	if n := len(team.all[0].leases); n > maxBuckets {
		t.Errorf("%d callers are kept", n)
	}
}

func BenchmarkAllow(b *testing.B) {
	now := time.Unix(1000, 0)
	v := newVault(func() time.Time { return now })
	for name, l := range map[string]interface {
		Allow(ctx context.Context, id string, n int, now time.Time) (bool, time.Duration)
	}{"alone": NewLimiter(1e6, 1e6), "shared": NewShared(v, 1e6, 1e6, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Microsecond)
				l.Allow(b.Context(), "a", 1, now)
			}
		})
	}
}
