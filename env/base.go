package env

import (
	"context"
	"sync"
)

// Base adds sessions to an environment that embeds it. The zero value keeps them in memory. It must
// not be copied after first use, so pass a pointer: NewServer(&shop{}, nil).
type Base struct {
	Store     Sessions           // where sessions are stored; nil: in memory
	OnSession func(SessionEvent) // called on every change; may be nil

	once  sync.Once
	ready Sessions
}

func (b *Base) sessions() Sessions {
	b.once.Do(func() {
		b.ready = b.Store
		if b.ready == nil {
			b.ready = NewMemorySessions(nil)
		}
		if b.OnSession != nil {
			b.ready = Watched(b.ready, b.OnSession)
		}
	})
	return b.ready
}

// CreateSession creates a session; ErrTaken when the id exists.
func (b *Base) CreateSession(ctx context.Context, n SessionOptions) (Session, error) {
	return b.sessions().CreateSession(ctx, n)
}

// GetSession returns a session; a *NotFoundError when there is none.
func (b *Base) GetSession(ctx context.Context, id string) (Session, error) {
	return b.sessions().GetSession(ctx, id)
}

// ListSessions returns one page, the newest session first.
func (b *Base) ListSessions(ctx context.Context, f SessionFilter) (SessionPage, error) {
	return b.sessions().ListSessions(ctx, f)
}

// UpdateSession replaces the title and merges metadata by name.
func (b *Base) UpdateSession(ctx context.Context, id string, c SessionChange) (Session, error) {
	return b.sessions().UpdateSession(ctx, id, c)
}

// DeleteSession deletes a session, if it exists.
func (b *Base) DeleteSession(ctx context.Context, id string) error {
	return b.sessions().DeleteSession(ctx, id)
}
