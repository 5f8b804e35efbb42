package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// samplePages is how many pages of the calls are looked at: of more, a random part.
const samplePages = 4000

// density is how many bytes on disk the records of a PostgreSQL database take for each byte that
// they hold. The tables' files do not shrink when rows are deleted, so their size alone tells
// nothing; but they grow only when no space is free in them, and then it tells all.
type density struct {
	mu     sync.Mutex
	files  float64 // their size when it was last looked at
	factor float64 // 0: not known yet
}

// firstDensity bounds what is believed of files that were not seen growing, mostDensity what is
// believed at all: where records of another kind come, one file may grow while others have space.
const firstDensity, mostDensity = 1.3, 1.7

// observe notes the size of the files and of what they hold.
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

// measurePostgres returns what measures the records of a PostgreSQL database.
func measurePostgres(ctx context.Context, s *Store, _ int64) (func(context.Context) (int64, error), error) {
	const size = "SELECT pg_total_relation_size('calls') + pg_total_relation_size('runs') + pg_total_relation_size('run_pictures')"
	limited, cancel := s.limit(ctx)
	defer cancel()
	var files float64
	if err := s.read.QueryRowContext(limited, size).Scan(&files); err != nil {
		return nil, err
	}
	held, err := s.recordsHeld(ctx)
	if err != nil {
		return nil, err
	}
	factor := s.density.observe(files, held)
	return func(ctx context.Context) (int64, error) {
		held, err := s.recordsHeld(ctx)
		return int64(min(held*factor, files)), err
	}, nil
}

// recordsHeld is about how many bytes the rows of the records have.
func (s *Store) recordsHeld(ctx context.Context) (float64, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	var pages, calls, runs float64
	if err := s.read.QueryRowContext(ctx, "SELECT pg_relation_size('calls') / current_setting('block_size')::float8").Scan(&pages); err != nil {
		return 0, err
	}
	share := min(1, samplePages/max(pages, 1))
	sample := fmt.Sprintf("SELECT coalesce(sum(%s), 0)::float8 FROM calls TABLESAMPLE SYSTEM (%f)", s.callBytes(), 100*share)
	if err := s.read.QueryRowContext(ctx, sample).Scan(&calls); err != nil {
		return 0, err
	}
	rest := strings.ReplaceAll("SELECT coalesce(sum("+runBytes+"), 0)::float8 FROM runs", "bytes(", s.dialect.bytes+"(")
	err := s.read.QueryRowContext(ctx, rest).Scan(&runs)
	return calls/share + runs, err
}

// reusePostgres makes the space of deleted records free for new ones now: the database by
// itself would wait until a fifth of the table is such space.
func reusePostgres(ctx context.Context, s *Store) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET statement_timeout = 0"); err != nil { // a large table takes longer than other statements may
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM calls, runs, run_pictures")
	_, reset := conn.ExecContext(context.WithoutCancel(ctx), "RESET statement_timeout")
	return errors.Join(err, reset)
}
