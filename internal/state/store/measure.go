package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// samplePages is how many pages of the calls are read: of more, a random sample.
const samplePages = 4000

// density is how many bytes of disk the records of a PostgreSQL database take per byte of data. Its
// files do not shrink when rows are deleted, so that their size says something only while they grow.
type density struct {
	mu     sync.Mutex
	files  float64 // their size when it was last looked at
	factor float64 // 0: not known yet
}

// firstDensity limits the factor until the files were seen growing, mostDensity afterwards: with
// records of another kind, one file may grow while others have free space.
const firstDensity, mostDensity = 1.3, 1.7

// observe updates the factor with the size of the files and of the data in them.
func (d *density) observe(files, held float64) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	factor := max(files/max(held, 1), 1)
	switch {
	case d.factor == 0:
		d.factor = min(factor, firstDensity)
	case files > d.files*1.005:
		d.factor = min(factor, mostDensity)
	}
	d.files = files
	return d.factor
}

// Size is how many bytes the store takes, stored results included, and when its oldest call began; zero if it has none.
func (s *Store) Size(ctx context.Context) (bytes int64, oldest time.Time, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	if err := s.read.QueryRowContext(ctx, s.dialect.size).Scan(&bytes); err != nil {
		return 0, time.Time{}, s.explain("measure the store", err)
	}
	if folder, ok := s.results.(*resultFolder); ok {
		bytes += folder.size()
	}
	var at int64
	err = s.read.QueryRowContext(ctx, "SELECT at FROM calls ORDER BY id LIMIT 1").Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return bytes, time.Time{}, nil
	case err != nil:
		return 0, time.Time{}, s.explain("find the oldest call", err)
	}
	return bytes, time.UnixMicro(at), nil
}

// measureFunc measures the records as the reader sees them.
type measureFunc func(ctx context.Context, from reader) (int64, error)

// measurePostgres returns what measures the records.
func measurePostgres(ctx context.Context, s *Store, _ int64) (measureFunc, error) {
	const size = "SELECT pg_total_relation_size('calls') + pg_total_relation_size('runs') + pg_total_relation_size('run_pictures')"
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var files float64
	if err := s.read.QueryRowContext(ctx, size).Scan(&files); err != nil {
		return nil, err
	}
	held, err := s.recordsHeld(ctx, s.read)
	if err != nil {
		return nil, err
	}
	factor := s.density.observe(files, held)
	return func(ctx context.Context, from reader) (int64, error) {
		held, err := s.recordsHeld(ctx, from)
		return int64(min(held*factor, files)), err
	}, nil
}

// recordsHeld is about how many bytes of data the records have.
func (s *Store) recordsHeld(ctx context.Context, from reader) (float64, error) {
	var pages, calls, runs float64
	const size = "SELECT pg_relation_size('calls') / current_setting('block_size')::float8"
	if err := from.QueryRowContext(ctx, size).Scan(&pages); err != nil {
		return 0, err
	}
	share := min(1, samplePages/max(pages, 1))
	sample := fmt.Sprintf("SELECT coalesce(sum(%s), 0)::float8 FROM calls TABLESAMPLE SYSTEM (%f)", s.callBytes(), 100*share)
	if err := from.QueryRowContext(ctx, sample).Scan(&calls); err != nil {
		return 0, err
	}
	err := from.QueryRowContext(ctx, "SELECT coalesce(sum("+s.sizeSQL(runBytes)+"), 0)::float8 FROM runs").Scan(&runs)
	return calls/share + runs, err
}

// reusePostgres frees the space of deleted records now; the database would wait until it is a fifth
// of the table.
func reusePostgres(ctx context.Context, s *Store) error {
	const vacuum = "VACUUM calls, runs, run_pictures"
	if s.pooled { // no timeout was set
		_, err := s.write.ExecContext(ctx, vacuum)
		return err
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET statement_timeout = 0"); err != nil { // a large table takes longer than other statements may
		return err
	}
	_, err = conn.ExecContext(ctx, vacuum)
	_, reset := conn.ExecContext(context.WithoutCancel(ctx), "RESET statement_timeout")
	return errors.Join(err, reset)
}

// measureSQLite returns what measures the records: the used pages, without those of other tables.
// These are counted once, and only over the limit, because counting reads them.
func measureSQLite(ctx context.Context, s *Store, most int64) (measureFunc, error) {
	used := func(ctx context.Context, from reader) (n int64, err error) {
		const query = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()"
		err = from.QueryRowContext(ctx, query).Scan(&n)
		return n, err
	}
	all, err := used(ctx, s.read)
	if err != nil || all <= most {
		return used, err
	}
	const query = `SELECT coalesce(sum(pgsize), 0) FROM sqlite_master AS m JOIN dbstat AS d ON d.name = m.name
		WHERE m.tbl_name NOT IN ('calls', 'runs', 'run_pictures') AND m.rootpage > 0`
	var others int64
	if err := s.read.QueryRowContext(ctx, query).Scan(&others); err != nil {
		return nil, err
	}
	return func(ctx context.Context, from reader) (int64, error) {
		n, err := used(ctx, from)
		return n - others, err
	}, nil
}
