package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"
)

// trimPage is how many calls one transaction reads, so that appending does not wait long.
const trimPage = 1000

// TrimCalls deletes the calls that began before the given time; a zero time deletes none. Ids sort
// by time, so that walking up from the oldest ends at the first page with nothing to delete.
func (s *Store) TrimCalls(ctx context.Context, before time.Time) (deleted int64, err error) {
	for after := ""; !before.IsZero(); {
		last, err := s.idAfter(ctx, after, trimPage)
		if err != nil || last == "" {
			return deleted, s.explain("trim calls", err)
		}
		n, err := s.deleteCalls(ctx, "id > $1 AND id <= $2 AND at < $3", after, last, micros(before))
		deleted += n
		if err != nil || n == 0 {
			return deleted, s.explain("trim calls", err)
		}
		after = last
	}
	return 0, nil
}

// TrimRecords deletes the oldest calls and runs until all of them, with their indexes, take less than
// maxBytes (0: no limit) and some space is left. The space is reused, not given back to the system.
// Several gateways may trim one store at once. It does nothing if little was added since the last time.
func (s *Store) TrimRecords(ctx context.Context, maxBytes int64) (deleted int64, err error) {
	if !s.recordsGrown.look(maxBytes) || maxBytes <= 0 {
		return 0, nil
	}
	deleted, err = s.trimOver(ctx, maxBytes)
	if err == nil && deleted > 0 {
		err = s.dialect.reuse(ctx, s)
	}
	return deleted, s.explain("trim records", err)
}

// trimOver deletes a part of what is too much and measures again: how much space a call frees is
// known only roughly.
func (s *Store) trimOver(ctx context.Context, most int64) (deleted int64, err error) {
	measure, err := s.dialect.measure(ctx, s, most)
	if err != nil {
		return 0, err
	}
	for enough := most - most/50; ; enough = most - most/14 {
		end, err := s.planTrim(ctx, measure, most, enough)
		if err != nil || end == (trimEnd{}) {
			return deleted, err
		}
		n, err := s.trimTo(ctx, end)
		deleted += n
		if err != nil || n == 0 {
			return deleted, err
		}
	}
}

// trimEnd is the newest call and the newest run to delete; "" for none.
type trimEnd struct {
	call  string
	run   string
	runAt int64
}

// planTrim measures and finds the oldest calls and runs to delete; none if there are few enough bytes. It
// reads one snapshot: however much other gateways delete meanwhile, what is newer than the end is enough.
func (s *Store) planTrim(ctx context.Context, measure measureFunc, most, enough int64) (end trimEnd, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.snapshot(ctx)
	if err != nil {
		return end, err
	}
	defer rollback(tx) // nothing to lose
	size, err := measure(ctx, tx)
	if err != nil || size <= enough {
		return end, err
	}
	target := most - most/14
	return s.oldest(ctx, tx, max((size-target)/2, min(size-target, most/40)))
}

// oldest finds the oldest calls and runs that take about so many bytes.
func (s *Store) oldest(ctx context.Context, tx *sql.Tx, bytes int64) (end trimEnd, err error) {
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
			end.run = run
			end.runAt = at
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

// oldestRun is the first run after the end, and about what it takes.
func (s *Store) oldestRun(ctx context.Context, tx *sql.Tx, end *trimEnd) (id string, size, at int64, err error) {
	query := "SELECT id, at, " + s.sizeSQL(runBytes) + " FROM runs WHERE (at, id) > ($1, $2) ORDER BY at, id LIMIT 1"
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

// oldestCalls are the first n calls after an id, and about what they take.
func (s *Store) oldestCalls(ctx context.Context, tx *sql.Tx, after string, n int64) (p callsPage, err error) {
	query := "SELECT count(*), coalesce(max(id), ''), coalesce(min(at), 0), coalesce(sum(size), 0) FROM (SELECT id, at, " + s.callBytes() +
		" AS size FROM calls WHERE id > $1 ORDER BY id LIMIT $2) AS page"
	err = tx.QueryRowContext(ctx, query, after, n).Scan(&p.count, &p.last, &p.at, &p.bytes)
	return p, err
}

// callBytes is SQL for about what a call takes: its row and its part of the indexes.
func (s *Store) callBytes() string {
	var b strings.Builder
	b.WriteString("120")
	for _, column := range new(callRow).columns() {
		if _, number := column.value.(*int64); !number {
			b.WriteString(" + coalesce(bytes(" + column.name + "), 0)")
		}
	}
	return s.sizeSQL(b.String() + " + " + indexBytes)
}

// sizeSQL names the dialect's function in an expression that uses bytes.
func (s *Store) sizeSQL(expression string) string {
	return strings.ReplaceAll(expression, "bytes(", s.dialect.bytes+"(")
}

const (
	// runBytes is what a run takes with its pictures, indexBytes what a call takes in the indexes. The
	// dialect says what bytes is.
	runBytes = `200 + bytes(summary) + bytes(report)
	+ (SELECT coalesce(sum(100 + bytes(data)), 0) FROM run_pictures WHERE run = runs.id)`
	indexBytes = `40 + 2 * octet_length(id) + octet_length(principal)
	+ CASE WHEN server <> '' THEN 24 + octet_length(server) + octet_length(id) + octet_length(principal) ELSE 0 END
	+ CASE WHEN session <> '' THEN 24 + octet_length(session) + octet_length(id) + octet_length(agent) + octet_length(principal) ELSE 0 END
	+ CASE WHEN agent <> '' THEN 48 + 2 * octet_length(agent) + 2 * octet_length(id) + octet_length(principal) ELSE 0 END
	+ CASE WHEN rule <> '' THEN 20 + octet_length(rule) + octet_length(id) ELSE 0 END
	+ CASE WHEN level IN ('warn', 'error') THEN 48 + 2 * octet_length(id) + 2 * octet_length(principal) + octet_length(agent) ELSE 0 END
	+ CASE WHEN level = 'error' THEN 24 + octet_length(id) + octet_length(principal) + octet_length(agent) ELSE 0 END
	+ CASE WHEN level IN ('warn', 'error') AND agent <> ''
		THEN 24 + octet_length(id) + octet_length(principal) + octet_length(agent) ELSE 0 END`
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
		n, err := s.deleteCalls(ctx, "id <= $1", min(last, end.call))
		deleted += n
		if err != nil || last >= end.call {
			return deleted, err
		}
	}
	return deleted, nil
}

// idAfter returns the n-th id after the given one, the last one if there are fewer, or else "".
func (s *Store) idAfter(ctx context.Context, after string, n int64) (id string, err error) {
	const query = `SELECT coalesce(max(id), '') FROM (SELECT id FROM calls WHERE id > $1 ORDER BY id LIMIT $2) AS page`
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err = s.read.QueryRowContext(ctx, query, after, n).Scan(&id)
	return id, err
}

// growth counts what was added to a part of the store since it was last measured, which is slow.
type growth struct {
	bytes, room, limit atomic.Int64
	due                chan struct{} // shared by all parts
}

// add counts, and signals when it is time to measure.
func (g *growth) add(n int) {
	if g.bytes.Add(int64(n)) > g.room.Load() {
		select {
		case g.due <- struct{}{}:
		default: // it was said already
		}
	}
}

// look tells whether it is time to measure, and then starts to count anew: after a fiftieth of the
// limit was added, or when the limit has changed.
func (g *growth) look(limit int64) bool {
	if g.limit.Swap(limit) == limit && g.bytes.Load() <= g.room.Load() {
		return false
	}
	g.bytes.Store(0)
	g.room.Store(limit / 50)
	if limit <= 0 {
		g.room.Store(math.MaxInt64)
	}
	return true
}

// TrimDue receives when so much was added that the store should be trimmed early.
func (s *Store) TrimDue() <-chan struct{} { return s.recordsGrown.due }

// size is about what the record of a call takes.
func (c *Call) size() int {
	n := 300 + len(c.Message) + len(c.Repairs) + len(c.ID) + len(c.Principal) + len(c.Session) + len(c.Tool) + len(c.Upstream)
	if c.Arguments != nil {
		n += len(c.Arguments.Sent) + len(c.Arguments.Fitted)
	}
	return n
}
