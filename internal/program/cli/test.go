package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
)

type testFlags struct {
	tags, vars, reports []string
	grep, base          string
	workers, retries    int
	timeout             time.Duration
	update              bool
	profile, model      string
	browser             browserFlags
}

func (f *testFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.tags, "tag", nil, "only cases with one of these tags")
	flags.StringVar(&f.grep, "grep", "", "only cases whose name matches this regular expression")
	flags.IntVar(&f.workers, "workers", 1, "number of browsers to run in parallel")
	flags.StringVar(&f.base, "base-url", "", "base of addresses that begin with / (default: as in the files)")
	flags.StringArrayVar(&f.vars, "var", nil, "variable NAME=VALUE, overriding the files; can be repeated")
	flags.IntVar(&f.retries, "retries", 0, "how often to run a failed case again in a new browser")
	flags.DurationVar(&f.timeout, "timeout", 0, "timeout of steps without their own (default 10s)")
	flags.BoolVar(&f.update, "update-locators", false, "save in "+locatorsFile+" how elements were found")
	flags.StringSliceVar(&f.reports, "report", nil, "write reports: junit=FILE,html=FILE,json=FILE")
	flags.StringVar(&f.profile, "profile", "default", "profile of the tools that tests may use")
	flags.StringVar(&f.model, "model", "", "model to ask when a step does not match exactly one element")
	f.browser.add(cmd)
}

func (c *command) test() *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [FILE | FOLDER …]",
		Short: "Run browser tests written in plain sentences",
		Long: `Run browser tests: YAML files and Markdown plans, in Chinese or English. Folders are searched for
*.yaml, *.yml and *.md files; the default is the folder tests.

The browser is that of the configured Playwright server, or one that is started for the run.`,
		Example: `  toolfit test init
  toolfit test tests --tag smoke --workers 2 --report junit=junit.xml,html=report.html
  toolfit test login.yaml --base-url http://127.0.0.1:8080 --headed`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.runTests(cmd.Context(), &flags, args) },
	}
	flags.add(cmd)
	cmd.AddCommand(c.testInit())
	return cmd
}

// runTests runs the tests of files and folders.
func (c *command) runTests(ctx context.Context, flags *testFlags, args []string) error {
	o, err := c.order(flags, args)
	if err != nil {
		return err
	}
	reports, err := parseReports(flags.reports)
	if err != nil {
		return err
	}
	cfg, end, err := c.browserConfig(ctx, flags)
	if err != nil {
		return err
	}
	defer end()
	if err := makeRoom(reports); err != nil {
		return err
	}
	stop, err := trial.Serve(o.Suites)
	if err != nil {
		return fault.New(fault.BadRequest, "%w", err)
	}
	defer stop()
	memory, err := trial.OpenLocators(locatorsFile, flags.update)
	if err != nil {
		return err
	}
	if memory != nil {
		o.Options.Memory = memory
	}
	p := c.newProgress(o.Suites)
	o.Server = cfg.server
	o.Started = p.started
	o.Done = p.done
	if flags.browser.trace != "" {
		o.Options.Trace = cfg.placed(flags.browser.trace)
	}
	var run *trial.Run
	err = c.withApp(ctx, cfg.Config, slog.LevelError, func(a *app.App) (err error) {
		run, err = a.RunTests(ctx, o)
		return err
	})
	p.end()
	if flags.browser.trace != "" { // the server has ended and has written everything
		if keepErr := trial.SaveTraces(cfg.traces, flags.browser.trace, p.begun, o.Secrets()); keepErr != nil {
			err = keepErr // the most important: a secret may be left in a file
		}
	}
	if run == nil {
		return err
	}
	return c.tellRun(run, reports, memory, err)
}

func (c *command) tellRun(run *trial.Run, reports []reportFile, memory *trial.Locators, err error) error {
	for _, r := range reports {
		if writeErr := r.write(run.Results); writeErr != nil && err == nil {
			err = writeErr
		}
	}
	if saveErr := memory.Save(); err == nil {
		err = saveErr
	}
	if showErr := c.showRun(run); err == nil {
		err = showErr
	}
	if err == nil && run.Outcome != trial.Passed {
		err = errSilent
	}
	return err
}

func (c *command) order(flags *testFlags, args []string) (trial.Order, error) {
	o := trial.Order{Who: access.Owner(), Profile: flags.profile, Workers: flags.workers, Model: flags.model}
	o.Options = run.Options{Base: flags.base, Env: c.env.Lookup, Timeout: flags.timeout, Retries: flags.retries, Vars: map[string]string{}}
	if flags.workers < 1 || flags.workers > maxWorkers {
		return o, usage("--workers must be from 1 to %d", maxWorkers)
	}
	if flags.retries < 0 || flags.timeout < 0 {
		return o, usage("--retries and --timeout must not be negative")
	}
	for _, v := range flags.vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return o, usage("--var %q: expected NAME=VALUE", v)
		}
		o.Options.Vars[name] = strings.ReplaceAll(value, "${", "$${") // a value, not a template
	}
	var grep *regexp.Regexp
	if flags.grep != "" {
		var err error
		grep, err = regexp.Compile(flags.grep)
		if err != nil {
			return o, usage("--grep: %v", err)
		}
	}
	paths, err := testFiles(args)
	if err != nil {
		return o, err
	}
	suites, sources, err := readTests(paths)
	if err != nil {
		return o, err
	}
	o.Suites = trial.FilterCases(suites, flags.tags, grep)
	o.Sources = sources
	if len(o.Suites) == 0 {
		return o, usage("no matching case in %s", c.count(len(paths), "file"))
	}
	if len(args) == 1 {
		o.Name = args[0]
	}
	return o, nil
}

// maxWorkers limits the browsers, each of which takes a few hundred megabytes.
const maxWorkers = 32

func readTests(paths []string) (suites []*steps.Suite, sources map[string]string, err error) {
	sources = map[string]string{}
	read := func(path string) ([]byte, error) {
		data, err := os.ReadFile(path)
		if err == nil {
			sources[path] = string(data)
		}
		return data, err
	}
	var problems []error
	for _, path := range paths {
		var s *steps.Suite
		data, err := read(path)
		if err == nil {
			s, err = steps.Parse(path, data, read)
		}
		problems = append(problems, err)
		suites = append(suites, s)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, nil, usageError{err}
	}
	return suites, sources, nil
}

// showRun prints the totals, or with --json all results.
func (c *command) showRun(k *trial.Run) error {
	t := k.Totals
	parts := []string{c.lang.Sprintf("%d of %d passed", t.Passed, t.Tests)}
	for _, n := range []struct {
		count int
		what  string
	}{{t.Failed, "failed"}, {t.Errors, "broken"}, {t.Skipped, "skipped"}, {t.Flaky, "flaky"}, {t.Healed, "healed"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, c.word(n.what)))
		}
	}
	return c.printf(map[string]any{"id": k.ID, "outcome": k.Outcome, "totals": t, "results": withoutImages(k.Results)},
		"\n%s in %.1f s (%s)\n", strings.Join(parts, ", "), k.Duration.Seconds(), k.ID)
}

func withoutImages(list []*run.Result) []*run.Result {
	out := run.Copies(list)
	for _, s := range run.Steps(out) {
		s.Screenshot = nil
	}
	return out
}
