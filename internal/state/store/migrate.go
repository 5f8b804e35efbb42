package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Migration n of the list brings the schema to version n+1. A file that was released
// never changes; a new one is added. What follows a line "-- only: postgres", up to the next such line, is for
// PostgreSQL only; likewise for sqlite.
//
// While gateways are replaced one by one, old ones go on with the new schema. So a migration only adds: tables, indexes,
// columns with a default. One that takes away what programs no longer use says in its first line which migration such
// programs know, as in "-- needs: 0002".
//
//go:embed migrations/*.sql
var embedded embed.FS

// migrationFiles has the folder of migrations; another one in tests alone.
var migrationFiles fs.FS = embedded

// migrations returns the files' names in order.
func migrations() []string {
	entries, err := fs.ReadDir(migrationFiles, "migrations")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = "migrations/" + e.Name()
	}
	return names
}

func readMigration(name string) ([]byte, error) { return fs.ReadFile(migrationFiles, name) }

// withoutPart leaves out what is only for that database.
func withoutPart(text, database string) string {
	var b strings.Builder
	skip := false
	for line := range strings.Lines(text) {
		if only, ok := strings.CutPrefix(line, "-- only: "); ok {
			skip = strings.TrimSpace(only) == database
		}
		if !skip {
			b.WriteString(line)
		}
	}
	return b.String()
}

// oldest is the smallest version of the schema that a program must know to use the newest.
func oldest(names []string, read func(name string) ([]byte, error)) (version int, err error) {
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", name, err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		number, needs := strings.CutPrefix(strings.TrimSpace(first), "-- needs: ")
		if !needs {
			continue
		}
		at := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, "migrations/"+number+"_") })
		if at < 0 {
			return 0, fmt.Errorf("%s needs %q, which is no migration", name, number)
		}
		version = max(version, at+1)
	}
	return version, nil
}

// ownTables are names that only a store of ours has all together.
const ownTables = `('schema_version', 'servers', 'calls')`

// version returns the schema's version, 0 for an empty database. One that this toolfit is too old for, or of
// another program, is refused before anything is written to it.
func (s *Store) version(ctx context.Context) (int, error) {
	var tables, ours int
	if err := s.write.QueryRowContext(ctx, s.dialect.tables).Scan(&tables, &ours); err != nil {
		return 0, fmt.Errorf("read schema: %w", err)
	}
	if tables == 0 {
		return 0, nil
	}
	if ours < 3 {
		return 0, fault.New(fault.BadConfig, "store %s is the database of another program", s.name).
			WithHint("set store: to another path or database")
	}
	return s.readVersion(ctx, s.write.QueryRowContext)
}

// readVersion reads the version. A newer one than we know is refused, unless it says that we can use it.
func (s *Store) readVersion(ctx context.Context, query func(ctx context.Context, query string, args ...any) *sql.Row) (int, error) {
	known := len(migrations())
	var version int
	err := query(ctx, "SELECT version FROM schema_version").Scan(&version)
	needs := version
	if err == nil && version > known {
		err = query(ctx, "SELECT oldest FROM schema_version").Scan(&needs)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("read schema version: %w", err)
	case version > known && needs > known:
		return 0, fault.New(fault.BadConfig, "store %s has schema version %d, this toolfit knows %d", s.name, version, known).
			WithHint("use the newer toolfit that wrote it, or another store")
	}
	return version, nil
}

// migrate applies the missing migrations, all or none. It reads the version again in the
// transaction: another process may have been faster.
func (s *Store) migrate(ctx context.Context) error {
	return s.transact(ctx, s.write, func(ctx context.Context, tx *sql.Tx) error {
		if s.dialect.lock != "" {
			if _, err := tx.ExecContext(ctx, s.dialect.lock); err != nil {
				return fmt.Errorf("wait for other migrations: %w", err)
			}
		}
		// A program that does not know this version may use it if it knows the oldest.
		const table = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, oldest INTEGER NOT NULL DEFAULT 0)"
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("make schema_version: %w", err)
		}
		const first = "INSERT INTO schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)"
		if _, err := tx.ExecContext(ctx, first); err != nil {
			return fmt.Errorf("start schema_version: %w", err)
		}
		version, err := s.readVersion(ctx, tx.QueryRowContext)
		all := migrations()
		if err != nil || version >= len(all) {
			return err
		}
		for _, name := range all[version:] {
			text, err := readMigration(name)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			if _, err := tx.ExecContext(ctx, s.dialect.schema(string(text))); err != nil {
				return fmt.Errorf("apply %s: %w", name, err)
			}
		}
		needs, err := oldest(all, readMigration)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE schema_version SET version = $1, oldest = $2", len(all), needs)
		return err
	})
}
