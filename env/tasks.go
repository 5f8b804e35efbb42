package env

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/mcp"
)

// maxTasks limits the tasks that a server keeps. No session may have more than its share, and neither
// may the modern clients together.
const maxTasks = 1000

// tasks are the tasks of a server, in memory.
type tasks struct {
	ttl time.Duration

	mu     sync.Mutex
	byID   map[string]*task
	closed bool
}

func newTasks(ttl time.Duration) *tasks { return &tasks{ttl: ttl, byID: map[string]*task{}} }

// add makes a task for the request. Its context has the values of the request's, and ends with it.
func (s *tasks) add(ctx context.Context, req *mcp.Request, ttl time.Duration) (*task, error) {
	now := time.Now()
	t := &task{
		id: rand.Text(), owner: req.Session, can: bytes.Clone(req.Speaker().Capabilities),
		created: now, updated: now, ttl: ttl, status: taskWorking, modified: make(chan struct{}),
	}
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.ctx = context.WithValue(ctx, conversationKey{}, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	held := 0
	for _, other := range s.byID {
		if other.owner == t.owner {
			held++
		}
	}
	switch {
	case s.closed:
		return nil, mcp.Errorf(mcp.CodeInternal, "the server is closing")
	case len(s.byID) >= maxTasks || held >= share.Of(maxTasks):
		return nil, mcp.Errorf(mcp.CodeInternal, "there are too many tasks: each is kept for %s", s.ttl)
	}
	s.byID[t.id] = t
	t.expiry = time.AfterFunc(ttl, func() { s.remove(t) })
	return t, nil
}

// get returns a task; nil when there is none, or it belongs to another session.
func (s *tasks) get(id string, owner *mcp.Session) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byID[id]
	if t == nil || t.owner != owner {
		return nil
	}
	return t
}

// of returns the tasks of a session, the oldest first.
func (s *tasks) of(owner *mcp.Session) (all []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.byID {
		if t.owner == owner {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *task) int { return a.created.Compare(b.created) })
	return all
}

// listen lets a modern client's stream hear of the tasks that it names, and returns those that there
// are.
func (s *tasks) listen(stream *mcp.Session, ids []string) (heard []string) {
	for _, id := range ids {
		if t := s.get(id, nil); t != nil {
			t.listen(stream)
			heard = append(heard, id)
		}
	}
	return heard
}

// remove ends and forgets a task.
func (s *tasks) remove(t *task) {
	s.mu.Lock()
	delete(s.byID, t.id)
	s.mu.Unlock()
	t.expiry.Stop()
	t.end(taskFailed, nil, mcp.Errorf(mcp.CodeInvalidParams, "the task is no longer kept"))
}

// endOf ends the tasks of a session that has ended.
func (s *tasks) endOf(owner *mcp.Session) {
	for _, t := range s.of(owner) {
		s.remove(t)
	}
}

// close ends all tasks and allows no others.
func (s *tasks) close() {
	s.mu.Lock()
	s.closed = true
	var all []*task
	for _, t := range s.byID {
		all = append(all, t)
	}
	s.mu.Unlock()
	for _, t := range all {
		s.remove(t)
	}
}
