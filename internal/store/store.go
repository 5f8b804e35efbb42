// Package store keeps what must outlive the process: the servers' tool lists, the
// keys, and one record per call. It is one SQLite file that several processes may
// open at once: the gateway and, beside it, the command line.
//
// It never decides who may do what, never looks into a tool's definition (bytes come
// back as they went in), and never holds a connection longer than one method.
//
//	s, err := store.Open(ctx, "toolfit.db", nil)
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
	"sync"
	"time"
)

// Options are the ways to open a store. Nil means all zero.
type Options struct {
	// Durable syncs every commit to disk, so that not even a power cut loses one.
	// False means that a killed process loses nothing, and a power cut may lose the
	// last commits.
	Durable bool
}

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	dsn     string // as the user wrote it, for messages
	write   *sql.DB
	read    *sql.DB
	inserts []insertStmt // largest first
	args    sync.Pool    // of *[]any, for AppendCalls
}

// Open opens the store at dsn, the path of a SQLite file, and makes or migrates it
// where needed. A store that a newer version wrote is refused untouched.
func Open(ctx context.Context, dsn string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	path, err := prepareFile(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{dsn: dsn}
	if err := s.open(ctx, path, opts); err != nil {
		return nil, errors.Join(s.explain("open", err), s.Close())
	}
	return s, nil
}

// open connects the writer first: the readers need the tables and the journal that it makes.
func (s *Store) open(ctx context.Context, path string, opts *Options) (err error) {
	if s.write, err = openWriter(path, opts.Durable); err != nil {
		return err
	}
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if err := useWAL(ctx, s.write); err != nil {
		return err
	}
	if version < len(migrations()) {
		if err := s.migrate(ctx); err != nil {
			return err
		}
	}
	if s.read, err = openReaders(path); err != nil {
		return err
	}
	return s.prepareAppend(ctx)
}

// Close closes the store; what was acknowledged is on disk.
func (s *Store) Close() error {
	var errs []error
	for _, a := range s.inserts {
		errs = append(errs, a.stmt.Close())
	}
	for _, db := range []*sql.DB{s.read, s.write} { // the writer last: it folds the journal into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// inTx runs f in one write transaction. The writer is a single connection, so
// writers of this process wait here in turn and not in SQLite's lock.
func (s *Store) inTx(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

// rollback ends the transaction; that the context ended it already is no news.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
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
