package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// dialect is all that differs between the databases; every other statement is the same
// text for both.
type dialect struct {
	// tables counts the tables that there are, and those of them that are ours.
	tables string
	// lock is run first in a migration, so that of two processes one waits. "" means
	// that beginning to write does so already.
	lock string
	// schema makes a migration's text what this database takes.
	schema func(text string) string
	// place is the n-th placeholder of a long list, from 1.
	place func(n int) string
	// useIndex before the name of an index makes it the one that is used. "" leaves the choice
	// to a database that knows how many rows each value has.
	useIndex string
	// snapshot is the isolation in which several reads see one state.
	snapshot sql.IsolationLevel
	// timeout bounds each method; 0 means that the database has its own bound.
	timeout time.Duration
	// bytes is the function that tells how much a value takes.
	bytes string
	// measure gives what measures how much the records take. When all that the store holds is
	// no more than most, it may count all of it.
	measure func(ctx context.Context, s *Store, most int64) (func(context.Context) (int64, error), error)
	// reuse makes the space of what was deleted free for what comes.
	reuse func(ctx context.Context, s *Store) error
	// appendCalls stores a batch, all of it or nothing.
	appendCalls func(s *Store, ctx context.Context, calls []Call) error
	// explain returns the fault for what a user can repair, nil for the rest. Its sentence is
	// about "the store", and holds nothing of the error.
	explain func(err error) *fault.Error
}

// by says which index a query uses, where that can be said; "" for none in particular.
func (d *dialect) by(index string) string {
	if index == "" || d.useIndex == "" {
		return ""
	}
	return d.useIndex + index
}

// limit bounds one method, so that a database that fell silent holds up nobody for long.
func (s *Store) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.dialect.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.dialect.timeout)
}
