// Command bench measures what the gateway costs compared with a bare reverse proxy, for clients
// and servers of both protocol eras: CPU per call, latency, upstream requests per call, memory,
// cold build time and binary size. It starts what it needs on loopback. A missed goal is printed
// as "over"; the exit code tells only whether everything could be measured.
//
// With -replicas it measures several gateways that share a PostgreSQL: calls per second, and the CPU time of a
// call in the gateways, in PostgreSQL, in the server behind them and in the clients.
//
// Absolute figures vary a lot between runs on a shared machine. Compare within one run.
//
//	go run ./internal/testkit/bench -cold=false -d 1s -rounds 1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	cold, sse bool
	replicas  bool
	duration  time.Duration
	rounds    int
}

// run is the whole benchmark, or one of its servers or the filling of a store when the first argument names one.
func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == modeUpstream:
		return listen(ctx, newUpstream(args[1], args[2] == "sse"))
	case len(args) == 2 && args[0] == modeProxy:
		return listen(ctx, newProxy(&url.URL{Scheme: "http", Host: args[1]}))
	case len(args) == 3 && args[0] == modeFill:
		return fill(ctx, args[1], args[2], time.Now())
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.cold, "cold", true, "also time a build with an empty build cache")
	flags.BoolVar(&o.sse, "sse", false, "the upstream server answers with event streams instead of JSON")
	flags.BoolVar(&o.replicas, "replicas", false, "measure 1, 2 and 4 gateways on one PostgreSQL instead")
	flags.DurationVar(&o.duration, "d", 2*time.Second, "time of one run")
	flags.IntVar(&o.rounds, "rounds", 3, "runs of each scenario and target")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.duration <= 0 || o.rounds < 1 {
		return errors.New("only flags are taken, and -d and -rounds must be positive")
	}
	if runtime.GOOS != "linux" {
		fmt.Fprintln(out, "The benchmark reads CPU time and memory from /proc, which only Linux has. Nothing was measured.")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute+time.Duration(o.rounds)*30*(o.duration+patience))
	defer cancel()
	return o.measure(ctx, out)
}

// measure builds the program, measures it next to the proxy, and prints the results.
func (o *options) measure(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "toolfit-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "toolfit")
	if err := o.build(ctx, program, out); err != nil {
		return err
	}
	l := &lab{program: program, dir: dir}
	defer l.work.Wait() // for the processes to be gone, and only then the folder
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.replicas {
		return o.measureFleets(ctx, l, out)
	}
	if err := l.open(ctx, o.sse); err != nil {
		return err
	}
	results, err := o.drive(ctx, l)
	if err != nil {
		return err
	}
	printTable(out, results)
	idle, perSession, err := l.memory(ctx)
	if err != nil {
		return err
	}
	printGoals(out, results, idle, perSession)
	return nil
}

// build builds the program: with an empty build cache to see how long a newcomer waits, and as
// usual. Modules are not downloaded again.
func (o *options) build(ctx context.Context, program string, out io.Writer) error {
	if o.cold {
		cache := filepath.Join(filepath.Dir(program), "gocache")
		start := time.Now()
		if err := goBuild(ctx, program, "GOCACHE="+cache); err != nil {
			return err
		}
		fmt.Fprintf(out, "cold build: %.1f s\n", time.Since(start).Seconds())
		if err := os.RemoveAll(cache); err != nil { // it is large, and the runs take a while
			return err
		}
	}
	if err := goBuild(ctx, program); err != nil {
		return err
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "binary: %.1f MB\n\n", float64(info.Size())/1e6)
	return nil
}

func goBuild(ctx context.Context, program string, env ...string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/toolfit/toolfit/cmd/toolfit")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	endGently(cmd) // the go command then ends its compilers too
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build toolfit: %w\n%s", err, strings.TrimSpace(string(said)))
	}
	return nil
}
