package cli

import (
	"context"
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

// testFlags say which tests are run, and how.
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
	flags.IntVar(&f.workers, "workers", 1, "how many browsers work side by side")
	flags.StringVar(&f.base, "base-url", "", "what stands before addresses that begin with /, instead of the files' own")
	flags.StringArrayVar(&f.vars, "var", nil, "a variable as NAME=VALUE, over the files' own; may be repeated")
	flags.IntVar(&f.retries, "retries", 0, "how often a case that failed is run again in a fresh browser")
	flags.DurationVar(&f.timeout, "timeout", 0, "limit for a step that names none (default 10s)")
	flags.BoolVar(&f.update, "update-locators", false, "remember in "+locatorsFile+" how elements were found")
	flags.StringSliceVar(&f.reports, "report", nil, "write reports: junit=FILE,html=FILE,json=FILE")
	flags.StringVar(&f.profile, "profile", "default", "profile whose tools the tests may use")
	flags.StringVar(&f.model, "model", "", "ask this model of the configuration where the words of a step do not lead to one element")
	f.browser.add(cmd)
}

func (c *command) test() *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [FILE | FOLDER …]",
		Short: "Run browser tests that are written in plain sentences",
		Long: `Run browser tests: YAML files and Markdown plans, in Chinese or English. Folders are searched for
*.yaml, *.yml and *.md files; without arguments it is the folder tests.

The browser is that of the playwright server in the configuration, or one that is started for the run.`,
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
	o.Server, o.Started, o.Done = cfg.server, p.started, p.done
	if flags.browser.trace != "" {
		o.Options.Trace = cfg.placed(flags.browser.trace)
	}
	var kept *trial.Run
	err = c.withApp(ctx, cfg.Config, slog.LevelError, func(a *app.App) (err error) {
		kept, err = a.RunTests(ctx, o)
		return err
	})
	p.end()
	if flags.browser.trace != "" { // the server has ended, and all is written
		if keepErr := trial.SaveTraces(cfg.traces, flags.browser.trace, p.begun, o.Secrets()); keepErr != nil {
			err = keepErr // whatever else went wrong: a secret may be left in a file
		}
	}
	if kept == nil {
		return err
	}
	return c.tellRun(kept, reports, memory, err)
}

// tellRun writes and shows what came of a run.
func (c *command) tellRun(kept *trial.Run, reports []reportFile, memory *trial.Locators, err error) error {
	for _, r := range reports {
		if writeErr := r.write(kept.Results); writeErr != nil && err == nil {
			err = writeErr
		}
	}
	if saveErr := memory.Save(); err == nil {
		err = saveErr
	}
	if showErr := c.showRun(kept); err == nil {
		err = showErr
	}
	if err == nil && kept.Outcome != trial.Passed {
		err = errSilent
	}
	return err
}

// order reads the files and says what is to be run.
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
			return o, usage("--var %q is not of the form NAME=VALUE", v)
		}
		o.Options.Vars[name] = strings.ReplaceAll(value, "${", "$${") // a value, not a template
	}
	var grep *regexp.Regexp
	if flags.grep != "" {
		var err error
		if grep, err = regexp.Compile(flags.grep); err != nil {
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
	o.Suites, o.Sources = trial.FilterCases(suites, flags.tags, grep), sources
	if len(o.Suites) == 0 {
		return o, usage("no case has such a tag and name, among %s", count(len(paths), "file"))
	}
	if len(args) == 1 {
		o.Name = args[0]
	}
	return o, nil
}

// maxWorkers bounds the browsers: each takes a few hundred megabytes.
const maxWorkers = 32

// readTests reads all files; what is wrong in any of them is said in one go.
func readTests(paths []string) (suites []*steps.Suite, sources map[string]string, err error) {
	sources = map[string]string{}
	read := func(path string) ([]byte, error) { // what a file includes is kept with it
		data, err := os.ReadFile(path)
		if err == nil {
			sources[path] = string(data)
		}
		return data, err
	}
	var wrong []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		s, err := steps.Parse(path, data, read)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		sources[path] = string(data)
		suites = append(suites, s)
	}
	if len(wrong) > 0 {
		return nil, nil, usage("%s", strings.Join(wrong, "\n"))
	}
	return suites, sources, nil
}

// showRun prints the numbers, or all of the run with --json.
func (c *command) showRun(k *trial.Run) error {
	if c.json {
		return c.printJSON(map[string]any{"id": k.ID, "outcome": k.Outcome, "totals": k.Totals, "results": withoutImages(k.Results)})
	}
	t := k.Totals
	parts := []string{fmt.Sprintf("%d of %d passed", t.Passed, t.Tests)}
	for _, n := range []struct {
		count int
		what  string
	}{{t.Failed, "failed"}, {t.Errors, "broken"}, {t.Skipped, "left out"}, {t.Flaky, "flaky"}, {t.Healed, "healed"}} {
		if n.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	_, err := fmt.Fprintf(c.env.Out, "\n%s in %.1f s (%s)\n", strings.Join(parts, ", "), k.Duration.Seconds(), k.ID)
	return err
}

func withoutImages(list []*run.Result) []*run.Result {
	out := run.Copies(list)
	for _, s := range run.Steps(out) {
		s.Screenshot = nil
	}
	return out
}
