package upstream

import (
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Retry makes a server be tried again at once, because what was missing may be there now.
func (p *Pool) Retry(id tool.ServerID) {
	s, err := p.server(id)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = 0
	s.retryAt = time.Time{}
	s.reason = nil
	for _, sess := range s.sessions {
		sess.outdated = !sess.isReady()
	}
}

// Restart ends a server's sessions and processes. It starts again when it is next needed.
func (p *Pool) Restart(id tool.ServerID) error {
	p.mu.Lock()
	old := p.servers[id]
	if old == nil {
		p.mu.Unlock()
		return fault.New(fault.NotFound, "there is no server %s", id)
	}
	fresh := newServer(p, old.cfg)
	fresh.trusted.Store(old.trusted.Load())
	old.mu.Lock()
	fresh.isolated, fresh.needs = old.isolated, old.needs
	old.mu.Unlock()
	p.servers[id] = fresh
	p.mu.Unlock()
	old.close()
	return nil
}

// Owners are those for whom sessions with a server are open.
func (p *Pool) Owners(id tool.ServerID) (owners []string) {
	s, err := p.server(id)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		if owner := sess.seat.owner; owner != "" && !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// EndOwner closes the sessions with a server that were opened for an owner; "" closes our own and the shared ones. Where
// callers have their own, ours may have been opened with the owner's token, and is closed, too.
func (p *Pool) EndOwner(id tool.ServerID, owner string) {
	s, err := p.server(id)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		if sess.seat.owner == owner || sess.seat.owner == "" && s.personal {
			s.remove(sess)
		}
	}
}
