package store

import (
	"context"
	"io/fs"
	"time"
)

// Patient lets the writes of a SQLite store wait for those of another as long as a busy
// machine may take: which of two that write without a pause gets the lock is chance.
func (s *Store) Patient() error {
	if s.dialect.timeout > 0 {
		return nil
	}
	return s.waitForLocks(context.Background(), 10*time.Minute)
}

// Intact is a fault.StoreDown if the store's file was deleted or replaced.
func (s *Store) Intact() error { return s.explain("look at the file", s.intact()) }

// Oldest is what a schema made by these migrations asks of programs.
var Oldest = oldest

// SetMigrations replaces the migrations in a process that a test has started for that.
func SetMigrations(files fs.FS) { migrationFiles = files }
