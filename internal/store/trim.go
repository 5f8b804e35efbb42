package store

import (
	"context"
	"database/sql"
	"time"
)

const (
	// trimPage is how many calls one transaction looks at, so that appending never
	// waits long for trimming.
	trimPage = 1000
	// callOverhead is about what a call takes beside its text: numbers, headers, and
	// its places in the two indexes.
	callOverhead = 120
)

// TrimCalls deletes the calls that began before the given time, and then the oldest
// ones while all take more than about maxBytes. A zero time or 0 bytes sets no bound.
// The file does not shrink: later calls use the space again. Several gateways may trim
// one store at the same time.
func (s *Store) TrimCalls(ctx context.Context, before time.Time, maxBytes int64) (deleted int64, err error) {
	if !before.IsZero() {
		if deleted, err = s.trimBefore(ctx, micros(before)); err != nil {
			return deleted, s.explain("trim calls", err)
		}
	}
	if maxBytes > 0 {
		n, err := s.trimOver(ctx, maxBytes)
		return deleted + n, s.explain("trim calls", err)
	}
	return deleted, nil
}

// trimBefore walks from the oldest id up. Ids sort by time, so that the first page
// with nothing to delete ends it.
func (s *Store) trimBefore(ctx context.Context, before int64) (deleted int64, err error) {
	for after := ""; ; {
		last, err := s.idAfter(ctx, after, trimPage)
		if err != nil || last == "" {
			return deleted, err
		}
		n, err := s.delete(ctx, "DELETE FROM calls WHERE id > $1 AND id <= $2 AND at < $3", after, last, before)
		deleted += n
		if err != nil || n == 0 {
			return deleted, err
		}
		after = last
	}
}

// trimOver deletes, page by page, up to the call that trimEnd names.
func (s *Store) trimOver(ctx context.Context, maxBytes int64) (deleted int64, err error) {
	end, err := s.trimEnd(ctx, maxBytes)
	if err != nil || end == "" {
		return 0, err
	}
	for {
		last, err := s.idAfter(ctx, "", trimPage)
		if err != nil || last == "" {
			return deleted, err
		}
		n, err := s.delete(ctx, "DELETE FROM calls WHERE id <= $1", min(last, end))
		deleted += n
		if err != nil || last >= end {
			return deleted, err
		}
	}
}

// trimEnd returns the newest call that has to go, "" when none has. It judges the size by
// the number of calls and the mean size of the oldest and the newest; to measure every one
// would read the whole table. It counts and looks in one state of the store: another
// gateway that trims meanwhile then deletes the same calls, not as many again.
func (s *Store) trimEnd(ctx context.Context, maxBytes int64) (end string, err error) {
	const measure = `SELECT (SELECT count(*) FROM calls), coalesce(avg(size), 0) FROM (
		SELECT octet_length(id) * 3 + octet_length(principal) * 2 + octet_length(profile) + octet_length(session) * 2
			+ octet_length(agent) * 2 + octet_length(mcp_session) + octet_length(server) + octet_length(tool) + octet_length(upstream)
			+ octet_length(outcome) + octet_length(code) + octet_length(message) + octet_length(level)
			+ octet_length(repairs) + octet_length(rule) * 2 + octet_length(ref) + octet_length(trace) AS size
		FROM calls WHERE id IN (SELECT id FROM (SELECT id FROM calls ORDER BY id LIMIT 500) AS oldest)
			OR id IN (SELECT id FROM (SELECT id FROM calls ORDER BY id DESC LIMIT 500) AS newest)) AS sample`
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: s.dialect.snapshot})
	if err != nil {
		return "", err
	}
	defer rollback(tx) // nothing to lose
	var count int64
	var mean float64
	if err := tx.QueryRowContext(ctx, measure).Scan(&count, &mean); err != nil {
		return "", err
	}
	excess := count - int64(float64(maxBytes)/(mean+callOverhead))
	if excess <= 0 {
		return "", nil
	}
	err = tx.QueryRowContext(ctx, "SELECT id FROM calls ORDER BY id LIMIT 1 OFFSET $1", excess-1).Scan(&end)
	return end, err
}

// idAfter returns the id of the n-th call after the given id, of the last one when
// there are fewer, "" when there is none.
func (s *Store) idAfter(ctx context.Context, after string, n int64) (id string, err error) {
	const query = `SELECT coalesce(max(id), '') FROM (SELECT id FROM calls WHERE id > $1 ORDER BY id LIMIT $2) AS page`
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err = s.read.QueryRowContext(ctx, query, after, n).Scan(&id)
	return id, err
}

// delete returns how many rows went.
func (s *Store) delete(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	res, err := s.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
