//go:build unix

package store_test

import (
	"context"
	"database/sql/driver"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"modernc.org/sqlite"

	"github.com/toolfit/toolfit/internal/state/store"
)

// migrateUntilKilled opens the store with a program that knows one more migration, in the middle of which it is killed.
func migrateUntilKilled(path string) error {
	first, err := os.ReadFile("migrations/0001_first_release.sql")
	if err != nil {
		return err
	}
	sqlite.MustRegisterScalarFunction("killed", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return nil, syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	const next = `ALTER TABLE calls ADD COLUMN later TEXT NOT NULL DEFAULT ''; CREATE TABLE later (id TEXT PRIMARY KEY);
		UPDATE calls SET later = 'x'; DELETE FROM keys; SELECT killed();`
	store.SetMigrations(fstest.MapFS{
		"migrations/0001_first_release.sql": {Data: first}, "migrations/0002_next.sql": {Data: []byte(next)},
	})
	_, err = store.Open(context.Background(), path, nil)
	return err
}

func TestAMigrationThatIsKilledLeavesTheStoreAsItWas(t *testing.T) {
	folder := filepath.Join(releases, "v0.1.0")
	path := unpackRelease(t, folder)
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), migrateEnv+"="+path)
	out, err := program.CombinedOutput()
	if status, ok := program.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	readsAsThen(t, folder, path)
	if _, err := rawSQLite(t, path).Exec("SELECT 1 FROM later"); err == nil {
		t.Error("a part of the migration stayed")
	}
}
