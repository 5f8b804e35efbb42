package store

import (
	"context"
	"database/sql"
	"strings"
)

// insertRows inserts rows of the same length, many with one statement. The sizes are
// few, so that the statements stay prepared.
func (s *Store) insertRows(ctx context.Context, tx *sql.Tx, into string, rows [][]any) error {
	var args []any
	for _, size := range []int{64, 8, 1} {
		if len(rows) < size {
			continue
		}
		insert := s.insertSQL(into, size, len(rows[0]))
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
