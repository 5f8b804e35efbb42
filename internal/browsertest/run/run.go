// Package run runs browser tests through a playwright-mcp server, whichever version it is.
//
// It acts on one element or on none: an ambiguous or missing element fails the step. A result
// marked isError fails the step; an expectation is checked on new snapshots until it holds or
// its timeout is over. Nothing is retried that may have acted already. Secrets are masked in
// all results. It opens no files and starts no processes: the browser is passed in.
//
//	r := run.New(browser, &run.Options{Base: "http://127.0.0.1:8080"})
//	result := r.Suite(ctx, suite)
//	fmt.Println(result.Passed())
package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Browser is one session with a playwright-mcp server. Calls are made one after another.
type Browser interface {
	// Call makes a tools/call and returns its result; the error is that of the transport, or a
	// *snapshot.Error. Asked is the call before fitting, for browsers that fit by themselves.
	Call(ctx context.Context, asked, fitted Call) (json.RawMessage, error)
	// Tools are what the server offers now.
	Tools(ctx context.Context) ([]Tool, error)
}

// Tool is one tool as the server lists it.
type Tool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Memory keeps how elements were found, between runs. It never holds refs.
type Memory interface {
	Get(key string) (Remembered, bool)
	Put(key string, r Remembered)
}

// Options change a Runner. The zero value is usable.
type Options struct {
	ID          string                                     // of the run; "": run
	Base        string                                     // over the suite's; "": the suite's
	Vars        map[string]string                          // over the suite's
	Env         func(name string) (string, bool)           // for ${env:NAME}; nil: none
	Secrets     []string                                   // masked from the start, besides those that steps use
	Timeout     time.Duration                              // of a step; 0: 10 s
	Retries     int                                        // of whole cases, over the case's own
	Dialogs     string                                     // accept, dismiss or fail, where the suite does not say; "": fail
	Screenshots string                                     // off, on-failure or always; "": on-failure
	Eval        bool                                       // allow eval steps
	Trace       func(said string) string                   // has the server record each case, and rewords its message; nil: no traces
	Synonyms    []string                                   // further words for find
	Memory      Memory                                     // nil: nothing is remembered
	Choose      Chooser                                    // asked last, where words do not lead to one element; nil: not asked
	Fit         func([]Tool) Fitter                        // made anew from each listing; nil: calls go out as they are
	Log         *slog.Logger                               // one line per step; nil: none
	Now         func() time.Time                           // nil: time.Now
	Sleep       func(context.Context, time.Duration) error // nil: a timer
	Done        func(CaseResult)                           // called after each case; nil: not called
}

// Fitter makes a call into what the live server takes.
type Fitter func(context.Context, Call) (Call, error)

// Call is a tool with its arguments.
type Call struct {
	Tool      string
	Arguments json.RawMessage
}

// Runner runs suites in one browser session. It is not for use by several goroutines.
type Runner struct {
	browser Browser
	opts    Options
	tools   map[string]Tool
	fit     Fitter
	page    *page // the last snapshot while it is good
	where   place
	awake   bool // the browser has answered since it was closed
	vars    *steps.Vars
	suite   *steps.Suite
	lang    locale.Language // of the suite and its error messages
	metrics *Metrics
	step    *StepResult           // the current one
	about   []string              // the refs of the elements that it used, or could not choose from
	chosen  *snapshot.Node        // the element that it used last; nil for none
	learned map[string]Remembered // by the current step
	until   time.Time             // the deadline of the current step
}

// New makes a Runner; nil options are the defaults.
func New(b Browser, opts *Options) *Runner {
	r := &Runner{browser: b, metrics: &Metrics{}}
	if opts != nil {
		r.opts = *opts
	}
	o := &r.opts
	o.ID = cmp.Or(o.ID, "run")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Fit == nil {
		o.Fit = func([]Tool) Fitter { return func(_ context.Context, c Call) (Call, error) { return c, nil } }
	}
	if o.Done == nil {
		o.Done = func(CaseResult) {}
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Suite runs all cases of a suite, each row of their data by itself.
func (r *Runner) Suite(ctx context.Context, s *steps.Suite) *Result {
	res := &Result{RunID: r.opts.ID, File: s.File, Name: s.Name, Language: s.Language(), Started: r.opts.Now()}
	r.suite = s
	r.metrics = &Metrics{}
	r.lang = s.Language()
	for i := range s.Cases {
		c := &s.Cases[i]
		if len(c.Data) == 0 {
			res.Cases = append(res.Cases, r.repeated(ctx, c, c.Name, nil))
			continue
		}
		for n, row := range c.Data {
			res.Cases = append(res.Cases, r.repeated(ctx, c, rowName(c.Name, n+1, row), row))
		}
	}
	res.Duration = Took{r.opts.Now().Sub(res.Started)}
	res.Metrics = *r.metrics
	return res
}

// repeated runs a case until it passes or its repetitions are used up.
func (r *Runner) repeated(ctx context.Context, c *steps.Case, name string, row map[string]string) CaseResult {
	var out CaseResult
	var earlier []*Error
	for attempt := 1; ; attempt++ {
		out = r.once(ctx, c, row)
		out.Name = r.mask(name)
		out.Attempts = attempt
		out.Earlier = earlier
		out.Language = r.lang
		if out.Status == Passed && attempt > 1 {
			out.Status = Flaky
			r.metrics.Flaky++
		}
		failed := out.Status == Failed || out.Status == Broken
		if !failed || attempt > max(c.Retries, r.opts.Retries) || ctx.Err() != nil {
			break
		}
		earlier = append(earlier, out.Error)
	}
	r.opts.Done(out)
	return out
}

// once runs a case in a fresh browser: setup, steps, teardown.
func (r *Runner) once(ctx context.Context, c *steps.Case, row map[string]string) (out CaseResult) {
	out = CaseResult{Tags: c.Tags, Line: c.Line, Status: Passed, Started: r.opts.Now()}
	defer func() { out.Duration = Took{r.opts.Now().Sub(out.Started)} }()
	if ctx.Err() != nil {
		out.Reason = NotBegun
	}
	out.Reason = cmp.Or(c.Skip, out.Reason)
	if out.Reason != "" {
		out.Status = Skipped
		return out
	}
	r.vars = r.newVars(row)
	if err := r.fresh(ctx); err != nil {
		out.Status = Broken
		out.Error = r.errorOf(endedBy(ctx, err), nil)
		return out
	}
	last, done := outliving(ctx, teardownLimit)
	defer done()
	r.startTrace(ctx)
	defer func() { out.Trace = r.stopTrace(last) }()
	r.runAll(ctx, &out, slices.Concat(r.suite.Setup, c.Steps), func() bool { return out.Error != nil })
	if r.where.modal != nil {
		r.dialog(last, &steps.Dialog{}) // the teardown needs the page; it may be gone by now
	}
	r.runAll(last, &out, r.suite.Teardown, func() bool { return last.Err() != nil })
	return out
}

// runAll runs steps until they are to be skipped.
func (r *Runner) runAll(ctx context.Context, out *CaseResult, list []steps.Step, skip func() bool) {
	for i := range list {
		s := &list[i]
		if skip() {
			out.Steps = append(out.Steps, StepResult{Text: r.vars.Mask(s.Text), File: s.File, Line: s.Line, Action: s.Action, Status: Skipped})
			continue
		}
		r.add(out, r.run(ctx, s))
	}
}

// newVars are the variables of a case. All secrets are masked, also those that it never uses.
func (r *Runner) newVars(row map[string]string) *steps.Vars {
	v := steps.NewVars(r.opts.Env, r.suite.Vars, row, r.opts.Vars)
	for _, s := range r.opts.Secrets {
		v.Hide(s)
	}
	for _, name := range r.suite.Env {
		v.Fill("${env:" + name + "}") // what is not set is said where it is used
	}
	return v
}

// add puts a step's result into its case's.
func (r *Runner) add(out *CaseResult, s StepResult) {
	out.Steps = append(out.Steps, s)
	if s.Status == Healed {
		out.Healed = true
	}
	if s.Status != Failed || out.Error != nil {
		return
	}
	out.Error = s.Error
	out.Status = Failed
	if slices.Contains(broken, s.Error.Details.Code) {
		out.Status = Broken
	}
}

// rowName is a case with the nth row of its data. A row with a secret has its number instead.
func rowName(name string, n int, row map[string]string) string {
	var parts []string
	secret := false
	for _, k := range slices.Sorted(maps.Keys(row)) {
		if strings.Contains(row[k], "${env:") {
			secret = true
			continue
		}
		parts = append(parts, k+"="+row[k])
	}
	if secret || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("row %d", n))
	}
	return fmt.Sprintf("%s [%s]", name, strings.Join(parts, ", "))
}

// fresh starts over: the tools are listed, and what the case before left behind is closed.
func (r *Runner) fresh(ctx context.Context) error {
	list, err := r.browser.Tools(ctx)
	if err != nil {
		return fmt.Errorf("list the tools of the browser server: %w", err)
	}
	started := r.tools != nil
	r.tools = map[string]Tool{}
	r.fit = r.opts.Fit(list)
	r.page = nil
	r.where = place{}
	for _, t := range list {
		r.tools[t.Name] = t
	}
	if started {
		r.call(ctx, "browser_close", nil) // a closed browser is as good as a fresh one
		r.where = place{}
		r.awake = false
	}
	return nil
}
