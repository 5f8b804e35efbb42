package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	// busyTimeout is how long a statement waits for another process's lock.
	busyTimeout = 5 * time.Second
	// migrateTimeout is how long to wait while another process migrates.
	migrateTimeout = time.Minute
	// readConns is enough for the console and the API; each one costs about 2 MB.
	readConns = 4
)

// SQLite's placeholders have no numbers: it would search the list of all for each one.
var sqliteDialect = dialect{
	tables: `SELECT count(*), coalesce(sum(CASE WHEN name IN ` + ownTables + ` THEN 1 ELSE 0 END), 0)
		FROM sqlite_master WHERE type = 'table'`,
	size:        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
	schema:      func(text string) string { return withoutPart(text, "postgres") },
	look:        lookSQLite,
	place:       func(int) string { return "?" },
	useIndex:    " INDEXED BY ",
	bytes:       "octet_length",
	measure:     measureSQLite,
	reuse:       func(context.Context, *Store) error { return nil }, // SQLite does so by itself
	appendCalls: (*Store).appendSQLite,
	now:         sqliteNow,
	takeTokens:  takeTokens(sqliteNow, "WHERE true"),
	holdLimit:   holdLimit(sqliteNow, "WHERE true"),
	explain:     explainSQLite,
}

const sqliteNow = "CAST(unixepoch('now', 'subsec') * 1000000000 AS INTEGER)"

// openSQLite connects the writer first: readers need the tables and the journal that it creates.
func (s *Store) openSQLite(ctx context.Context, dsn string) error {
	s.name = dsn
	s.dialect = sqliteDialect
	path, err := prepareFile(dsn)
	if err != nil {
		return err
	}
	s.results = newResultFolder(path+"-results", &s.opts)
	s.write, err = openWriter(path, s.opts.Durable)
	if err != nil {
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
		if err := s.migrateSQLite(ctx); err != nil {
			return err
		}
	}
	s.read, err = connectSQLite(path, readConns, url.Values{"_query_only": {"1"}})
	if err != nil {
		return err
	}
	s.read.SetConnMaxIdleTime(time.Minute)
	if err := s.prepareAppend(ctx); err != nil {
		return err
	}
	s.file, err = statFile(path)
	return err
}

// migrateSQLite is migrate, waiting longer for another process that migrates.
func (s *Store) migrateSQLite(ctx context.Context) error {
	if err := s.waitForLocks(ctx, migrateTimeout); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return s.waitForLocks(ctx, busyTimeout)
}

// waitForLocks sets how long the writer's single connection waits for locks of other processes.
func (s *Store) waitForLocks(ctx context.Context, limit time.Duration) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", limit.Milliseconds()))
	return err
}

// prepareFile checks the path and creates a missing file, readable only by its owner: SQLite would
// make it readable by all.
func prepareFile(dsn string) (string, error) {
	switch {
	case dsn == "":
		return "", fault.New(fault.BadConfig, "the store has no path").WithHint("set store: toolfit.db")
	case strings.Contains(dsn, "://"), strings.HasPrefix(dsn, "file:"), dsn == ":memory:":
		return "", fault.New(fault.BadConfig, "store %s is not supported", redactDSN(dsn)).
			WithHint("give the path of a SQLite file, or an address that begins with postgres://")
	}
	path, err := filepath.Abs(dsn)
	if err != nil {
		return "", fmt.Errorf("find store %s: %w", dsn, err)
	}
	// A file that exists is not opened here: closing it would drop the locks that
	// another store of this process holds on it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		return path, f.Close()
	case errors.Is(err, fs.ErrExist):
		return path, checkFile(dsn, path)
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.BadConfig, "folder %s of store %s does not exist", filepath.Dir(path), dsn).
			WithHint("make the folder, or set store: to another path")
	}
	return "", fault.New(fault.BadConfig, "store %s cannot be made: %w", dsn, err).
		WithHint("check who may write to folder %s", filepath.Dir(path))
}

func checkFile(dsn, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fault.New(fault.BadConfig, "store %s cannot be read: %w", dsn, err)
	}
	switch {
	case info.IsDir():
		return fault.New(fault.BadConfig, "store %s is a folder", dsn).WithHint("name a file in it, such as %s", filepath.Join(dsn, "toolfit.db"))
	case !info.Mode().IsRegular():
		return fault.New(fault.BadConfig, "store %s is not a regular file", dsn).WithHint("set store: to another path")
	}
	return nil
}

// redactDSN keeps a password in a database address out of messages.
func redactDSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "address"
	}
	return u.Redacted()
}

func openWriter(path string, durable bool) (*sql.DB, error) {
	sync := "NORMAL"
	if durable {
		sync = "FULL"
	}
	// Immediate: a transaction that starts by reading could otherwise find, too late to wait, that
	// another process wrote in between. Temporary data in memory: an insert of many rows would
	// otherwise write its undo journal to a file.
	return connectSQLite(path, 1, url.Values{"_txlock": {"immediate"}, "_synchronous": {sync}, "_pragma": {"temp_store(2)"}})
}

func connectSQLite(path string, conns int, params url.Values) (*sql.DB, error) {
	if !params.Has("mode") {
		params.Set("mode", "rw") // a file that vanished is not made anew: SQLite would delete the journal of the one that was there
	}
	params.Set("_busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()))
	params.Set("_foreign_keys", "1")
	params.Set("_dqs", "0")
	params.Set("_error_rc", "1")
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter comes after the slash
	}
	db, err := sql.Open("sqlite", "file://"+(&url.URL{Path: path}).EscapedPath()+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// useWAL turns on the write-ahead log, so that readers and the writer do not wait for each other. That
// needs exclusive access, which the busy timeout does not cover, so it is retried here.
func useWAL(ctx context.Context, db *sql.DB) error {
	deadline := time.Now().Add(migrateTimeout)
	for {
		var mode string
		err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		if err == nil && mode != "wal" {
			return fmt.Errorf("use write-ahead log: the file system gives journal mode %q", mode)
		}
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
}

var (
	errDiskFull  = fault.New(fault.StoreDown, "the store cannot grow: its disk is full").WithHint("free space on its disk")
	errBadDisk   = fault.New(fault.StoreDown, "the disk of the store cannot be used").WithHint("check its space, its quota and its health")
	errNotOpened = fault.New(fault.BadConfig, "the store cannot be opened").WithHint("check who may write to the file and its folder")
	errFileGone  = fault.New(fault.StoreDown, "the file of the store has vanished or was replaced").
			WithHint("put it back, or restart the gateway to begin with the file that is there now")
	errFilesDenied = fault.New(fault.BadConfig, "the files of the store cannot be written or read").
			WithHint("check who may write to its folder")
	errLocked = fault.New(fault.Conflict, "the store is locked by another program").
			WithHint("close the program that holds it, then try again")
)

// sqliteErrors are what a user can repair, by SQLite's codes.
var sqliteErrors = map[int]*fault.Error{
	sqlite3.SQLITE_NOTADB:   fault.New(fault.BadConfig, "the store is not a database").WithHint("set store: to another path"),
	sqlite3.SQLITE_CORRUPT:  fault.New(fault.BadConfig, "the store is damaged").WithHint("restore it from a backup, or move it away"),
	sqlite3.SQLITE_READONLY: fault.New(fault.BadConfig, "the store is read-only").WithHint("check who may write to the file and its folder"),
	sqlite3.SQLITE_CANTOPEN: errNotOpened, sqlite3.SQLITE_PERM: errNotOpened,
	sqlite3.SQLITE_BUSY: errLocked, sqlite3.SQLITE_LOCKED: errLocked,
	sqlite3.SQLITE_FULL: errDiskFull, sqlite3.SQLITE_IOERR: errBadDisk,
}

// fileErrors are those of the files beside the database.
var fileErrors = map[error]*fault.Error{
	errVanished:    errFileGone,
	syscall.ENOSPC: errDiskFull, syscall.EDQUOT: errDiskFull, syscall.EFBIG: errDiskFull,
	fs.ErrPermission: errFilesDenied, syscall.EROFS: errFilesDenied,
	syscall.EIO: errBadDisk,
}

func explainSQLite(err error) *fault.Error {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return sqliteErrors[e.Code()&0xff]
	}
	for cause, known := range fileErrors {
		if errors.Is(err, cause) {
			return known
		}
	}
	return nil
}
