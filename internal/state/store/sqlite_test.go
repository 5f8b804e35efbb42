package store_test

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestSQLite(t *testing.T) {
	suite(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "odd name?#%41 .db") },
		func(t *testing.T, path string) *sql.DB { return raw(t, "file://"+(&url.URL{Path: path}).EscapedPath()) })
}

func TestFileIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	open(t, path, nil)
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		check(t, err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", filepath.Base(name), mode)
		}
	}
}

// raw opens the file beside the store.
func raw(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check(t, err)
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		_, err := db.Exec(statement)
		check(t, err)
	}
	return db
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name string
		path func(t *testing.T, dir string) string
		says string
	}{
		{"no path", func(*testing.T, string) string { return "" }, "no path"},
		{"a missing folder", func(_ *testing.T, dir string) string { return filepath.Join(dir, "no", "toolfit.db") }, "does not exist"},
		{"a folder", func(_ *testing.T, dir string) string { return dir }, "is a folder"},
		{"another kind of database, without its password", func(*testing.T, string) string { return "mysql://u:hunter2@h/db" }, "u:xxxxx@h"},
		{"a file that is not a database", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "notes.txt")
			check(t, os.WriteFile(path, []byte(strings.Repeat("not a database\n", 300)), 0o600))
			return path
		}, "not a database"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := store.Open(t.Context(), c.path(t, t.TempDir()), nil)
			if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want a bad_config that says %q", err, c.says)
			}
			if strings.Contains(err.Error(), "hunter2") || fault.As(err).Hint == "" {
				t.Fatalf("got %v, want a hint and no secret", err)
			}
		})
	}
}

func TestOpenRefusesReadOnlyFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to every file")
	}
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s, err := store.Open(t.Context(), path, nil)
	check(t, err)
	check(t, s.Close())
	check(t, os.Chmod(path, 0o400))
	s, err = store.Open(t.Context(), path, nil)
	if err == nil { // reading is possible; the first write says so
		defer s.Close()
		err = s.SaveCheck(t.Context(), "a", noon, "")
	}
	if !fault.Is(err, fault.BadConfig) || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("got %v, want a bad_config that says read-only", err)
	}
}

func TestWriteWaitsForAnotherProcessAndThenSaysSo(t *testing.T) {
	t.Parallel() // it waits as long as the store does
	if testing.Short() {
		t.Skip("waits for the busy timeout")
	}
	path := filepath.Join(t.TempDir(), "toolfit.db")
	s, err := store.Open(t.Context(), path, nil)
	check(t, err)
	defer s.Close()
	raw(t, path, "BEGIN IMMEDIATE")
	start := time.Now()
	err = s.SaveCheck(t.Context(), "a", noon, "")
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "locked by another program") {
		t.Fatalf("got %v, want a conflict that says locked", err)
	}
	if waited := time.Since(start); waited < time.Second {
		t.Fatalf("gave up after %v", waited)
	}
	if _, err := s.Servers(t.Context()); err != nil {
		t.Fatalf("read beside another's write: %v", err)
	}
}

func TestOpenWaitsForAnotherProcessThatMakesTheTables(t *testing.T) {
	t.Parallel() // it waits longer than a write does
	if testing.Short() {
		t.Skip("waits longer than the busy timeout")
	}
	path := filepath.Join(t.TempDir(), "toolfit.db")
	other := raw(t, path, "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE")
	late := time.AfterFunc(6*time.Second, func() { other.Exec("COMMIT") }) // a write would have given up
	defer late.Stop()
	s, err := store.Open(t.Context(), path, nil)
	check(t, err)
	check(t, s.Close())
}

// As docs/backup.md says.
func TestBackupOfARunningStoreIsWhole(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := open(t, filepath.Join(dir, "toolfit.db"), nil)
	check(t, s.SaveTools(ctx, sampleServer("a")))
	appendSamples(t, s, 100, nil)
	backup := filepath.Join(dir, "backup.db")
	raw(t, filepath.Join(dir, "toolfit.db"), "VACUUM INTO '"+backup+"'")
	check(t, s.RemoveServer(ctx, "a"))

	restored := open(t, backup, nil)
	servers, err := restored.Servers(ctx)
	check(t, err)
	equal(t, servers, []store.Server{sampleServer("a")})
	calls, err := restored.Calls(ctx, store.CallFilter{Limit: 1000})
	check(t, err)
	equal(t, len(calls), 100)
}
