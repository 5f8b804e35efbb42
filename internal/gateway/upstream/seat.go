package upstream

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/mcp"
)

// caller is who a request is made for. The zero caller is the gateway itself: lists, subscriptions, settings.
type caller struct {
	owner   string          // the principal; "" for ourselves
	session string          // of the caller; "" for none
	asks    json.RawMessage // what the caller can be asked; nil for ourselves
	home    mcp.Peer        // reaches the caller outside of calls; may be nil
	modern  bool            // a modern caller: it is asked by results, only during calls
	passed  bool            // another replica has passed the request on, which is done once
}

// seat is which of a server's sessions a caller uses, and how that one is opened.
type seat struct {
	key   string          // "" is our own
	owner string          // who it was opened for; "": it is shared
	first string          // who opened it, if it is shared by those with equal capabilities; it counts for them
	caps  json.RawMessage // the capabilities that we declare
	home  mcp.Peer        // the one caller it belongs to; nil: it is shared

	kept   bool // which replica has it is in the store
	passed bool // it is opened for another replica
}

// nothing is the capabilities of a client that cannot be asked anything.
var nothing = json.RawMessage("{}")

// seatOf picks the session for a caller. One that is opened with a caller's own token is that caller's alone.
// The caller holds mu.
func (s *server) seatOf(c caller) seat {
	seat := s.sharedSeat(c)
	if s.personal && seat.owner == "" && c.owner != "" {
		seat.owner = c.owner
		seat.key = c.owner + " " + seat.key
	}
	return seat
}

// sharedSeat picks the session for a caller, among those of all callers. A server that holds state has one per session of the
// caller. Over HTTP questions come with their call, so callers with equal capabilities share one;
// over a pipe they do not, so a shared one declares none. The caller holds mu.
func (s *server) sharedSeat(c caller) seat {
	switch {
	case s.era == mcp.Modern && !(s.isolated && c.session != "") && !c.passed:
		return seat{caps: everything} // each request names its client, so all can share
	case s.isolated && c.session != "" || c.passed:
		if c.asks == nil {
			c.asks = nothing
		}
		if c.modern && s.cfg.URL == "" {
			c.asks = mcp.Without(c.asks, "roots") // servers ask for them outside of calls
		}
		kept := s.pool.opts.Seats != nil && s.cfg.API == nil
		return seat{key: c.session, owner: c.owner, caps: c.asks, home: c.home, kept: kept, passed: c.passed}
	case c.asks == nil && (s.isolated || s.cfg.URL != ""):
		return seat{caps: everything}
	case s.cfg.URL != "":
		return seat{key: string(c.asks), first: c.owner, caps: c.asks}
	}
	return seat{caps: shared}
}

// maxSeats limits the sessions with one server: a caller may keep naming new sessions.
const maxSeats = 1000

// makeSeat closes the session idle for longest if there are too many, or one of the owner's if it has its share. The caller holds mu.
func (s *server) makeSeat(owner string) error {
	all := s.count("", sparable, false)
	own := tally{}
	if owner != "" {
		own = s.count(owner, sparable, false)
	}
	switch {
	case own.n >= share.Of(maxSeats):
		all = own
	case all.n < maxSeats:
		return nil
	}
	if all.idle == nil {
		return fault.New(fault.UpstreamBusy, "server %s has %d open sessions and all are in use", s.cfg.ID, all.n).WithHint("try again later")
	}
	s.remove(all.idle)
	return nil
}

// tally is how many sessions there are, and which of them can be closed first.
type tally struct {
	n    int
	idle *session // idle for longest; nil: none
}

// count counts the sessions of an owner, "" for all, or only those here. The caller holds mu.
func (s *server) count(owner string, mayEnd func(*session) bool, here bool) (t tally) {
	for _, sess := range s.sessions {
		if owner != "" && sess.seat.owner != owner && sess.seat.first != owner || here && sess.isReady() && sess.away != "" {
			continue
		}
		t.n++
		if sess.inflight == 0 && sess.isReady() && mayEnd(sess) && (t.idle == nil || sess.used.Before(t.idle.used)) {
			t.idle = sess
		}
	}
	return t
}

// sparable tells whether an idle session can be closed without loss.
func sparable(sess *session) bool { return !sess.listen }

// processes counts the server's processes, those of an owner or, for "", all.
func (s *server) processes(owner string) tally {
	if s.cfg.Command == "" {
		return tally{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(owner, func(*session) bool { return true }, true)
}

// makeRoom closes the process idle for longest at the limit, or one of the owner's at its share. The one about to start counts.
func (p *Pool) makeRoom(owner string) error {
	own := tally{}
	if owner != "" {
		own = p.processes(owner)
	}
	if most := share.Of(p.opts.MaxProcesses); own.n > most {
		if own.idle == nil {
			return fault.New(fault.UpstreamBusy, "you have %d running server processes, and all are busy", own.n-1).
				WithHint("try again later, use fewer sessions at once, or raise limits.processes")
		}
		own.idle.server.dropIdle(own.idle)
		return nil
	}
	all := p.processes("")
	switch {
	case all.n <= p.opts.MaxProcesses:
		return nil
	case all.idle == nil:
		return fault.New(fault.UpstreamBusy, "%d server processes are running and all are busy", all.n-1).
			WithHint("try again later, or raise limits.processes")
	}
	all.idle.server.dropIdle(all.idle)
	return nil
}

// processes counts the processes of an owner, "" for all.
func (p *Pool) processes(owner string) (all tally) {
	for _, s := range p.all() {
		t := s.processes(owner)
		all.n += t.n
		if t.idle != nil && (all.idle == nil || t.idle.used.Before(all.idle.used)) {
			all.idle = t.idle
		}
	}
	return all
}
