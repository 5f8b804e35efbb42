package testparts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a PostgreSQL cluster in a folder of its own, on loopback only. It ends, and its
// folder is removed, when the process that started it ends in any way.
type Postgres struct {
	bin    string   // the folder of initdb and pg_ctl
	as     []string // runs a command as a user that PostgreSQL accepts
	dir    string
	port   int
	made   atomic.Int64 // databases and schemas
	guards *exec.Cmd
	wanted io.WriteCloser // to the guard, which ends the cluster when it is closed
}

const (
	postgresUser     = "toolfit"
	postgresPassword = "loopback-only"
)

var errNoPostgres = errors.New("needs PostgreSQL: install the package postgresql, and run as root or as an ordinary user")

// shared is the cluster of the process.
var shared = sync.OnceValues(StartPostgres)

// NeedPostgres returns the cluster that the process's tests share. Without PostgreSQL the test
// ends.
func NeedPostgres(t testing.TB) *Postgres {
	t.Helper()
	return found(t, shared)
}

// OwnPostgres returns a cluster for this test alone, which may stop it.
func OwnPostgres(t testing.TB) *Postgres {
	t.Helper()
	p := found(t, StartPostgres)
	t.Cleanup(p.End)
	return p
}

func found(t testing.TB, start func() (*Postgres, error)) *Postgres {
	t.Helper()
	p, err := start()
	if errors.Is(err, errNoPostgres) {
		Missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Schema creates an empty schema for the test and returns its address. It does what a database
// does, in a tenth of the time.
func (p *Postgres) Schema(t testing.TB) string {
	t.Helper()
	return p.Address("postgres") + "&search_path=" + p.create(t, "SCHEMA", "", "CASCADE")
}

// Database creates an empty database for the test, with the options of CREATE DATABASE, and
// returns its address.
func (p *Postgres) Database(t testing.TB, options ...string) string {
	t.Helper()
	return p.Address(p.create(t, "DATABASE", strings.Join(options, " "), "WITH (FORCE)"))
}

func (p *Postgres) create(t testing.TB, what, options, drop string) (name string) {
	t.Helper()
	name = fmt.Sprintf("test_%d", p.made.Add(1))
	if err := p.Exec("postgres", "CREATE "+what+" "+name+" "+options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Exec("postgres", "DROP "+what+" "+name+" "+drop) }) // fails if the test stopped the cluster
	return name
}

// Address is that of a database, with the password of a user who may do everything.
func (p *Postgres) Address(database string) string {
	return fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", postgresUser, postgresPassword, p.port, database)
}

// Exec runs statements in a database as that user.
func (p *Postgres) Exec(database, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.Address(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statements)
	return errors.Join(err, conn.Close(ctx))
}

// Crash ends the cluster's processes at once; what they handed to the system stays.
func (p *Postgres) Crash(t testing.TB) { p.stop(t, "immediate") }

// Stop stops the cluster as its administrator would.
func (p *Postgres) Stop(t testing.TB) { p.stop(t, "fast") }

// Kill ends the cluster's first process as the system does when memory is short; the others notice.
func (p *Postgres) Kill(t testing.TB) {
	t.Helper()
	id, err := p.PID()
	if err != nil {
		t.Fatal(err)
	}
	server, _ := os.FindProcess(id) // what is not there shows below
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); server.Signal(syscall.Signal(0)) == nil && time.Since(began) < patience; { // else it may not be started again
		time.Sleep(10 * time.Millisecond)
	}
}

// PID is the id of the cluster's first process, which has started all others.
func (p *Postgres) PID() (int, error) {
	text, err := os.ReadFile(filepath.Join(p.data(), "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	id, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(id)
}

// TakeConnections ends the connections of gateways and takes all that are to be had, until give is called.
func (p *Postgres) TakeConnections(t testing.TB) (give func()) {
	t.Helper()
	var held []*pgx.Conn
	ctx := context.Background()
	for refused := 0; refused < 20 && len(held) < 200; {
		conn, err := pgx.Connect(ctx, p.Address("postgres"))
		if err == nil {
			held = append(held, conn)
			continue
		}
		refused++
		if len(held) == 0 {
			t.Fatal(err)
		}
		held[0].Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'toolfit%'")
	}
	return func() {
		for _, conn := range held {
			conn.Close(ctx)
		}
	}
}

func (p *Postgres) stop(t testing.TB, mode string) {
	t.Helper()
	if err := p.run("pg_ctl", "stop", "-D", p.data(), "-m", mode, "-w"); err != nil {
		t.Fatal(err)
	}
}

// Freeze stops the cluster's processes where they are, so that it neither answers nor hangs up, until thaw
// is called.
func (p *Postgres) Freeze(t testing.TB) (thaw func()) {
	t.Helper()
	id, err := p.PID()
	if err != nil {
		t.Fatal(err)
	}
	server := strconv.Itoa(id)
	signal := func(name string, to ...string) {
		t.Helper()
		if out, err := exec.Command("kill", append([]string{"-" + name}, to...)...).CombinedOutput(); err != nil {
			t.Logf("kill: %v: %s", err, out) // one may have ended
		}
	}
	signal("STOP", server)
	children, err := os.ReadFile(filepath.Join("/proc", server, "task", server, "children"))
	if err != nil {
		signal("CONT", server)
		t.Skip("needs Linux to find the processes of PostgreSQL")
	}
	all := append(strings.Fields(string(children)), server)
	signal("STOP", all...)
	thaw = sync.OnceFunc(func() { signal("CONT", all...) })
	t.Cleanup(thaw)
	return thaw
}

// Start starts a stopped cluster at the same address and waits for it.
func (p *Postgres) Start(t testing.TB) {
	t.Helper()
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
}

func (p *Postgres) start() error {
	logs := filepath.Join(p.dir, "log")
	err := p.run("pg_ctl", "start", "-D", p.data(), "-w", "-l", logs, "-o", fmt.Sprint("-p ", p.port))
	if err != nil {
		text, _ := os.ReadFile(logs)
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// StartPostgres makes and starts a cluster. It is for measuring; tests use NeedPostgres.
func StartPostgres() (*Postgres, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "toolfit-postgres-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{bin: bin, dir: dir}
	err = p.prepare()
	if err == nil {
		err = p.guard()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range 3 { // somebody may take the free port first
		p.port, err = freePort()
		if err == nil {
			err = p.start()
		}
		if err == nil {
			return p, nil
		}
	}
	p.End()
	return nil, err
}

// findPostgres returns the folder of the newest PostgreSQL. Debian keeps it out of PATH.
func findPostgres() (string, error) {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	version := func(bin string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(target))
		}
	}
	for _, dir := range folders {
		_, noInit := os.Stat(filepath.Join(dir, "initdb"))
		_, noServer := os.Stat(filepath.Join(dir, "postgres"))
		if noInit == nil && noServer == nil {
			return dir, nil
		}
	}
	return "", errNoPostgres
}

// freePort finds a port below the ephemeral ones, which another program could get while a test has
// stopped the cluster.
func freePort() (port int, err error) {
	const low, high, tries = 15_000, 30_000, 100
	for range tries {
		port = low + rand.IntN(high-low)
		l, failed := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if failed == nil {
			return port, l.Close()
		}
		err = failed
	}
	return 0, err
}

// prepare fills the folder. PostgreSQL does not run as root, so root hands the folder to the user
// that the package made.
func (p *Postgres) prepare() error {
	password := filepath.Join(p.dir, "password")
	if err := os.WriteFile(password, []byte(postgresPassword), 0o600); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return errNoPostgres
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := errors.Join(os.Chown(password, uid, gid), os.Chown(p.dir, uid, gid)); err != nil {
			return err
		}
		p.as = []string{"runuser", "-u", "postgres", "--"}
	}
	err := p.run("initdb", "-D", p.data(), "-U", postgresUser, "--pwfile", password, "-A", "scram-sha-256",
		"-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	// It need not survive a crash of the machine, so nothing waits for the disk.
	const settings = "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n" +
		"shared_buffers = 32MB\nfsync = off\nfull_page_writes = off\n"
	conf, err := os.OpenFile(filepath.Join(p.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString(settings)
	return errors.Join(err, conf.Close())
}

// guard starts a shell that ends the cluster and removes its folder when this process ends, even
// if a test panics or times out.
func (p *Postgres) guard() error {
	const script = `trap "" INT HUP; read wanted; dir=$1; shift; "$@"; rm -rf "$dir"`
	args := append([]string{"-c", script, "sh", p.dir}, p.command("pg_ctl", "stop", "-D", p.data(), "-m", "immediate", "-w")...)
	p.guards = exec.Command("sh", args...)
	p.guards.Dir = "/"
	wanted, err := p.guards.StdinPipe()
	if err != nil {
		return err
	}
	p.wanted = wanted
	return p.guards.Start()
}

// End ends the cluster now.
func (p *Postgres) End() {
	p.wanted.Close()
	p.guards.Wait()
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *Postgres) command(name string, args ...string) []string {
	return slices.Concat(p.as, []string{filepath.Join(p.bin, name)}, args)
}

func (p *Postgres) run(name string, args ...string) error {
	line := p.command(name, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = p.dir // one that its user may enter
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
