//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

func TestDeadlineEndsACallAfterTheTimeThatItRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, clock := startDeadline(t.Context(), time.Second, nil, 0)
		defer clock.stop()
		time.Sleep(600 * time.Millisecond) // of the test's own time, here and below
		clock.asked()
		time.Sleep(5 * time.Minute) // the person
		clock.answered()
		time.Sleep(399 * time.Millisecond)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("it counts the time that a person took")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("it forgets the time before the question")
		}
	})
}

// slowly is a Slower that counts.
type slowly struct {
	mu       sync.Mutex
	at       []time.Time
	detaches bool
	is       bool
}

func (s *slowly) Slow(context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	s.is = s.detaches
	return s.detaches
}

func (s *slowly) Detached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is
}

// TestASlowCallIsToldOnce holds when that is, and when the call ends then. The caller is asked for five minutes, after 10 s.
func TestASlowCallIsToldOnce(t *testing.T) {
	const thinks = 5 * time.Minute
	for _, c := range []struct {
		name         string
		limit, after time.Duration
		detaches     bool
		told, ends   time.Duration // told 0: never
	}{
		{"an ordinary call ends after a minute", 0, 0, true, 0, time.Minute},
		{"one that can detach has an hour", 0, 50 * time.Second, true, 50 * time.Second, time.Hour},
		{"if it could not, a minute", 0, 50 * time.Second, false, 50 * time.Second, time.Minute},
		{"or none at all", 0, 90 * time.Second, false, 90 * time.Second, 90 * time.Second},
		{"a configured timeout ends it", 2 * time.Minute, 50 * time.Second, true, 50 * time.Second, 2 * time.Minute},
		{"even if it could not detach", 2 * time.Minute, 50 * time.Second, false, 50 * time.Second, 2 * time.Minute},
		{"or before it is slow", 30 * time.Second, 50 * time.Second, true, 0, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowly{detaches: c.detaches}
				began := time.Now()
				ctx, clock := startDeadline(t.Context(), c.limit, s, c.after)
				defer clock.stop()
				time.Sleep(10 * time.Second)
				clock.asked()
				time.Sleep(thinks)
				clock.answered()
				<-ctx.Done()
				if ran := time.Since(began) - thinks; ran != c.ends {
					t.Errorf("it ended after %s, want %s", ran, c.ends)
				}
				if c.limit == 0 && clock.allowed() != c.ends && c.after < time.Minute {
					t.Errorf("it says %s", clock.allowed())
				}
				synctest.Wait()
				switch {
				case c.told == 0 && len(s.at) != 0, c.told != 0 && len(s.at) != 1:
					t.Errorf("told %d times", len(s.at))
				case c.told != 0 && s.at[0].Sub(began)-thinks != c.told:
					t.Errorf("told after %s", s.at[0].Sub(began)-thinks)
				}
			})
		})
	}
}

// TestACallThatIsHurriedIsToldEarlierAndEndsAsBefore: nothing is told while the caller is asked.
func TestACallThatIsHurriedIsToldEarlierAndEndsAsBefore(t *testing.T) {
	for detaches, ends := range map[bool]time.Duration{true: time.Hour, false: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowly{detaches: detaches}
			began := time.Now()
			ctx, clock := startDeadline(t.Context(), 0, s, 50*time.Second)
			defer clock.stop()
			p := &Pool{}
			p.Hurry(0)
			p.open.add(clock)
			clock.asked()
			time.Sleep(10 * time.Second)
			p.Hurry(0)
			time.Sleep(10 * time.Second)
			clock.answered()
			time.Sleep(10 * time.Second)
			if len(s.at) > 0 {
				t.Error("told while the caller was asked")
			}
			p.Hurry(31 * time.Second)
			synctest.Wait()
			if len(s.at) > 0 {
				t.Error("told before its time")
			}
			p.Hurry(30 * time.Second)
			synctest.Wait()
			p.Hurry(0)
			<-ctx.Done()
			if ran := time.Since(began) - 20*time.Second; ran != ends || len(s.at) != 1 || s.at[0].Sub(began) != 30*time.Second {
				t.Errorf("it ended after %s, told at %v", ran, s.at)
			}
			p.open.remove(clock)
			if len(p.open.all) != 0 {
				t.Error("not forgotten")
			}
		})
	}
}

// TestSlowMayBeLateAndTheCallerAskedMeanwhile holds the limits while Slow itself takes its time.
func TestSlowMayBeLateAndTheCallerAskedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, clock := startDeadline(t.Context(), 0, hesitant{5 * time.Second}, 50*time.Second)
		defer clock.stop()
		time.Sleep(52 * time.Second)
		clock.due() // as a timer does that ended while it was set again
		clock.asked()
		clock.due()
		time.Sleep(time.Minute)
		clock.answered()
		<-ctx.Done()
		if ran := time.Since(began); ran != 2*time.Minute {
			t.Errorf("it ended after %s", ran)
		}
	})
}

type hesitant struct{ time.Duration }

func (h hesitant) Slow(context.CancelCauseFunc) bool { time.Sleep(h.Duration); return false }
func (h hesitant) Detached() bool                    { return false }

// TestADetachedCallsQuestionComesBack holds that a client that no longer waits is not asked.
func TestADetachedCallsQuestionComesBack(t *testing.T) {
	t.Parallel()
	web := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		writeJSON(w, m.ID, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Who?"}}}}`)
	})
	p, _ := newPool(t, nil, web.config())
	peer := asking{ask: func(string, string) (string, error) { t.Error("the client is asked"); return "", nil }}
	out, err := p.Call(t.Context(), Call{Server: "new", Tool: "x", Params: json.RawMessage(`{"name":"x"}`), From: able, Peer: peer, Slow: &slowly{is: true}})
	if err != nil || out.Kind != InputRequired || !strings.Contains(string(out.Raw), "[server new] Who?") {
		t.Errorf("%+v, %v", out, err)
	}
}

// ender cancels a call as soon as it is detached.
type ender struct{ why error }

func (e ender) Slow(cancel context.CancelCauseFunc) bool {
	cancel(e.why)
	return true
}

func (ender) Detached() bool { return true }

// TestADetachedCallThatIsCanceledIsNotLate holds that the server is not blamed for it.
func TestADetachedCallThatIsCanceledIsNotLate(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "plain"))
	_, err := p.Call(t.Context(), Call{
		Server: "bad", Tool: "never", Params: json.RawMessage(`{"name":"never"}`), Slow: ender{errors.New("enough")}, SlowAfter: time.Millisecond,
	})
	wantFault(t, err, fault.Canceled, "the call was canceled")
}

// TestClockStandsStillWhileTheCallerIsAsked holds that a person may be slower than the
// server's limit.
func TestClockStandsStillWhileTheCallerIsAsked(t *testing.T) {
	t.Parallel()
	web := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		if strings.Contains(string(m.Params), "inputResponses") {
			writeJSON(w, m.ID, `{"resultType":"complete"}`)
			return
		}
		writeJSON(w, m.ID, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`)
	})
	p, _ := newPool(t, nil, web.config())
	s, err := p.server("new")
	if err != nil {
		t.Fatal(err)
	}
	ctx, clock := startDeadline(t.Context(), patience, nil, 0)
	defer clock.stop()
	still := func() bool {
		clock.mu.Lock()
		defer clock.mu.Unlock()
		return clock.open == 1
	}
	asked := 0
	peer := asking{ask: func(string, string) (string, error) {
		if asked++; !still() {
			t.Error("the clock runs while a person thinks")
		}
		return `{"roots":[]}`, nil
	}}
	call := Call{Server: "new", Tool: "x", Params: json.RawMessage(`{"name":"x"}`), From: able}
	_, err = s.converse(ctx, call.caller(), outgoing{
		method: "tools/call", params: call.Params, from: call.From, name: call.Tool, peer: peer, clock: clock, buf: new(buffer),
	})
	if err != nil || asked != 1 || still() {
		t.Errorf("asked %d times, the clock stands still: %v, %v", asked, still(), err)
	}
}
