package call

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// traced lets a spine trace its calls; spans ends that, and has them by name.
func traced(t *testing.T, c *Caller) (spans func() map[string][]*tracepb.Span) {
	var mu sync.Mutex
	got := map[string][]*tracepb.Span{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &data) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, span := range data.ResourceSpans[0].ScopeSpans[0].Spans {
			got[span.Name] = append(got[span.Name], span)
		}
	}))
	t.Cleanup(s.Close)
	tel, err := telemetry.New(config.Telemetry{Endpoint: s.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.opts.Trace = tel
	return func() map[string][]*tracepb.Span {
		tel.Close()
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

func TestTheSpanOfADetachedCallEndsWithTheCall(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	spans := traced(t, y.Caller)
	answered := time.Time{}
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		c.Slow.Slow(func(error) {})
		answered = time.Now()
		return textResult("done"), nil
	}
	if _, err := y.do(t.Context(), "s__act", NoTask, `{"n":"1"}`); err != nil {
		t.Fatal(err)
	}
	y.ended()
	all := spans()
	calls := all["execute_tool s__act"]
	if len(calls) != 1 || len(all["decide"]) != 1 || len(all["fit"]) != 1 || len(all["send"]) != 1 || len(all["project"]) != 1 {
		t.Fatalf("%v", all)
	}
	if calls[0].EndTimeUnixNano < uint64(answered.UnixNano()) || fmt.Sprintf("%x", calls[0].TraceId) != y.records[0].Trace {
		t.Errorf("%v, record of trace %s", calls[0], y.records[0].Trace)
	}
}

func TestACallThatIsTakenUpAgainIsLinkedToItsTrace(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	spans := traced(t, y.Caller)
	gone := waiting.New(y.store, &waiting.Options{Lease: 300 * time.Millisecond}) // nobody renews its leases
	y.Caller.opts.Waiting = gone
	release := make(chan struct{})
	first := make(chan struct{})
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		y.mu.Lock()
		n := len(y.sent)
		y.mu.Unlock()
		if n == 1 {
			c.Slow.Slow(func(error) {})
			<-release
		}
		return textResult("done"), nil
	}
	go func() {
		defer close(first)
		y.do(context.WithoutCancel(t.Context()), "s__look", NoTask, `{"n":1}`)
	}()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		y.mu.Lock()
		n := len(y.records)
		y.mu.Unlock()
		if n > 0 {
			break
		}
	}
	y.ended()
	close(release)
	<-first
	gone.Close()
	y.calls.Close() // the span ends after the record
	calls := spans()["execute_tool s__look"]
	if len(calls) != 2 {
		t.Fatalf("%v", calls)
	}
	again := calls[0]
	if len(again.Links) != 1 || string(again.Links[0].SpanId) != string(calls[1].SpanId) || fmt.Sprintf("%x", again.Links[0].TraceId) != y.records[0].Trace {
		t.Errorf("%v, record of trace %s", again, y.records[0].Trace)
	}
}
