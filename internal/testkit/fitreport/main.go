// Command fitreport measures how well toolfit fits: schemas for each provider, tool search, arguments, results within a budget,
// elements of pages, the scan of definitions, scripts. It runs the labs of these packages on the whole sets in TOOLFIT_DATA and
// on open sets that it is told of, and writes what they report to docs/benchmarks.md. It needs no network, changes nothing
// else, and measures no time.
//
//	make fit-report SETS="tau2=/path/to/tau2-bench nestful=/path/to/NESTFUL mcpproxy=/path/to/mcpproxy-go"
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fit-report:", err)
		os.Exit(1)
	}
}

// report is everything that was measured.
type report struct {
	Date, Commit, Machine string
	Rows                  []corpora.Row
	Sets                  []*openSet
	Fails                 []string // tests of labs that do not pass
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fit-report", flag.ContinueOnError)
	root := flags.String("root", ".", "folder of the repository")
	folders := flags.String("sets", "", "open sets, as `name=folder` with blanks between")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := haveData(os.Getenv("TOOLFIT_DATA")); err != nil {
		return err
	}
	r := &report{Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(*root), Machine: machine(), Sets: openSets()}
	if err := locate(r.Sets, *folders); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fit-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := readSets(r.Sets, dir); err != nil {
		return err
	}
	for _, l := range labs {
		fmt.Fprintf(os.Stderr, "== %s\n", l.pkg)
		if err := r.measure(ctx, *root, dir, l); err != nil {
			return err
		}
	}
	return r.write(filepath.Join(*root, "docs"))
}

func haveData(dir string) error {
	for _, part := range []string{"schemas", "retrieval", "browser"} {
		if _, err := os.Stat(filepath.Join(dir, part)); dir == "" || err != nil {
			return fmt.Errorf("TOOLFIT_DATA=%q has no folder %s: name the folder with the whole sets schemas, retrieval and browser", dir, part)
		}
	}
	return nil
}

// lab is a test that reports what it measures.
type lab struct {
	pkg, tests string
	flags      []string
}

var labs = []lab{
	{"./schema", "^TestLab", []string{"-lab"}},
	{"./internal/core/search", "^TestLab($|LeaveOneOut|OpenSets)", []string{"-lab"}},
	{"./internal/core/prompt", "^TestLab", []string{"-lab"}},
	{"./internal/core/fit", "^Test(Key)?Lab", nil},
	{"./internal/core/project", "^TestLabBudgets", []string{"-lab"}},
	{"./internal/browsertest/find", "^TestLabeledQueries", nil},
	{"./internal/core/scan", "^Test(RecallOnALabelledCorpus|FewRealToolsAreSuspicious)", nil},
	{"./internal/testkit/scriptlab", "^TestLab", nil},
}

var failing = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)

// measure runs one lab. One that does not pass has still measured something: the page says so.
func (r *report) measure(ctx context.Context, root, dir string, l lab) error {
	rows := filepath.Join(dir, "rows.jsonl")
	args := append([]string{"test", l.pkg, "-run", l.tests, "-v", "-count=1", "-timeout=30m"}, l.flags...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TOOLFIT_REPORT="+rows, "TOOLFIT_LAB=full", "TOOLFIT_OPEN_SETS="+dir)
	if scan := filepath.Join(dir, "scan"); exists(scan) {
		cmd.Env = append(cmd.Env, "TOOLFIT_SCAN_CORPUS="+scan)
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	fails := failing.FindAllSubmatch(out, -1)
	if err != nil && len(fails) == 0 {
		return fmt.Errorf("%s: %w\n%s", l.pkg, err, out[max(0, len(out)-4000):])
	}
	for i, f := range fails {
		inner := i+1 < len(fails) && bytes.HasPrefix(fails[i+1][1], append(f[1], '/')) // it says more
		if !inner {
			r.Fails = append(r.Fails, fmt.Sprintf("`%s` of `%s`", f[1], strings.TrimPrefix(l.pkg, "./")))
		}
	}
	text, err := os.ReadFile(rows)
	if err != nil {
		return fmt.Errorf("%s has reported nothing: %w", l.pkg, err)
	}
	for line := range bytes.Lines(text) {
		var row corpora.Row
		if err := json.Unmarshal(line, &row); err != nil {
			return err
		}
		r.Rows = append(r.Rows, row)
	}
	return os.Remove(rows)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// commit names what was measured, and whether files are changed since.
func commit(root string) string {
	out, err := exec.Command("git", "-C", root, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	changes, err := exec.Command("git", "-C", root, "status", "--porcelain", "--untracked-files=no", "--", "*.go").Output()
	if err != nil || len(changes) > 0 {
		name += " with changes"
	}
	return name
}

// machine is where it ran. No figure depends on it.
func machine() string {
	return fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
