package upstream

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

// caller is on whose behalf a request is made. The zero caller is ourselves: lists,
// subscriptions, settings.
type caller struct {
	session string          // of the caller; "" for none
	asks    json.RawMessage // what the caller can be asked; nil for ourselves
	home    mcp.Peer        // the way to the caller outside its calls; nil: none
	modern  bool            // the caller is asked by answers, and only within its calls
}

// seat is which of a server's sessions a caller uses, and how that one is opened.
type seat struct {
	key  string          // "" is our own
	caps json.RawMessage // what we declare there
	home mcp.Peer        // the one caller it belongs to; nil when it is shared
}

// nothing is the capability of a client that cannot be asked anything.
var nothing = json.RawMessage("{}")

// seatOf gives a caller its session. A server that keeps state has one for each caller's
// session. Over HTTP a question comes with the call that it belongs to, so callers of equal
// abilities can share; over one pipe it does not, so a shared one declares nothing. The
// caller holds mu.
func (s *server) seatOf(c caller) seat {
	switch {
	case s.era == mcp.Modern && !(s.isolated && c.session != ""):
		return seat{caps: everything} // each request says who asks, so all can share
	case s.isolated && c.session != "":
		if c.asks == nil {
			c.asks = nothing
		}
		if c.modern && s.cfg.URL == "" {
			c.asks = mcp.Without(c.asks, "roots") // servers ask for them outside of calls
		}
		return seat{key: c.session, caps: c.asks, home: c.home}
	case c.asks == nil && (s.isolated || s.cfg.URL != ""):
		return seat{caps: everything}
	case s.cfg.URL != "":
		return seat{key: string(c.asks), caps: c.asks}
	}
	return seat{caps: nothing}
}

// maxSeats bounds the sessions with one server: a caller may name ever new sessions of its own.
const maxSeats = 1000

// makeSeat closes the session that has been idle for longest when there are too many. The
// caller holds mu.
func (s *server) makeSeat() error {
	if len(s.sessions) < maxSeats {
		return nil
	}
	var oldest *session
	for _, sess := range s.sessions {
		if sess.inflight == 0 && sess.isReady() && !sess.listen && (oldest == nil || sess.used.Before(oldest.used)) {
			oldest = sess
		}
	}
	if oldest == nil {
		return fault.New(fault.UpstreamBusy, "server %s has %d open sessions and all are in use", s.cfg.ID, len(s.sessions)).WithHint("try again later")
	}
	s.remove(oldest)
	return nil
}

// processes counts the server's processes and finds the one idle for longest.
func (s *server) processes() (n int, idle *session) {
	if s.cfg.Command == "" {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		n++
		if sess.inflight == 0 && sess.isReady() && (idle == nil || sess.used.Before(idle.used)) {
			idle = sess
		}
	}
	return n, idle
}
