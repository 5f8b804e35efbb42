package store

import (
	"context"
	"database/sql"
	"fmt"
)

// insertStmt inserts a fixed number of calls at once.
type insertStmt struct {
	rows int
	stmt *sql.Stmt
}

// prepareAppend prepares the inserts that AppendCalls puts a batch together from.
func (s *Store) prepareAppend(ctx context.Context) error {
	for _, rows := range []int{64, 8, 1} {
		stmt, err := s.write.PrepareContext(ctx, s.appendSQL(rows))
		if err != nil {
			return fmt.Errorf("prepare insert of %d calls: %w", rows, err)
		}
		s.inserts = append(s.inserts, insertStmt{rows, stmt})
	}
	return nil
}

// appendSQL is the insert of n rows. A call that is stored already is left alone, so
// that a writer may send a batch again when it cannot know whether the first try was
// committed.
func (s *Store) appendSQL(n int) string {
	return s.insertSQL("calls ("+callColumns+")", n, len(newCallRow().values)) + " ON CONFLICT (id) DO NOTHING"
}

// AppendCalls stores the calls, all of them or none. It is the store's hot path:
// callers should bring many at once.
func (s *Store) AppendCalls(ctx context.Context, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	if err := s.dialect.appendCalls(s, ctx, calls); err != nil {
		return s.explain("append calls", err)
	}
	size := 0
	for i := range calls {
		size += calls[i].size()
	}
	s.recordsGrown.add(size)
	return nil
}

// appendSQLite puts the batch together from the prepared inserts.
func (s *Store) appendSQLite(ctx context.Context, calls []Call) error {
	batch := s.batches.Get().(*callBatch)
	defer s.batches.Put(batch)
	defer func() { clear(batch.args) }() // keep the room, let go of the strings
	return s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, a := range s.inserts {
			if len(calls) < a.rows {
				continue
			}
			stmt := tx.StmtContext(ctx, a.stmt)
			for ; len(calls) >= a.rows; calls = calls[a.rows:] {
				batch.args = batch.args[:0]
				for i := range a.rows {
					batch.row.set(&calls[i], &s.opts)
					batch.args = batch.row.appendTo(batch.args)
				}
				if _, err := stmt.ExecContext(ctx, batch.args...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// appendTo appends the values themselves.
func (r *callRow) appendTo(args []any) []any {
	for _, value := range r.values {
		switch value := value.(type) {
		case *string:
			args = append(args, *value)
		case *int64:
			args = append(args, *value)
		case *[]byte:
			args = append(args, *value)
		}
	}
	return args
}
