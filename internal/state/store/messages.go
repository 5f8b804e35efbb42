package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Message is one message of a session's transcript.
type Message struct {
	Position int64 // from 1, without gaps
	At       time.Time
	Body     json.RawMessage // byte for byte as it came
}

// AppendMessages appends messages to the session's transcript, all or none. An unknown session is a
// fault.NotFound, a full one a fault.TooLarge.
func (s *Store) AppendMessages(ctx context.Context, session string, bodies ...json.RawMessage) error {
	size := 0
	for _, body := range bodies {
		size += len(body) + messageOverhead
	}
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.touchSession(ctx, tx, session, "", size); err != nil {
			return err
		}
		var last, said int64
		const state = "SELECT said, (SELECT coalesce(max(position), 0) FROM messages WHERE session = $1) FROM sessions WHERE id = $1"
		if err := tx.QueryRowContext(ctx, state, session).Scan(&said, &last); err != nil {
			return err
		}
		if err := s.checkRoom(session, said); err != nil {
			return err
		}
		now := micros(s.opts.Now())
		rows := make([][]any, len(bodies))
		for i, body := range bodies {
			rows[i] = []any{session, last + 1 + int64(i), now, notNull(body)}
		}
		return s.insertRows(ctx, tx, "messages (session, position, at, body)", "", rows)
	})
	s.sessionsGrown.add(size)
	return s.explain("append messages to session "+session, err)
}

// Messages returns a session's messages after a position, in order. The limit 0 means 100; at most
// 1000. An unknown session has none.
func (s *Store) Messages(ctx context.Context, session string, after int64, limit int) ([]Message, error) {
	return s.readMessages(ctx, session, "position > $2 ORDER BY position LIMIT $3", after, pageLimit(limit))
}

// LastMessages returns the last messages of a session, in order. The limit is as in Messages.
func (s *Store) LastMessages(ctx context.Context, session string, limit int) ([]Message, error) {
	const last = "position > (SELECT coalesce(max(position), 0) FROM messages WHERE session = $1) - $2 ORDER BY position"
	return s.readMessages(ctx, session, last, pageLimit(limit))
}

// LastMessageWithPrefix is the position of the session's last message whose body begins with one
// of the texts; 0 if there is none. The database compares them, so bodies need not be sent.
func (s *Store) LastMessageWithPrefix(ctx context.Context, session string, texts ...string) (position int64, err error) {
	var w where
	w.has("session =", session)
	either := make([]string, len(texts))
	for i, text := range texts {
		either[i] = fmt.Sprintf("substr(body, 1, %d) = %s", len(text), w.value([]byte(text)))
	}
	w.is("(" + strings.Join(either, " OR ") + ")")
	query := "SELECT position FROM messages" + w.String() + " ORDER BY position DESC LIMIT 1"
	err = s.readOne(ctx, "search messages of session "+session, nil, query, w.args, []any{&position})
	return position, err
}

func (s *Store) readMessages(ctx context.Context, session, which string, args ...any) ([]Message, error) {
	read := func(scan scanner, m *Message) error {
		return scan(&m.Position, storedTime(&m.At), (*[]byte)(&m.Body))
	}
	query := "SELECT position, at, body FROM messages WHERE session = $1 AND " + which
	return list(ctx, s, "read messages of session "+session, read, query, append([]any{session}, args...)...)
}
