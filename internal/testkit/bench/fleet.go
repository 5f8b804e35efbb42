package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// fleetSizes are how many gateways are measured.
var fleetSizes = []int{1, 2, 4}

// fleet is gateways that share a PostgreSQL.
type fleet struct {
	durable  bool
	gateways []*target
	database *process
	upstream *process
}

// usage is the CPU time of everybody, and how long the cores of the machine were idle.
type usage struct{ gateways, database, upstream, clients, idle time.Duration }

// fleetResult is what was measured of a fleet.
type fleetResult struct {
	fleet  *fleet
	sample *sample
	usage  usage // of all calls
}

// measureFleets measures fleets of each size, without and with durable records.
func (o *options) measureFleets(ctx context.Context, l *lab, out io.Writer) error {
	pg, err := testparts.StartPostgres()
	if err != nil {
		return err
	}
	defer pg.End()
	for _, statement := range []string{"ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET full_page_writes = on", "SELECT pg_reload_conf()"} {
		if err := pg.Exec("postgres", statement); err != nil { // as in earnest: what is durable waits for the disk
			return err
		}
	}
	pid, err := pg.PID()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server, err := start(ctx, &l.work, self, modeUpstream, legacy, "json")
	if err != nil {
		return err
	}
	os.Setenv("TOOLFIT_SECRET_KEY", "the same for all")
	var all []*fleetResult
	for _, durable := range []bool{false, true} {
		for _, n := range fleetSizes {
			schema := fmt.Sprintf("bench_%v_%d", durable, n)
			if err := pg.Exec("postgres", "CREATE SCHEMA "+schema); err != nil {
				return err
			}
			f := &fleet{durable: durable, database: &process{pid: pid}, upstream: server}
			r, err := o.measureFleet(ctx, l, f, n, pg.Address("postgres")+"&search_path="+schema)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
	}
	printFleets(out, all)
	return nil
}

// measureFleet starts so many gateways, lets clients call, and ends them.
func (o *options) measureFleet(ctx context.Context, l *lab, f *fleet, n int, store string) (*fleetResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range n {
		if err := f.add(ctx, l, store); err != nil {
			return nil, err
		}
	}
	workers := make([]*spread, 16)
	for i := range workers {
		w, err := f.client(ctx, i, o.duration+patience)
		if err != nil {
			return nil, err
		}
		workers[i] = w
	}
	before, err := f.usage()
	if err != nil {
		return nil, err
	}
	all := work(workers, o.duration)
	idle, noIdle := idleTime()
	time.Sleep(time.Second) // for records that wait to be written
	after, err := f.usage()
	after.idle = idle
	return &fleetResult{f, all, after.minus(before)}, errors.Join(err, noIdle, all.first)
}

// add starts one more gateway.
func (f *fleet) add(ctx context.Context, l *lab, store string) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := free.Addr().String()
	free.Close()
	dir, err := os.MkdirTemp(l.dir, "replica-")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "toolfit.yaml")
	text := fmt.Sprintf("store: %q\nrecords: {durable: %v}\nreplica: {url: \"http://%s\"}\nmcpServers:\n  bench: {url: \"http://%s/mcp\"}\n",
		store, f.durable, addr, f.upstream.addr)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	t := &target{name: "replica", era: legacy, upstream: f.upstream, prefix: "bench__"}
	if len(f.gateways) > 0 {
		t.key = f.gateways[0].key
	} else {
		key, err := exec.CommandContext(ctx, l.program, "keys", "create", "bench", "--config", file).Output()
		if err != nil {
			return fmt.Errorf("create key: %w", err)
		}
		t.key = string(bytes.TrimSpace(key))
	}
	t.proc, err = start(ctx, &l.work, l.program, "serve", "--config", file, "--listen", addr)
	if err != nil {
		return err
	}
	f.gateways = append(f.gateways, t)
	c, err := open(ctx, t, patience)
	if err != nil {
		return err
	}
	defer c.close()
	return newCaller(c, list()).call() // the first list waits for the server
}

// spread is a client of one session that sends each call to the next gateway.
type spread struct {
	callers []*caller
	next    int
}

// client opens a session at one gateway and connects to all.
func (f *fleet) client(ctx context.Context, i int, limit time.Duration) (*spread, error) {
	s := &spread{next: i}
	session := ""
	for _, t := range f.gateways {
		c, err := dial(ctx, t, limit)
		if session == "" && err == nil {
			c.close()
			c, err = open(ctx, t, limit)
		}
		if err != nil {
			return nil, err
		}
		if session == "" {
			session = c.session
		}
		c.session = session
		s.callers = append(s.callers, newCaller(c, echo()))
	}
	for range f.gateways {
		if err := s.call(); err != nil {
			return nil, fmt.Errorf("first call: %w", err)
		}
	}
	return s, nil
}

func (s *spread) call() error {
	s.next++
	return s.callers[s.next%len(s.callers)].call()
}

// usage reads how much CPU time everybody has used.
func (f *fleet) usage() (u usage, err error) {
	for _, t := range f.gateways {
		cpu, failed := t.proc.cpu()
		u.gateways += cpu
		err = errors.Join(err, failed)
	}
	var noDatabase, noServer, noSelf, noIdle error
	u.database, noDatabase = f.database.familyCPU()
	u.upstream, noServer = f.upstream.cpu()
	u.clients, noSelf = (&process{pid: os.Getpid()}).cpu()
	u.idle, noIdle = idleTime()
	return u, errors.Join(err, noDatabase, noServer, noSelf, noIdle)
}

func (u usage) minus(v usage) usage {
	return usage{u.gateways - v.gateways, u.database - v.database, u.upstream - v.upstream, u.clients - v.clients, u.idle - v.idle}
}

func (u usage) all() time.Duration { return u.gateways + u.database + u.upstream + u.clients }

// printFleets prints one line per fleet, and what limits it.
func printFleets(out io.Writer, results []*fleetResult) {
	fmt.Fprintf(out, "%d cores for everybody. CPU time is that of the processes, in µs per call.\n\n", runtime.NumCPU())
	fmt.Fprintln(out, "| records | gateways | calls | calls/s | p50 ms | p99 ms | gateways | PostgreSQL | server | clients | busy cores | what limits |")
	fmt.Fprintln(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
	for _, r := range results {
		records := "not durable"
		if r.fleet.durable {
			records = "durable"
		}
		calls := len(r.sample.latencies)
		per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(calls) }
		p50, p99 := r.sample.percentiles()
		fmt.Fprintf(out, "| %s | %d | %d | %.0f | %.2f | %.2f | %.0f | %.0f | %.0f | %.0f | %.1f | %s |\n",
			records, len(r.fleet.gateways), calls, float64(calls)/r.sample.took.Seconds(), p50, p99,
			per(r.usage.gateways), per(r.usage.database), per(r.usage.upstream), per(r.usage.clients), r.busy(), r.limit())
	}
	fmt.Fprintln(out)
	for _, r := range results[len(results)-1:] {
		calls := float64(len(r.sample.latencies))
		fmt.Fprintf(out, "With durable records a core carries about %.0f calls/s in gateways and %.0f in PostgreSQL, which all of them share: "+
			"about %.1f cores of gateways keep one of PostgreSQL busy.\n", calls/r.usage.gateways.Seconds(), calls/r.usage.database.Seconds(),
			r.usage.gateways.Seconds()/r.usage.database.Seconds())
	}
}

// busy is how many cores were busy with the calls.
func (r *fleetResult) busy() float64 { return r.usage.all().Seconds() / r.sample.took.Seconds() }

// limit says what limits the calls per second.
func (r *fleetResult) limit() string {
	cores := r.sample.took.Seconds() * float64(runtime.NumCPU())
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / cores }
	if idle := share(r.usage.idle); idle > 15 {
		return fmt.Sprintf("waiting for PostgreSQL to write: the cores are idle for %.0f %% of the time", idle)
	}
	return fmt.Sprintf("the cores: gateways %.0f %%, PostgreSQL %.0f %%, server %.0f %%, clients %.0f %%, the system and others %.0f %%",
		share(r.usage.gateways), share(r.usage.database), share(r.usage.upstream), share(r.usage.clients),
		max(0, 100-share(r.usage.all())-share(r.usage.idle)))
}
