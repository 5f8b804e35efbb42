package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// watchers hear of the changes of calls.
type watchers struct {
	mu sync.Mutex
	of map[string]map[*mcp.Session]func(store.Waiting) // by call
}

// add lets a session hear of a call.
func (s *watchers) add(id string, session *mcp.Session, hear func(store.Waiting)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[id] == nil {
		s.of[id] = map[*mcp.Session]func(store.Waiting){}
	}
	s.of[id][session] = hear
}

// forget takes a session out that has ended.
func (s *watchers) forget(session *mcp.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, sessions := range s.of {
		delete(sessions, session)
		if len(sessions) == 0 {
			delete(s.of, id)
		}
	}
}

// take are those who hear of a change of the call; after its last change nobody does.
func (s *watchers) take(w *store.Waiting) (found []func(store.Waiting)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hear := range s.of[w.ID] {
		found = append(found, hear)
	}
	if w.Ended() {
		delete(s.of, w.ID)
	}
	return found
}

// Watches tells whether a client is to hear of the changes of a waiting call.
func (s *Server) Watches(id string) bool {
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	return len(s.watchers.of[id]) > 0
}

// CallChanged tells clients of a change of a waiting call.
func (s *Server) CallChanged(w store.Waiting) {
	for _, hear := range s.watchers.take(&w) {
		hear(w)
	}
}

// watchTask lets a legacy session hear of its task.
func (v *visitor) watchTask(id string, session *mcp.Session) {
	if session == nil {
		return
	}
	v.server.watchers.add(id, session, func(w store.Waiting) {
		session.Notify(context.Background(), "notifications/tasks/status", legacyTask(&w))
	})
}

// followEvery is how often a stream looks at its calls: other replicas change them too.
const followEvery = 2 * time.Second

// watchTasks lets a modern client hear of those calls that are its own, and returns them.
func (v *visitor) watchTasks(ctx context.Context, session *mcp.Session, ids []string) (heard []string) {
	if v.server.opts.Waiting == nil {
		return nil
	}
	kick := make(chan struct{}, 1)
	seen := map[string]int64{} // the last version that was told
	for _, id := range ids {
		_, twice := seen[id]
		w, err := v.server.opts.Waiting.Get(ctx, v.principal.ID, id)
		if err != nil || twice {
			continue
		}
		heard = append(heard, id)
		seen[id] = w.Version - 1 // it hears at once how they are
		v.server.watchers.add(id, session, func(store.Waiting) {
			select {
			case kick <- struct{}{}:
			default:
			}
		})
	}
	if len(heard) > 0 {
		go v.followTasks(ctx, session, seen, kick)
	}
	return heard
}

// followTasks tells a session of the changes of its calls, until all have ended or ctx does.
func (v *visitor) followTasks(ctx context.Context, session *mcp.Session, seen map[string]int64, kick <-chan struct{}) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for len(seen) > 0 {
		for id, version := range seen {
			w, err := v.server.opts.Waiting.Get(ctx, v.principal.ID, id)
			if fault.Is(err, fault.NotFound) || err == nil && w.Ended() {
				delete(seen, id)
			}
			if err != nil || w.Version == version {
				continue
			}
			if !w.Ended() {
				seen[id] = w.Version
			}
			session.Notify(ctx, "notifications/tasks", append(v.appendDetails([]byte{'{'}, &w), '}'))
		}
		select {
		case <-kick:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
