// Command bench runs toolfit beside other MCP gateways, each on the same server and with the same
// work, and writes what it saw to docs/benchmarks.md: CPU per call, memory, start-up, growth with the
// number of tools, and what each loses of the messages that it carries; and how toolfit grows with servers,
// profiles, records, sessions and payloads. It installs the gateways by package name, starts everything on
// loopback and ends all that it started.
//
// It is a module of its own, so that nothing that it measures is a dependency of toolfit.
//
//	cd internal/bench && go run . -quick
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are the flags, and what follows from them.
type options struct {
	quick    bool
	root     string            // of the repository
	from     string            // results to write the page from
	only     map[string]bool   // what grows, if not everything is measured
	programs map[string]string // a program or its source, by the name of its gateway

	duration time.Duration // of one run
	rounds   int
	starts   int
	sessions int
	sizes    []int // numbers of tools
}

// run is the whole comparison, or one of its servers when the first argument names one.
func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == modeUpstream {
		return serveUpstream(ctx, args[1:])
	}
	if len(args) == 3 && args[0] == modeProxy {
		return serveProxy(ctx, args[1], args[2])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		return errors.New("it reads CPU time and memory from /proc, which only Linux has; run it there")
	}
	results := filepath.Join(o.root, ".tools", "compare", "results.json")
	r := &report{}
	if len(o.only) > 0 {
		r, err = o.measure(ctx)
		if err == nil {
			_, err = fmt.Print(r.axesPage())
		}
		return err
	}
	if o.from == "" {
		if r, err = o.measure(ctx); err != nil {
			return err
		}
		text, err := json.MarshalIndent(r, "", "\t")
		if err == nil {
			err = os.WriteFile(results, text, 0o644)
		}
		if err != nil {
			return err
		}
	} else {
		text, err := os.ReadFile(o.from)
		if err == nil {
			err = json.Unmarshal(text, r)
		}
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
	}
	return r.write(filepath.Join(o.root, "docs"))
}

func parse(args []string) (*options, error) {
	o := &options{programs: map[string]string{}, duration: 2 * time.Second, rounds: 3, starts: 3, sessions: 200}
	o.sizes = []int{200, 2000, 20000}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "a few minutes: one short round, and no 20,000 tools")
	flags.StringVar(&o.root, "root", "../..", "folder of the repository")
	flags.StringVar(&o.from, "from", "", "measure nothing: write the page from the `results.json` of an earlier run")
	only := flags.String("only", "", "print how toolfit grows with these, and write no page: `names` with commas between, or growth for all")
	peers := flags.String("peers", "", "programs, or folders with their source, as `name=path` with blanks between")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("only flags are taken, not %q", flags.Arg(0))
	}
	if o.quick {
		o.duration, o.rounds, o.starts, o.sessions, o.sizes = time.Second, 1, 1, 50, []int{200, 2000}
	}
	var err error
	if o.root, err = filepath.Abs(o.root); err != nil {
		return nil, err
	}
	if o.only, err = axesNamed(*only); err != nil {
		return nil, err
	}
	for _, one := range strings.Fields(*peers) {
		name, path, _ := strings.Cut(one, "=")
		if !slices.Contains(named(), name) {
			return nil, fmt.Errorf("-peers: %q cannot be named; it is one of: %s", name, strings.Join(named(), ", "))
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() && !isModule(path) {
			return nil, fmt.Errorf("-peers: %s=%s is no program, and no folder with a go.mod", name, path)
		}
		if o.programs[name], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// measure runs everything.
func (o *options) measure(ctx context.Context) (*report, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	l, err := newLab(o)
	if err != nil {
		return nil, err
	}
	defer l.close()
	r := &report{Quick: o.quick, Machine: machine(), Date: time.Now().UTC().Format(time.DateOnly)}
	type step struct {
		say string
		do  func(context.Context, *report) error
	}
	steps := []step{
		{"install", l.install},
		{"what is lost", l.measureLoss},
		{"CPU per call", l.measureCalls},
		{"start-up and memory", l.measureMemory},
		{"growth with tools", l.measureGrowth},
		{"growth", l.measureAxes},
	}
	if len(o.only) > 0 {
		build := func(ctx context.Context, _ *report) error { return l.buildToolfit(ctx) }
		steps = []step{{"build", build}, {"growth", l.measureAxes}}
	}
	for _, step := range steps {
		fmt.Fprintf(os.Stderr, "== %s\n", step.say)
		if err := step.do(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", step.say, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return r, nil
}
