package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// reader is a pool or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner copies the columns of the current row into variables, like sql.Rows.Scan.
type scanner func(into ...any) error

// readRows runs a query and reads every row with read.
func readRows[T any](ctx context.Context, from reader, read func(scanner, *T) error, query string, args ...any) ([]T, error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []T
	for scan := scanner(rows.Scan); rows.Next(); {
		found = append(found, *new(T))
		if err := read(scan, &found[len(found)-1]); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

// list is readRows as a whole method: with its timeout, and with errors that name the operation.
func list[T any](ctx context.Context, s *Store, op string, read func(scanner, *T) error, query string, args ...any) ([]T, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	found, err := readRows(ctx, s.read, read, query, args...)
	return found, s.explain(op, err)
}

// readOne reads the columns of one row. Without a row, the error is missing.
func (s *Store) readOne(ctx context.Context, op string, missing error, query string, args, into []any) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err := s.read.QueryRowContext(ctx, query, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return s.explain(op, err)
}

// exec runs one statement that writes, and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	n, err := affected(s.write.ExecContext(ctx, query, args...))
	if err == nil {
		err = s.intact()
	}
	return n, err
}

// affected is how many rows a statement changed.
func affected(res sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// inTx runs f in one write transaction, within the time that a method has.
func (s *Store) inTx(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return s.transact(ctx, s.write, f)
}

// transact is inTx without the timeout, on a pool. SQLite's writer is a single connection, so writers of
// this process queue here and not in SQLite's lock.
func (s *Store) transact(ctx context.Context, db *sql.DB, f func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.intact()
}

// rollback ends the transaction, unless the context or the database has already ended it.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) && !lostConn(err) {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// snapshot begins a transaction whose reads all see the same state.
func (s *Store) snapshot(ctx context.Context) (*sql.Tx, error) {
	return s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: s.dialect.snapshot})
}

// micros is how times are stored. The zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// asMicros scans what is stored in microseconds.
type asMicros func(us int64)

func (set asMicros) Scan(stored any) error {
	us, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("%T is not an integer", stored)
	}
	set(us)
	return nil
}

func storedTime(t *time.Time) asMicros { return func(us int64) { *t = fromMicros(us) } }

func storedDuration(d *time.Duration) asMicros {
	return func(us int64) { *d = time.Duration(us) * time.Microsecond }
}

// insertRows inserts rows of the same length with few different statements, which stay prepared. Conflict is what each ends with;
// "" for nothing.
func (s *Store) insertRows(ctx context.Context, tx *sql.Tx, into, conflict string, rows [][]any) error {
	var args []any
	for _, size := range []int{64, 8, 1} {
		if len(rows) < size {
			continue
		}
		insert := s.insertSQL(into, size, len(rows[0])) + conflict
		for ; len(rows) >= size; rows = rows[size:] {
			args = args[:0]
			for _, row := range rows[:size] {
				args = append(args, row...)
			}
			if _, err := tx.ExecContext(ctx, insert, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// insertSQL is the insert of some rows, each of so many columns.
func (s *Store) insertSQL(into string, rows, columns int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + into + " VALUES ")
	for i := range rows * columns {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString(s.dialect.place(i + 1))
	}
	b.WriteString(")")
	return b.String()
}

// notNull keeps an empty value from being stored as NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
