// Package store keeps what must outlive the process: what the servers offer, the
// servers that were added while running, the keys, one record per call, whole results, calls
// that wait, sessions, agents, rules, and what was found by which words. It is one SQLite file, with a
// folder of results beside it, that several processes may open at once (the gateway and the
// command line), or a PostgreSQL database that several gateways share.
//
// It never decides who may do what, never looks into a tool's definition (bytes come
// back as they went in), and never holds a connection longer than one method.
//
//	s, err := store.Open(ctx, "toolfit.db", nil) // or postgres://user@host/database
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	servers, err := s.Servers(ctx)
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Options are the ways to open a store. Nil means all zero.
type Options struct {
	// Durable syncs every call record and result to disk. If false, a killed gateway loses nothing, but a
	// power cut or a crash of the database may lose the last records.
	Durable bool
	// SecretKey encrypts server configurations and results. Zero: configurations with secrets are refused,
	// and results are stored in plain text.
	SecretKey SecretKey
	// Redact removes known secrets from what the audit log shows. Nil: it shows no configurations of servers.
	Redact func(string) string
	// SessionChanged is called after a session was created, updated or deleted. It must not block. Nil: no
	// calls.
	SessionChanged func(kind string, v Session)
	Logger         *slog.Logger // nil means silence
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	name    string // for messages: no password in it
	dialect dialect
	opts    Options
	write   *sql.DB
	read    *sql.DB
	append  *sql.DB   // PostgreSQL: for AppendCalls alone
	pooled  bool      // PostgreSQL: statements may run in different sessions
	file    *openFile // SQLite: what must be there while the store is open

	inserts []insertStmt // SQLite: largest first
	batches sync.Pool    // of *callBatch
	results resultStorage

	recordsGrown, sessionsGrown growth
	resultsGrown                growth       // PostgreSQL; beside a SQLite file each new segment makes room
	longestSession              atomic.Int64 // bytes of messages; 0 sets no bound
	summedUpTo                  atomic.Int64 // microseconds: where the sums of calls ended when they were last looked at
	density                     density      // PostgreSQL
	silentUntil                 atomic.Int64 // PostgreSQL: microseconds; no call waits for it before then

	// PostgreSQL: how changes of others are heard.
	direct   *pgx.ConnConfig // nil: they are not
	sessions sync.Map        // of our connections, by their number
	hears    atomic.Bool
	hangUp   atomic.Pointer[context.CancelCauseFunc]
	wanted   atomic.Pointer[map[string]time.Time] // until when others want to hear of a topic
}

// Open opens the store at dsn, the path of a SQLite file or the address of a PostgreSQL database, and
// creates or migrates it. One of a newer version is used as it is, or refused untouched where that is not possible.
func Open(ctx context.Context, dsn string, opts *Options) (*Store, error) {
	s := &Store{}
	s.batches.New = func() any { return &callBatch{row: newCallRow()} }
	s.recordsGrown.due = make(chan struct{}, 1)
	s.sessionsGrown.due = s.recordsGrown.due
	s.resultsGrown.due = s.recordsGrown.due
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if s.opts.SessionChanged == nil {
		s.opts.SessionChanged = func(string, Session) {}
	}
	open := s.openSQLite
	if IsPostgres(dsn) {
		open = s.openPostgres
	}
	if err := open(ctx, dsn); err != nil {
		return nil, errors.Join(s.explainOpen(err), s.Close())
	}
	return s, nil
}

// Close closes the store; what was acknowledged is on disk.
func (s *Store) Close() error {
	var errs []error
	if folder, ok := s.results.(*resultFolder); ok {
		errs = append(errs, folder.Close())
	}
	for _, a := range s.inserts {
		errs = append(errs, a.stmt.Close())
	}
	for _, db := range []*sql.DB{s.append, s.read, s.write} { // SQLite's writer last: it folds the journal into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// explain names the operation and turns what a user can repair into a fault.Error. Callers may see it,
// so that files and addresses are only in the log.
func (s *Store) explain(op string, err error) error {
	if err == nil || isFault(err) {
		return err
	}
	err = fmt.Errorf("%s: %w", op, err)
	if f := s.faultFor(err); f != nil {
		return f.Because(fmt.Errorf("store %s: %w", s.name, oneLine{err}))
	}
	return err
}

// explainOpen is explain for whoever starts the gateway, who may see everything.
func (s *Store) explainOpen(err error) error {
	if isFault(err) {
		return err
	}
	err = fmt.Errorf("open store: %w", err)
	if f := s.faultFor(err); f != nil {
		message := strings.Replace(f.Message, "the store", "store "+s.name, 1)
		return fault.New(f.Code, "%s: %w", message, oneLine{err}).WithHint("%s", f.Hint)
	}
	return err
}

// faultFor is the fault for what a user can repair, nil for the rest.
func (s *Store) faultFor(err error) *fault.Error {
	if errors.Is(err, context.Canceled) || s.dialect.explain == nil {
		return nil
	}
	return s.dialect.explain(err)
}

func isFault(err error) bool {
	f := (*fault.Error)(nil)
	return errors.As(err, &f)
}

// dialect is what differs between the databases; all other statements are the same for both.
type dialect struct {
	// tables counts all tables, and those that are ours.
	tables string
	// lock is run first in a migration, so that other processes wait. "": beginning to write does so.
	lock string
	// schema adapts a migration's text to this database.
	schema func(text string) string
	// look finds out that others may have written, until ctx ends.
	look func(s *Store, ctx context.Context, n *news)
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
	// size is the query for the size of the store, without results that are stored elsewhere.
	size string
	// measure returns what measures the size of the records. If the whole store has no more than most
	// bytes, it may count all of it.
	measure func(ctx context.Context, s *Store, most int64) (measureFunc, error)
	// reuse makes the space of deleted rows available again.
	reuse func(ctx context.Context, s *Store) error
	// appendCalls stores a batch, all or nothing. Late are the ids of those that may belong to the sums.
	appendCalls func(s *Store, ctx context.Context, calls []Call, late []any) error
	// now is the database's clock, in nanoseconds.
	now string
	// takeTokens is the statement of TakeTokens.
	takeTokens string
	// holdLimit is the statement that locks and reads what CountCall remembers.
	holdLimit string
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
