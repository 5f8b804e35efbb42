package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// dialect is what differs between the databases; all other statements are the same for both.
type dialect struct {
	// tables counts all tables, and those that are ours.
	tables string
	// lock is run first in a migration, so that other processes wait. "": beginning to write does so.
	lock string
	// schema adapts a migration's text to this database.
	schema func(text string) string
	// place is the n-th placeholder of a long list, from 1.
	place func(n int) string
	// useIndex, before the name of an index, forces its use. "": the database chooses by its statistics.
	useIndex string
	// snapshot is the isolation in which several reads see the same state.
	snapshot sql.IsolationLevel
	// timeout limits each method; 0 means that the database has a timeout of its own.
	timeout time.Duration
	// bytes is the SQL function for the size of a value.
	bytes string
	// measure returns what measures the size of the records. If the whole store has no more than most
	// bytes, it may count all of it.
	measure func(ctx context.Context, s *Store, most int64) (func(context.Context) (int64, error), error)
	// reuse makes the space of deleted rows available again.
	reuse func(ctx context.Context, s *Store) error
	// appendCalls stores a batch, all or nothing.
	appendCalls func(s *Store, ctx context.Context, calls []Call) error
	// explain returns the error for what a user can repair, or else nil. Its message is about "the
	// store" and contains nothing of err.
	explain func(err error) *fault.Error
}

// by forces the use of an index where that is possible; "" forces none.
func (d *dialect) by(index string) string {
	if index == "" || d.useIndex == "" {
		return ""
	}
	return d.useIndex + index
}

// limit sets a method's timeout, so that a database that hangs blocks nobody for long.
func (s *Store) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.dialect.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.dialect.timeout)
}
