package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// trimPage is how many calls one transaction looks at, so that appending never waits long
// for trimming.
const trimPage = 1000

// TrimCalls deletes the calls that began before the given time; a zero time deletes none.
func (s *Store) TrimCalls(ctx context.Context, before time.Time) (deleted int64, err error) {
	if before.IsZero() {
		return 0, nil
	}
	deleted, err = s.trimBefore(ctx, micros(before))
	return deleted, s.explain("trim calls", err)
}

// trimBefore walks from the oldest id up. Ids sort by time, so that the first page
// with nothing to delete ends it.
func (s *Store) trimBefore(ctx context.Context, before int64) (deleted int64, err error) {
	for after := ""; ; {
		last, err := s.idAfter(ctx, after, trimPage)
		if err != nil || last == "" {
			return deleted, err
		}
		n, err := s.exec(ctx, "DELETE FROM calls WHERE id > $1 AND id <= $2 AND at < $3", after, last, before)
		deleted += n
		if err != nil || n == 0 {
			return deleted, err
		}
		after = last
	}
}

// TrimRecords deletes the oldest calls and runs until all of them, with their arguments,
// reports, pictures and indexes, take less than maxBytes; 0 sets no bound. It begins a little
// before they take more, and makes some room, so that it is not at work all the time. The file or the
// tables do not shrink: what comes later uses the space again. Several gateways may trim one
// store at the same time. When little was added since it last looked, it does not look.
func (s *Store) TrimRecords(ctx context.Context, maxBytes int64) (deleted int64, err error) {
	if maxBytes <= 0 || !s.recordsGrown.look(maxBytes) {
		return 0, nil
	}
	deleted, err = s.trimOver(ctx, maxBytes)
	if err == nil && deleted > 0 {
		err = s.dialect.reuse(ctx, s)
	}
	return deleted, s.explain("trim records", err)
}

// trimOver measures, deletes a part of what is too much, and measures again: how much room
// a call gives back is known only by about a half.
func (s *Store) trimOver(ctx context.Context, most int64) (deleted int64, err error) {
	measure, err := s.dialect.measure(ctx, s, most)
	if err != nil {
		return 0, err
	}
	for target := most - most/50; ; {
		size, err := measure(ctx)
		if err != nil || size <= target {
			return deleted, err
		}
		target = most - most/14
		end, err := s.planTrim(ctx, max((size-target)/2, min(size-target, most/40)))
		if err != nil {
			return deleted, err
		}
		n, err := s.trimTo(ctx, end)
		deleted += n
		if err != nil || n == 0 {
			return deleted, err
		}
	}
}

// trimEnd is the newest call and the newest run that have to go; "" where none has.
type trimEnd struct {
	call  string
	run   string
	runAt int64
}

// planTrim finds what of the oldest calls and runs takes about so many bytes. It looks at one
// state of the store: another gateway that trims meanwhile then deletes the same, not as much
// again.
func (s *Store) planTrim(ctx context.Context, bytes int64) (end trimEnd, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return end, err
	}
	defer rollback(tx) // nothing to lose
	for rows := int64(trimPage); bytes > 0; {
		run, size, at, err := s.oldestRun(ctx, tx, &end)
		if err != nil {
			return end, err
		}
		page, err := s.oldestCalls(ctx, tx, end.call, rows)
		switch {
		case err != nil:
			return end, err
		case run != "" && (page.count == 0 || at <= page.at):
			end.run, end.runAt = run, at
			bytes -= size
		case page.count == 0:
			return end, nil
		case page.bytes > bytes && page.count > 1:
			rows = max(1, page.count*bytes/page.bytes) // so much of the page will do
		default:
			end.call = page.last
			bytes -= page.bytes
		}
	}
	return end, nil
}

// oldestRun is the one after the end, and about what it takes.
func (s *Store) oldestRun(ctx context.Context, tx *sql.Tx, end *trimEnd) (id string, size, at int64, err error) {
	query := strings.ReplaceAll("SELECT id, at, "+runBytes+" FROM runs WHERE (at, id) > ($1, $2) ORDER BY at, id LIMIT 1", "bytes(", s.dialect.bytes+"(")
	err = tx.QueryRowContext(ctx, query, end.runAt, end.run).Scan(&id, &at, &size)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return id, size, at, err
}

// callsPage is a number of calls in the order of their ids.
type callsPage struct {
	count, bytes, at int64 // at is when the first began
	last             string
}

// oldestCalls are those after an id, and about what they take.
func (s *Store) oldestCalls(ctx context.Context, tx *sql.Tx, after string, n int64) (p callsPage, err error) {
	query := "SELECT count(*), coalesce(max(id), ''), coalesce(min(at), 0), coalesce(sum(size), 0) FROM (SELECT id, at, " + s.callBytes() +
		" AS size FROM calls WHERE id > $1 ORDER BY id LIMIT $2) AS page"
	err = tx.QueryRowContext(ctx, query, after, n).Scan(&p.count, &p.last, &p.at, &p.bytes)
	return p, err
}

// callBytes is about what a call takes, in SQL: its row and its place in the indexes.
func (s *Store) callBytes() string {
	var b strings.Builder
	b.WriteString("120")
	for _, column := range new(callRow).columns() {
		if _, number := column.value.(*int64); !number {
			b.WriteString(" + coalesce(bytes(" + column.name + "), 0)")
		}
	}
	return strings.ReplaceAll(b.String()+" + "+indexBytes, "bytes(", s.dialect.bytes+"(")
}

// runBytes is what a run takes, with its pictures, indexBytes what a call does in the indexes
// that have it. What bytes is, each dialect says.
const (
	runBytes   = `200 + bytes(summary) + bytes(report) + (SELECT coalesce(sum(100 + bytes(data)), 0) FROM run_pictures WHERE run = runs.id)`
	indexBytes = `40 + 2 * octet_length(id) + octet_length(principal)
	+ CASE WHEN session <> '' THEN 24 + octet_length(session) + octet_length(id) + octet_length(agent) + octet_length(principal) ELSE 0 END
	+ CASE WHEN agent <> '' THEN 48 + 2 * octet_length(agent) + 2 * octet_length(id) + octet_length(principal) ELSE 0 END
	+ CASE WHEN rule <> '' THEN 20 + octet_length(rule) + octet_length(id) ELSE 0 END
	+ CASE WHEN level IN ('warn', 'error') THEN 48 + 2 * octet_length(id) + 2 * octet_length(principal) + octet_length(agent) ELSE 0 END
	+ CASE WHEN level = 'error' THEN 24 + octet_length(id) + octet_length(principal) + octet_length(agent) ELSE 0 END
	+ CASE WHEN level IN ('warn', 'error') AND agent <> '' THEN 24 + octet_length(id) + octet_length(principal) + octet_length(agent) ELSE 0 END`
)

// trimTo deletes page by page.
func (s *Store) trimTo(ctx context.Context, end trimEnd) (deleted int64, err error) {
	if end.run != "" {
		if deleted, err = s.exec(ctx, "DELETE FROM runs WHERE (at, id) <= ($1, $2)", end.runAt, end.run); err != nil {
			return deleted, err
		}
	}
	for end.call != "" {
		last, err := s.idAfter(ctx, "", trimPage)
		if err != nil || last == "" {
			return deleted, err
		}
		n, err := s.exec(ctx, "DELETE FROM calls WHERE id <= $1", min(last, end.call))
		deleted += n
		if err != nil || last >= end.call {
			return deleted, err
		}
	}
	return deleted, nil
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
