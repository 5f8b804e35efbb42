package record

import (
	"math"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// pulseMinutes is how far back the pulse goes.
const pulseMinutes = 60

// Minute summarizes the calls that ended within one minute.
type Minute struct {
	At                     time.Time // its beginning
	Calls, Errors          int64
	TokensFull, TokensSent int64 // estimates
	P50, P95               time.Duration
}

// beat is a minute while calls are added to it.
type beat struct {
	Minute
	took [64]int32 // durations, by their logarithm
}

// pulse is a ring of the last minutes. It is part of live, whose lock guards it.
type pulse [pulseMinutes]beat

func (p *pulse) add(c *store.Call) {
	at := c.At.Add(c.Duration).Truncate(time.Minute)
	b := &p[at.Unix()/60%pulseMinutes]
	switch {
	case b.At.After(at):
		return // older than the ring
	case !b.At.Equal(at):
		*b = beat{Minute: Minute{At: at}}
	}
	b.Calls++
	if c.Level == "error" {
		b.Errors++
	}
	b.TokensFull += c.TokensFull
	b.TokensSent += c.TokensSent
	b.took[bucketOf(c.Duration)]++
}

// bucketOf returns a duration's bucket: two for each doubling, from 16 µs up.
func bucketOf(d time.Duration) int {
	return min(max(int(2*math.Log2(float64(max(d.Microseconds(), 1))/16)), 0), 63)
}

// quantile estimates a quantile of the durations.
func (b *beat) quantile(share float64) time.Duration {
	left := int64(math.Ceil(share * float64(b.Calls)))
	for i, n := range b.took {
		if left -= int64(n); left <= 0 {
			return time.Duration(16*math.Exp2((float64(i)+0.5)/2)) * time.Microsecond
		}
	}
	return 0
}

// Pulse counts the calls of each of the last 60 minutes, oldest first, as far as this process has seen them.
func (l *Log) Pulse() []Minute {
	now := l.opts.Now().Truncate(time.Minute)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	out := make([]Minute, pulseMinutes)
	for i := range out {
		at := now.Add(time.Duration(i-pulseMinutes+1) * time.Minute)
		out[i].At = at
		if b := &l.live.pulse[at.Unix()/60%pulseMinutes]; b.At.Equal(at) && b.Calls > 0 {
			out[i] = b.Minute
			out[i].P50 = b.quantile(0.5)
			out[i].P95 = b.quantile(0.95)
		}
	}
	return out
}
