package store

import "sync/atomic"

// growth counts what was added to a part of the store since it was last measured, which is slow.
type growth struct {
	bytes, room, limit atomic.Int64
	due                chan struct{} // shared by all parts
}

// add counts, and signals when it is time to measure.
func (g *growth) add(n int) {
	if g.bytes.Add(int64(n)) > g.room.Load() {
		select {
		case g.due <- struct{}{}:
		default: // it was said already
		}
	}
}

// look tells whether it is time to measure, and then starts to count anew: after a fiftieth of the
// limit was added, or when the limit has changed.
func (g *growth) look(limit int64) bool {
	if g.limit.Swap(limit) == limit && g.bytes.Load() <= g.room.Load() {
		return false
	}
	g.bytes.Store(0)
	g.room.Store(limit / 50)
	return true
}

// TrimDue receives when so much was added that the store should be trimmed early.
func (s *Store) TrimDue() <-chan struct{} { return s.recordsGrown.due }

// size is about what the record of a call takes.
func (c *Call) size() int {
	n := 300 + len(c.Message) + len(c.Repairs) + len(c.ID) + len(c.Principal) + len(c.Session) + len(c.Tool) + len(c.Upstream)
	if c.Arguments != nil {
		n += len(c.Arguments.Sent) + len(c.Arguments.Fitted)
	}
	return n
}
