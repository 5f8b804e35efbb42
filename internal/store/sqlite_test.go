package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
)

func TestSQLite(t *testing.T) {
	suite(t, func(t *testing.T) func() *store.Store {
		path := filepath.Join(t.TempDir(), "odd name?#%41 .db")
		return func() *store.Store { return open(t, path, nil) }
	})
}

func open(t *testing.T, path string, opts *store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), path, opts)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func TestRestartKeepsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	ctx := t.Context()
	s, err := store.Open(ctx, path, &store.Options{Durable: true})
	check(t, err)
	srv := store.Server{ID: "a", ListedAt: noon, CheckedAt: noon, Tools: []store.Tool{{Name: "one", Definition: []byte(` {} `)}}}
	key := store.Key{ID: "i", Name: "n", Hash: []byte{1}, CreatedAt: noon}
	check(t, s.SaveTools(ctx, srv))
	check(t, s.CreateKey(ctx, key))
	check(t, s.AppendCalls(ctx, []store.Call{sampleCall(1)}))
	check(t, s.Close())

	s = open(t, path, nil)
	servers, err := s.Servers(ctx)
	check(t, err)
	equal(t, servers, []store.Server{srv})
	keys, err := s.Keys(ctx)
	check(t, err)
	equal(t, keys, []store.Key{key})
	call, err := s.Call(ctx, sampleCall(1).ID)
	check(t, err)
	equal(t, call, sampleCall(1))
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

func TestManyOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := store.Open(t.Context(), path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.SaveCheck(t.Context(), "a", noon, ""); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
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
		{"another kind of database, without its password", func(*testing.T, string) string { return "postgres://u:hunter2@h/db" }, "u:xxxxx@h"},
		{"a file that is not a database", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "notes.txt")
			check(t, os.WriteFile(path, []byte(strings.Repeat("not a database\n", 300)), 0o600))
			return path
		}, "not a database"},
		{"the database of another program", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "other.db")
			raw(t, path, "CREATE TABLE bookmarks (url TEXT)")
			return path
		}, "another program"},
		{"a store of a newer version", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "newer.db")
			s, err := store.Open(t.Context(), path, nil)
			check(t, err)
			check(t, s.Close())
			raw(t, path, "UPDATE schema_version SET version = 1000")
			return path
		}, "schema version 1000"},
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
	s := open(t, path, nil)
	raw(t, path, "BEGIN IMMEDIATE")
	start := time.Now()
	err := s.SaveCheck(t.Context(), "a", noon, "")
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
