package upstream

import (
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// State is the state of a server.
type State string

const (
	Idle     State = "idle"     // not running; starts when needed
	Starting State = "starting" // being started
	Up       State = "up"       // ready
	Down     State = "down"     // the last start or session failed
)

// Status is a server's current status.
type Status struct {
	ID       tool.ServerID
	Kind     string // stdio, http or builtin
	State    State
	Reason   string // why it is down; "" otherwise
	Since    time.Time
	Sessions int
	Queued   int      // calls that wait for their turn
	Paused   bool     // calls are refused after too many failed ones
	Sandbox  string   // how its sandbox is enforced; "" without one
	Stderr   []string // the last lines that it wrote
	Said     string   // the line that most likely says what went wrong
}

// Status returns the status of each server, in configuration order.
func (p *Pool) Status() []Status {
	var all []Status
	for _, s := range p.all() {
		all = append(all, s.status())
	}
	return all
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		ID: s.cfg.ID, Kind: s.kind(), State: Idle, Since: s.since, Sessions: len(s.sessions),
		Sandbox: sandboxOf(s.cfg), Stderr: s.tail.all(), Said: s.tail.last(),
	}
	var why error
	if st.Queued, st.Paused, why = s.gate.state(); st.Paused {
		st.State = Down
		st.Reason = s.pool.opts.Redact(why.Error())
		return st
	}
	for _, sess := range s.sessions {
		if !sess.isReady() {
			st.State = Starting
			continue
		}
		st.State = Up
		return st
	}
	if st.State == Idle && s.reason != nil {
		st.State = Down
		st.Reason = s.pool.opts.Redact(s.reason.Error())
	}
	return st
}

func (s *server) kind() string {
	switch {
	case s.cfg.Builtin != "":
		return "builtin"
	case s.cfg.API != nil:
		return "api"
	case s.cfg.URL != "":
		return "http"
	case s.cfg.Command == "": // a placeholder that was never filled in
		return ""
	}
	return "stdio"
}
