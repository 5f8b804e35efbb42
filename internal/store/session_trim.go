package store

import (
	"context"
	"time"
)

// sessionPage is how many sessions are looked at in one step of trimming.
const sessionPage = 100

// TrimSessions deletes the sessions that nothing was added to since the given time, with
// their messages; their calls and results stay. Each one is told of as any deleted session
// is. Several gateways may trim one store at the same time. A zero time sets no bound.
func (s *Store) TrimSessions(ctx context.Context, before time.Time) (deleted int64, err error) {
	if before.IsZero() {
		return 0, nil
	}
	for {
		old, err := s.sessionsBefore(ctx, micros(before))
		if err != nil {
			return deleted, s.explain("trim sessions", err)
		}
		for _, v := range old {
			n, err := s.delete(ctx, "DELETE FROM sessions WHERE id = $1 AND updated_at < $2", v.ID, micros(before))
			if err != nil {
				return deleted, s.explain("trim session "+v.ID, err)
			}
			if n > 0 { // nobody else was quicker, and nothing was added meanwhile
				deleted++
				s.opts.SessionChanged(SessionDeleted, v)
			}
		}
		if len(old) < sessionPage {
			return deleted, nil
		}
	}
}

// sessionsBefore are some of the old sessions. None changed before it was created, so the
// index on that time leads to them.
func (s *Store) sessionsBefore(ctx context.Context, before int64) ([]Session, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return s.readSessions(ctx, s.read, " WHERE created_at < $1 AND updated_at < $1 ORDER BY created_at, id LIMIT $2", []any{before, sessionPage})
}
