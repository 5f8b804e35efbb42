package store

import (
	"context"
	"database/sql"
	"errors"
)

// CallAt is the id of the n-th newest call that is older than the one with the id before, or
// the n-th newest of all for ""; "" when there are fewer. It reads nothing but an index.
func (s *Store) CallAt(ctx context.Context, before string, n int) (string, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var w where
	if before != "" {
		w.has("id <", before)
	}
	var id string
	query := "SELECT id FROM calls" + w.String() + " ORDER BY id DESC LIMIT 1 OFFSET " + w.value(max(n, 1)-1)
	err := s.read.QueryRowContext(ctx, query, w.args...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, s.explain("count calls", err)
}
