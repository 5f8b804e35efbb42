package record

import (
	"sync"

	"github.com/toolfit/toolfit/internal/state/store"
)

// outcomeGap marks an event that stands for lost ones; no record has it.
const outcomeGap = "gap"

// live holds the last records and the subscribers.
type live struct {
	mu     sync.Mutex
	last   []store.Call // a ring
	added  int          // how many records there ever were
	subs   map[*subscriber]struct{}
	others heard
	closed bool
}

type subscriber struct {
	ch   chan store.Call
	lost int64 // records lost since its last event
}

// Last returns up to n of the last records, newest first. In durable mode only committed ones count.
func (l *Log) Last(n int) []store.Call {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	n = max(0, min(n, l.live.added, len(l.live.last)))
	out := make([]store.Call, n)
	for i := range out {
		out[i] = l.live.last[(l.live.added-1-i)%len(l.live.last)]
	}
	return out
}

// Subscribe returns a channel that gets every record from now on, and a function that ends it; both
// that and Close close the channel. If the buffer is full, records are lost: before the next
// record, or after Drained, comes an event for which Lost returns their number.
func (l *Log) Subscribe(buffer int) (<-chan store.Call, func()) {
	s := &subscriber{ch: make(chan store.Call, max(buffer, 2))} // a gap and a record must fit
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.live.closed {
		close(s.ch)
		return s.ch, func() {}
	}
	if l.live.subs == nil {
		l.live.subs = make(map[*subscriber]struct{})
	}
	l.live.subs[s] = struct{}{}
	return s.ch, func() { l.live.remove(s) }
}

// Drained is called by a subscriber that has read everything: lost records are reported at once instead of before the next record.
func (l *Log) Drained(ch <-chan store.Call) {
	if len(ch) > 0 {
		return
	}
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	for s := range l.live.subs {
		if s.ch == ch && s.lost > 0 && len(ch) == 0 {
			s.ch <- gapOf(s.lost)
			s.lost = 0
		}
	}
}

// Lost tells whether an event of Subscribe is a gap, and how many records are missing.
func Lost(c store.Call) (n int64, gap bool) {
	if c.Outcome != outcomeGap || c.ID != "" {
		return 0, false
	}
	return c.BytesFull, true
}

func gapOf(n int64) store.Call {
	return store.Call{Outcome: outcomeGap, BytesFull: n}
}

func (v *live) publish(c *store.Call) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last[v.added%len(v.last)] = *c
	v.added++
	for s := range v.subs {
		s.send(c)
	}
}

// send is the only sender, so room seen here stays. A gap and the record after it are sent together or not at all.
func (s *subscriber) send(c *store.Call) {
	room := cap(s.ch) - len(s.ch)
	switch {
	case s.lost == 0 && room >= 1:
		s.ch <- *c
	case s.lost > 0 && room >= 2:
		s.ch <- gapOf(s.lost)
		s.ch <- *c
		s.lost = 0
	default:
		s.lost++
	}
}

func (v *live) remove(s *subscriber) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.subs[s]; ok {
		delete(v.subs, s)
		close(s.ch)
	}
}

func (v *live) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for s := range v.subs {
		close(s.ch)
	}
	v.subs = nil
}
