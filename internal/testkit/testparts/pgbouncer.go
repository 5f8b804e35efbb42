package testparts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer starts PgBouncer before the cluster, for this test, in transaction mode, with more lines for its
// configuration. It returns the address of a database. Without PgBouncer the test ends.
func (p *Postgres) Bouncer(t testing.TB, database string, more ...string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(program); err != nil {
		Missing(t, "needs PgBouncer: run scripts/install-test-parts, or install the package pgbouncer")
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d user=%s password=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"+
		"listen_port = %d\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 4\n",
		p.port, postgresUser, postgresPassword, port)
	if os.Geteuid() == 0 {
		lines += "user = postgres\n" // it does not run as root
	}
	for _, line := range more {
		lines += line + "\n"
	}
	path := filepath.Join(p.dir, fmt.Sprintf("pgbouncer-%d.ini", port))
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-q", path)
	cmd.Dir = p.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address := fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", postgresUser, port, database)
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), address)
		if err == nil {
			conn.Close(context.Background())
			return address
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}
