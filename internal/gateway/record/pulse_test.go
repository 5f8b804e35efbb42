package record

import (
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestPulseSumsUpTheLastHour(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 30, 0, time.UTC)
	l := &Log{opts: Options{Now: func() time.Time { return now }}}
	add := func(ago, took time.Duration, level string) {
		l.live.pulse.add(&store.Call{At: now.Add(-ago - took), Duration: took, Level: level, TokensFull: 100, TokensSent: 10})
	}
	for range 99 {
		add(0, time.Millisecond, "info")
	}
	add(0, time.Second, "error")
	add(time.Minute, time.Millisecond, "warn")
	add(61*time.Minute, time.Millisecond, "error") // too late for the ring
	p := l.Pulse()
	last := p[len(p)-1]
	if len(p) != 60 || last.Calls != 100 || last.Errors != 1 || last.TokensFull != 10_000 || last.TokensSent != 1000 {
		t.Errorf("%d minutes, the last %+v", len(p), last)
	}
	if last.P50 < 800*time.Microsecond || last.P50 > 1500*time.Microsecond || last.P95 > 1500*time.Microsecond {
		t.Errorf("p50 %s, p95 %s", last.P50, last.P95)
	}
	if p[58].Calls != 1 || p[58].Errors != 0 || p[0].Calls != 0 || !p[0].At.Equal(now.Add(-59*time.Minute).Truncate(time.Minute)) {
		t.Errorf("%+v, %+v", p[58], p[0])
	}
}

func TestPulseTakesAnyDuration(t *testing.T) {
	var p pulse
	for _, d := range []time.Duration{-time.Hour, 0, 1, time.Hour, 1 << 62} {
		p.add(&store.Call{At: time.Unix(6000, 0), Duration: d})
	}
}
