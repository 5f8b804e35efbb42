package store

import (
	"context"
	"math"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	// sessionPage is how many sessions are looked at in one step of trimming.
	sessionPage = 100
	// messageOverhead is about what a message takes beside its body.
	messageOverhead = 150
)

// SessionLimits bound what sessions take with all that was said in them, in bytes. Zero sets no
// bound.
type SessionLimits struct {
	Owner int64 // of one owner; no session alone may take more
	Total int64 // of all
}

// TrimSessions deletes the sessions that nothing was added to since the given time, and then
// those that nothing was added to for longest while an owner's, or all of them, take more than
// the limits allow. Their messages go with them; their calls and results stay. Each one is told
// of as any deleted session is. Several gateways may trim one store at the same time. A zero
// time sets no bound. From then on a session that takes all of its owner's share takes no more
// messages.
func (s *Store) TrimSessions(ctx context.Context, before time.Time, l SessionLimits) (deleted int64, err error) {
	if !before.IsZero() {
		deleted, err = s.trimSessions(ctx, "created_at < $1 AND updated_at < $1", micros(before))
	}
	s.longestSession.Store(l.Owner)
	smaller := min(unlessZero(l.Owner), unlessZero(l.Total))
	if err == nil && smaller < math.MaxInt64 && s.sessionsGrown.look(smaller) {
		var n int64
		n, err = s.trimSessions(ctx, `id IN (SELECT id FROM (
			SELECT id, sum(size) OVER (PARTITION BY owner ORDER BY updated_at DESC, id DESC) AS own, sum(size) OVER (ORDER BY updated_at DESC, id DESC) AS total
			FROM (SELECT id, owner, updated_at, said + 400 + octet_length(title) + octet_length(directory)
				+ (SELECT coalesce(sum(200 + 2 * octet_length(name) + octet_length(value) + octet_length(sought)), 0)
					FROM session_metadata WHERE session = sessions.id) AS size FROM sessions) AS sizes) AS sums
			WHERE own > $1 OR total > $2)`, unlessZero(l.Owner), unlessZero(l.Total))
		deleted += n
	}
	return deleted, s.explain("trim sessions", err)
}

func unlessZero(n int64) int64 {
	if n <= 0 {
		return math.MaxInt64
	}
	return n
}

// trimSessions deletes the sessions that are meant, in steps.
func (s *Store) trimSessions(ctx context.Context, which string, args ...any) (deleted int64, err error) {
	for {
		old, err := s.sessionsToTrim(ctx, which, args)
		if err != nil {
			return deleted, err
		}
		for _, v := range old {
			n, err := s.exec(ctx, "DELETE FROM sessions WHERE id = $1 AND updated_at = $2", v.ID, micros(v.UpdatedAt))
			if err != nil {
				return deleted, err
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

// sessionsToTrim are some of them. None changed before it was created, so that for old ones the
// index on that time leads to them.
func (s *Store) sessionsToTrim(ctx context.Context, which string, args []any) ([]Session, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var w where
	w.args = append(w.args, args...)
	return s.readSessions(ctx, s.read, " WHERE "+which+" ORDER BY created_at, id LIMIT "+w.value(sessionPage), w.args)
}

// checkRoom refuses what a session has no room for.
func (s *Store) checkRoom(session string, said int64) error {
	if most := s.longestSession.Load(); most > 0 && said > most {
		return fault.New(fault.TooLarge, "session %q is full: all that one caller's sessions may hold, %d bytes, is in it", session, most).
			WithHint("begin another session")
	}
	return nil
}
