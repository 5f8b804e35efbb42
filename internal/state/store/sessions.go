package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Session is a chat, a test run, or what else a client calls a session.
type Session struct {
	ID        string
	Parent    string // the id of another session, or ""
	Owner     string // whose it is
	Title     string
	Directory string
	Metadata  map[string]json.RawMessage
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Cursor is the Before of a page that goes on after this session.
func (v *Session) Cursor() string { return cursor(v.CreatedAt, v.ID) }

// SessionFilter chooses sessions; a zero field does not filter.
type SessionFilter struct {
	Owner    string
	Parent   string
	Metadata map[string]json.RawMessage // has each name with an equal value
	Since    time.Time                  // created then or later
	Until    time.Time                  // created then or earlier
	Before   string                     // only what comes after the session with this Cursor
	Limit    int                        // 0 means 100; at most 1000
}

// SessionChange is what changes in a session.
type SessionChange struct {
	Owner    string                     // whose it must be; "" for anybody's
	Title    *string                    // nil leaves it
	Metadata map[string]json.RawMessage // put in place by name; other names stay
}

const sessionColumns = "id, parent, owner, title, directory, created_at, updated_at"

// CreateSession stores a new session and returns it with its times. A taken id is a fault.Conflict.
func (s *Store) CreateSession(ctx context.Context, v Session) (Session, error) {
	if err := checkName("the session's id", v.ID); err != nil {
		return Session{}, err
	}
	if err := checkMetadata(v.ID, v.Metadata); err != nil {
		return Session{}, err
	}
	rows, err := metadataRows(v.ID, v.Metadata)
	if err != nil {
		return Session{}, err
	}
	v.CreatedAt = fromMicros(micros(s.opts.Now()))
	v.UpdatedAt = v.CreatedAt
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		const insert = "INSERT INTO sessions (" + sessionColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT DO NOTHING"
		n, err := affected(tx.ExecContext(ctx, insert, v.ID, v.Parent, v.Owner, v.Title, v.Directory, micros(v.CreatedAt)))
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "a session with the id %q exists already", v.ID)
		}
		if err != nil {
			return err
		}
		return s.insertRows(ctx, tx, metadataInto, "", rows)
	})
	s.sessionsGrown.add(sessionSize(v))
	return s.changed(SessionCreated, v, s.explain("create session "+v.ID, err))
}

// sessionSize is about what a session takes without its messages.
func sessionSize(v Session) int {
	n := 400 + len(v.Title) + len(v.Directory)
	for name, value := range v.Metadata {
		n += 200 + 2*len(name) + len(value)
	}
	return n
}

// The kinds of changes of a session.
const (
	SessionCreated = "created"
	SessionUpdated = "updated"
	SessionDeleted = "deleted"
)

// changed reports a change that was made.
func (s *Store) changed(kind string, v Session, err error) (Session, error) {
	if err != nil {
		return Session{}, err
	}
	s.opts.SessionChanged(kind, v)
	return v, nil
}

// Session returns one session; an unknown id is a fault.NotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	v, err := s.readSession(ctx, s.read, id)
	return v, s.explain("read session "+id, err)
}

func noSession(id string) error { return fault.New(fault.NotFound, "there is no session %q", id) }

// Sessions returns the sessions that match, the newest first.
func (s *Store) Sessions(ctx context.Context, f SessionFilter) ([]Session, error) {
	var w where
	w.equals("owner", f.Owner)
	w.equals("parent", f.Parent)
	for _, name := range slices.Sorted(maps.Keys(f.Metadata)) {
		sought, err := soughtValue(name, f.Metadata[name])
		if err != nil {
			return nil, err
		}
		w.is("id IN (SELECT session FROM session_metadata WHERE name = " + w.value(name) + " AND sought = " + w.value(sought) + ")")
	}
	w.since("created_at", f.Since)
	w.until("created_at", f.Until)
	if err := w.before(f.Before, "created_at", "id"); err != nil {
		return nil, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	found, err := s.readSessions(ctx, s.read, w.String()+" ORDER BY created_at DESC, id DESC"+w.limit(f.Limit), w.args)
	return found, s.explain("read sessions", err)
}

// UpdateSession changes the session and returns it. Concurrent changes are not lost. An unknown id is
// a fault.NotFound.
func (s *Store) UpdateSession(ctx context.Context, id string, change SessionChange) (v Session, err error) {
	rows, err := metadataRows(id, change.Metadata)
	if err != nil {
		return Session{}, err
	}
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.touchSession(ctx, tx, id, change.Owner, 0); err != nil {
			return err
		}
		if change.Title != nil {
			if _, err := tx.ExecContext(ctx, "UPDATE sessions SET title = $2 WHERE id = $1", id, *change.Title); err != nil {
				return err
			}
		}
		const upsert = "INSERT INTO " + metadataInto + ` VALUES ($1, $2, $3, $4)
			ON CONFLICT (session, name) DO UPDATE SET value = excluded.value, sought = excluded.sought`
		for _, row := range rows {
			if _, err := tx.ExecContext(ctx, upsert, row...); err != nil {
				return err
			}
		}
		if v, err = s.readSession(ctx, tx, id); err != nil {
			return err
		}
		return checkMetadata(id, v.Metadata)
	})
	s.sessionsGrown.add(sessionSize(v))
	return s.changed(SessionUpdated, v, s.explain("update session "+id, err))
}

// touchSession records a change and how many bytes it adds, in a session of the owner ("": of
// anybody). It comes first in a transaction, so that a second one of the same session waits.
func (s *Store) touchSession(ctx context.Context, tx *sql.Tx, id, owner string, said int) error {
	var w where
	set := "UPDATE sessions SET updated_at = " + w.value(micros(s.opts.Now())) + ", said = said + " + w.value(said)
	w.has("id =", id)
	w.equals("owner", owner)
	return changeSession(ctx, tx, id, set+w.String(), w.args)
}

// changeSession runs a statement that must find the session.
func changeSession(ctx context.Context, tx *sql.Tx, id, statement string, args []any) error {
	n, err := affected(tx.ExecContext(ctx, statement, args...))
	if err == nil && n == 0 {
		err = noSession(id)
	}
	return err
}

// DeleteSession deletes the session, if it exists, with its messages; its calls and results stay.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	_, err := s.TakeSession(ctx, id, "")
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// TakeSession deletes a session of the owner ("": of anybody) and returns it. Of several callers at
// once, one gets it; the others get a fault.NotFound.
func (s *Store) TakeSession(ctx context.Context, id, owner string) (v Session, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if v, err = s.readSession(ctx, tx, id); err != nil {
			return err
		}
		var w where
		w.has("id =", id)
		w.equals("owner", owner)
		return changeSession(ctx, tx, id, "DELETE FROM sessions"+w.String(), w.args)
	})
	return s.changed(SessionDeleted, v, s.explain("delete session "+id, err))
}
