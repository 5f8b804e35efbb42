package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	metadataInto = "session_metadata (session, name, value, sought)"
	// maxName limits what is part of an index: PostgreSQL allows about 2,700 bytes.
	maxName = 512
	// maxMetadata limits the names and values of one session, since lists contain many.
	maxMetadata = 64 << 10
	// maxSought is how long a value may be to be searched for as it is.
	maxSought = 200
)

func checkName(what, name string) error {
	if name == "" || len(name) > maxName {
		return fault.New(fault.BadRequest, "%s must have 1 to %d bytes, got %d", what, maxName, len(name))
	}
	return nil
}

// metadataRows are the rows of a session's metadata, ordered by name, so that two writers cannot
// deadlock.
func metadataRows(session string, metadata map[string]json.RawMessage) (rows [][]any, err error) {
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		if err := checkName("a metadata name", name); err != nil {
			return nil, err
		}
		sought, err := soughtValue(name, metadata[name])
		if err != nil {
			return nil, err
		}
		rows = append(rows, []any{session, name, []byte(metadata[name]), sought})
	}
	return rows, nil
}

// checkMetadata refuses what would make lists of sessions too large.
func checkMetadata(id string, metadata map[string]json.RawMessage) error {
	size := 0
	for name, value := range metadata {
		size += len(name) + len(value)
	}
	if size > maxMetadata {
		return fault.New(fault.TooLarge, "session %q would have %d bytes of metadata; at most %d are kept", id, size, maxMetadata)
	}
	return nil
}

// soughtValue is the same text for equal values, however they are written; for a long one, a digest.
func soughtValue(name string, value json.RawMessage) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return "", fault.New(fault.BadRequest, "metadata %q is not one JSON value", name)
	}
	text, err := json.Marshal(v) // sorts the keys
	if err != nil {
		return "", fmt.Errorf("write metadata %q: %w", name, err)
	}
	if len(text) <= maxSought {
		return string(text), nil
	}
	digest := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(digest[:]), nil
}

func (s *Store) readSession(ctx context.Context, from reader, id string) (Session, error) {
	found, err := s.readSessions(ctx, from, " WHERE id = $1", []any{id})
	if err == nil && len(found) == 0 {
		err = noSession(id)
	}
	if err != nil {
		return Session{}, err
	}
	return found[0], nil
}

// readSessions reads sessions and then their metadata. One that is deleted in between has none.
func (s *Store) readSessions(ctx context.Context, from reader, rest string, args []any) ([]Session, error) {
	read := func(scan scanner, v *Session) error {
		return scan(&v.ID, &v.Parent, &v.Owner, &v.Title, &v.Directory, storedTime(&v.CreatedAt), storedTime(&v.UpdatedAt))
	}
	found, err := readRows(ctx, from, read, "SELECT "+sessionColumns+" FROM sessions"+rest, args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found, s.readMetadata(ctx, from, found)
}

func (s *Store) readMetadata(ctx context.Context, from reader, sessions []Session) error {
	byID := make(map[string]*Session, len(sessions))
	var w where
	var places []string
	for i := range sessions {
		byID[sessions[i].ID] = &sessions[i]
		places = append(places, w.value(sessions[i].ID))
	}
	read := func(scan scanner, _ *struct{}) error {
		var id, name string
		var value []byte
		if err := scan(&id, &name, &value); err != nil {
			return err
		}
		v := byID[id]
		if v.Metadata == nil {
			v.Metadata = map[string]json.RawMessage{}
		}
		v.Metadata[name] = value
		return nil
	}
	query := "SELECT session, name, value FROM session_metadata WHERE session IN (" + strings.Join(places, ", ") + ")"
	_, err := readRows(ctx, from, read, query, w.args...)
	return err
}

const (
	// sessionPage is how many sessions are looked at in one step of trimming.
	sessionPage = 100
	// messageOverhead is about what a message takes beside its body.
	messageOverhead = 150
)

// SessionLimits limit what sessions take with their messages, in bytes. Zero is no limit.
type SessionLimits struct {
	Owner int64 // of one owner; no session alone may take more
	Total int64 // of all
}

// TrimSessions deletes the sessions that have not changed since the given time (zero: none), and then
// the least recently changed of each owner and of all that are over the limits. Calls and results
// stay. Several gateways may trim one store at once. From then on, no session grows over its owner's
// limit.
func (s *Store) TrimSessions(ctx context.Context, before time.Time, l SessionLimits) (deleted int64, err error) {
	if !before.IsZero() {
		deleted, err = s.trimSessions(ctx, "created_at < $1 AND updated_at < $1", micros(before))
	}
	s.longestSession.Store(l.Owner)
	smaller := min(unlessZero(l.Owner), unlessZero(l.Total))
	if err == nil && smaller < math.MaxInt64 && s.sessionsGrown.look(smaller) {
		var n int64
		n, err = s.trimSessions(ctx, `id IN (SELECT id FROM (
			SELECT id, sum(size) OVER (PARTITION BY owner ORDER BY updated_at DESC, id DESC) AS own,
				sum(size) OVER (ORDER BY updated_at DESC, id DESC) AS total
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

// trimSessions deletes the matching sessions, page by page.
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

// sessionsToTrim returns a page. Sessions are not changed before they are created, so that the index
// on that time serves for old ones.
func (s *Store) sessionsToTrim(ctx context.Context, which string, args []any) ([]Session, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var w where
	w.args = append(w.args, args...)
	return s.readSessions(ctx, s.read, " WHERE "+which+" ORDER BY created_at, id LIMIT "+w.value(sessionPage), w.args)
}

// checkRoom refuses to let a session grow over the limit.
func (s *Store) checkRoom(session string, said int64) error {
	if most := s.longestSession.Load(); most > 0 && said > most {
		return fault.New(fault.TooLarge, "session %q is full: all that one caller's sessions may hold, %d bytes, is in it", session, most).
			WithHint("begin another session")
	}
	return nil
}
