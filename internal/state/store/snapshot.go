package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Snapshot is what a copy of a SQLite store needs of the program that opens it.
type Snapshot struct {
	Version int      // of the schema
	Oldest  int      // the version that a program must know
	Keys    []string // fingerprints of the keys that sealed what lasts
}

// Usable is nil if this toolfit can open a store like that.
func (n Snapshot) Usable() error {
	if known := len(migrations()); n.Version > known && n.Oldest > known {
		return fault.New(fault.BadConfig, "the backup has schema version %d, this toolfit knows %d", n.Version, known).
			WithHint("use the newer toolfit that wrote it")
	}
	return nil
}

// IsPostgres tells whether a store is a PostgreSQL database. Its own tools make backups of it.
func IsPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// ShowAddress is the address of a database without its password.
func ShowAddress(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "ADDRESS"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	query.Del("sslpassword")
	u.RawQuery = query.Encode()
	return u.String()
}

// CopyTo writes a consistent copy of the SQLite store at path to a new file, while others write to the store. It
// neither creates nor migrates the store.
func CopyTo(ctx context.Context, path, to string) (n Snapshot, err error) {
	if to, err = filepath.Abs(to); err != nil {
		return n, err
	}
	n, err = look(ctx, path, func(s *Store) error {
		f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // SQLite would make it readable by all
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		_, err = s.write.ExecContext(ctx, "VACUUM INTO ?", to)
		if err != nil && s.faultFor(err) == errDiskFull { // not that of the store
			return fault.New(fault.StoreDown, "the copy of store %s cannot be written: the disk of %s is full", path, filepath.Dir(to)).
				WithHint("free space there")
		}
		return err
	})
	if err != nil {
		return n, err
	}
	return Inspect(ctx, to) // what was copied, not what has been written since
}

// Inspect reads what a SQLite store needs.
func Inspect(ctx context.Context, path string) (Snapshot, error) {
	return look(ctx, path, func(*Store) error { return nil })
}

// look opens the file as it is, reads what it needs, and calls f.
func look(ctx context.Context, path string, f func(*Store) error) (n Snapshot, err error) {
	if err := checkFile(path, path); err != nil {
		return n, err
	}
	s := &Store{name: path, dialect: sqliteDialect}
	full, err := filepath.Abs(path)
	if err == nil {
		s.write, err = connectSQLite(full, 1, url.Values{})
	}
	if err != nil {
		return n, s.explainOpen(err)
	}
	defer func() {
		if err != nil {
			err = s.explainOpen(err)
		}
		err = errors.Join(err, s.write.Close())
	}()
	if n.Version, err = s.version(ctx); err != nil {
		return n, err
	}
	if n.Version == 0 {
		return n, fault.New(fault.BadConfig, "store %s is empty", path).WithHint("start a gateway with it first")
	}
	if err := s.write.QueryRowContext(ctx, "SELECT oldest FROM schema_version").Scan(&n.Oldest); err != nil {
		return n, err
	}
	if n.Keys, err = sealedWith(ctx, s.write); err != nil {
		return n, err
	}
	return n, f(s)
}

// sealedWith returns the fingerprints of the keys that sealed what lasts. They are in front of what is sealed.
func sealedWith(ctx context.Context, db *sql.DB) (keys []string, err error) {
	for _, l := range lasting {
		query := "SELECT DISTINCT substr(" + l.column + ", 2, 4) FROM " + l.table + " WHERE substr(" + l.column + ", 1, 1) = ?"
		rows, err := db.QueryContext(ctx, query, []byte{sealedAESGCM})
		if err != nil {
			return nil, fmt.Errorf("read the keys of %s: %w", l.table, err)
		}
		for rows.Next() {
			var id []byte
			if err := rows.Scan(&id); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			keys = append(keys, hex.EncodeToString(id))
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// Fingerprints tell which keys these are, the one that seals first, and nothing about them.
func (k SecretKey) Fingerprints() (ids []string) {
	if k.IsZero() {
		return nil
	}
	ids = append(ids, hex.EncodeToString(k.id[:]))
	for _, one := range k.older {
		ids = append(ids, hex.EncodeToString(one.id[:]))
	}
	return ids
}

// TakeAlone makes one file of a SQLite store, without a journal beside it. If another process has it open, it is a
// fault.Conflict. A file that is missing, or no store, is left as it is. The path is absolute.
func TakeAlone(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := connectSQLite(path, 1, url.Values{})
	if err != nil {
		return err
	}
	defer db.Close()
	// Only the last one that has the file open can leave the journal mode in which several write.
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	if isBusy(err) {
		return fault.New(fault.Conflict, "store %s is open in another process", path).WithHint("stop the gateway first")
	}
	return nil
}

// ResultsFolder is the folder of stored results beside a SQLite store.
func ResultsFolder(path string) string { return path + "-results" }

// IsSegment tells whether a file of that folder has results.
func IsSegment(name string) bool {
	var number int
	_, err := fmt.Sscanf(name, "%d.seg", &number)
	return err == nil && segmentName(number) == name
}

// OpenSegment opens a file of results, and tells where the last one that is whole ends. Others may append to it.
func OpenSegment(path string) (f *os.File, end int64, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		end, err = scanFrames(f, info.Size(), 0, func(frame) {})
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("read %s: %w", filepath.Base(path), err), f.Close())
	}
	return f, end, nil
}
