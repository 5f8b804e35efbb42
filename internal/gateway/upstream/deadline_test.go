//go:build unix

package upstream

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		method: "tools/call", params: call.Params, from: call.From, name: call.Tool, peer: peer, clock: clock, buf: new(bytes.Buffer),
	})
	if err != nil || asked != 1 || still() {
		t.Errorf("asked %d times, the clock stands still: %v, %v", asked, still(), err)
	}
}
