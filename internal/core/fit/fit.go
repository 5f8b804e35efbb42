// Package fit turns the arguments that a model sent into arguments that a tool accepts.
// Driven by the tool's live schema, it undoes the provider's dialect, applies the rules for
// known servers, repairs common mistakes of models, and validates the result. If that fails,
// it lists all problems at once, so that the model can correct them.
//
// It is pure: bytes in, bytes out. It never changes a valid value, never renames or moves a key
// that the schema declares, never invents an argument that neither the schema nor the
// configuration states, never refuses a call because a schema is odd, and ends in bounded time.
//
// Schemas are read according to their draft, with these exceptions, all in favor of the
// caller: format is not asserted; a pattern that Go does not support, or that is very large,
// matches; a reference to nothing, to another document or to itself accepts anything;
// nullable beside a type allows null; a keyword with an invalid value is ignored.
//
//	t, err := fit.Compile(def.InputSchema(), nil)
//	res, err := t.Fit(ctx, json.RawMessage(`{"count":"3"}`)) // {"count":3}, and one Repair
//	var fitErr *fit.Error
//	if errors.As(err, &fitErr) { … } // fitErr.Problems
package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/schema"
)

// Validation is how much of the schema the arguments must satisfy.
type Validation string

const (
	Strict Validation = "strict" // all of it
	Light  Validation = "light"  // required keys and types; unknown keys are dropped
)

// Options change how arguments are fitted. The zero value suits most callers.
type Options struct {
	Name       string         // what the tool is called; only Compile reads it; "": not known
	Validation Validation     // "": Strict
	Without    []Kind         // repairs that are turned off
	Back       *schema.Result // maps arguments back from the dialect that the model saw; nil: it saw the schema itself
	Known      *KnownTool     // known facts about this tool; may be nil
	Override   *Overridden    // the tool as the model saw it; nil: unchanged
	Taken      *Taken         // unlisted values that the tool takes; nil: none
}

// Tool fits the arguments of one tool. It is safe for concurrent use.
type Tool struct {
	schema   *document
	opts     Options
	straight bool // valid arguments can be passed on without further steps
	renames  bool // names that the schema does not declare are looked at, also where it allows them
}

// document is the schema of one tool, compiled on first use.
type document struct {
	name  string // of the tool; "": not known
	raw   []byte
	once  sync.Once
	root  *shape
	place []*shape // what arguments must match: root, and an object where that is possible
	notes []string
	tapes sync.Pool
}

// Compile prepares to fit the arguments of a tool. The schema is compiled on first use. Nil
// options mean the defaults.
func Compile(inputSchema json.RawMessage, opts *Options) (*Tool, error) {
	t := &Tool{schema: &document{raw: inputSchema}}
	if opts != nil {
		t.schema.name = fold(opts.Name)
	}
	if opts != nil && opts.Known != nil && opts.Known.schema != nil && isEmptySchema(inputSchema) {
		t.schema.raw = opts.Known.schema
	}
	return t.With(opts)
}

// With returns the same tool with other options. The schema is not compiled again; Known must
// be the same.
func (t *Tool) With(opts *Options) (*Tool, error) {
	c := &Tool{schema: t.schema}
	if opts != nil {
		c.opts = *opts
	}
	switch c.opts.Validation {
	case "":
		c.opts.Validation = Strict
	case Strict, Light:
	default:
		return nil, fmt.Errorf("validation %q is neither %q nor %q", c.opts.Validation, Strict, Light)
	}
	for _, k := range c.opts.Without {
		if !slices.Contains(Kinds, k) {
			return nil, fmt.Errorf("unknown repair %q; the repairs are %v", k, Kinds)
		}
	}
	c.renames = !slices.Contains(c.opts.Without, Rename) || !slices.Contains(c.opts.Without, Level)
	c.straight = c.opts.Back == nil && c.opts.Known == nil && c.opts.Override == nil
	return c, nil
}

// Schema returns the schema in force: the tool's own, or its replacement from Known.
func (t *Tool) Schema() json.RawMessage { return t.schema.raw }

// Notes lists the parts of the schema that could not be used and are not checked.
func (t *Tool) Notes() []string { return slices.Clone(t.schema.read().notes) }

// objectOnly is the shape of arguments in MCP.
var objectOnly = func() *shape {
	s := (&compiler{}).blank()
	s.types = tObject
	s.accepts = tObject
	return s
}()

func (d *document) read() *document {
	d.once.Do(func() {
		d.root, d.notes = compile(d.raw)
		d.place = []*shape{d.root}
		if d.root.accepts&tObject != 0 {
			d.place = append(d.place, objectOnly)
		}
		d.tapes.New = func() any { return &tape{} }
	})
	return d
}

// Result is the fitted arguments and what was changed.
type Result struct {
	Args    json.RawMessage // the original bytes if nothing changed
	Repairs []Repair        // what was repaired
	Undone  []schema.Fix    // what was undone of the dialect
	Warn    []string        // what fits only because the tool has taken it before
	bound   map[string]json.RawMessage
}

// Open returns the arguments without the values that an override fixes, which callers must not
// see.
func (r *Result) Open() json.RawMessage {
	o, ok := editObject(r.Args)
	if len(r.bound) == 0 || !ok {
		return r.Args
	}
	for k := range o.members {
		o.members[k].drop = has(r.bound, o.members[k].name)
	}
	return o.bytes()
}

// Fit returns arguments that the tool accepts. The error is a *Error, or a fault.Canceled when ctx
// ends first.
func (t *Tool) Fit(ctx context.Context, args json.RawMessage) (Result, error) {
	d := t.schema.read()
	if t.straight && len(args) > 0 {
		tp := d.tapes.Get().(*tape)
		c := checker{budget: newBudget(ctx, len(args)), t: tp, light: t.opts.Validation == Light}
		fits := tp.read(args) == nil && c.all(d.place, 0)
		d.release(tp)
		switch {
		case fits && !(c.odd && t.renames):
			return Result{Args: args}, nil
		case c.spent():
			return Result{}, unlessLeft(ctx, tooComplex())
		}
	}
	res, fitErr := t.slow(ctx, args)
	return t.warned(ctx, res), unlessLeft(ctx, fitErr)
}

// unlessLeft returns fitErr as an error, or a cancellation: an interrupted check says nothing
// about the value.
func unlessLeft(ctx context.Context, fitErr *Error) error {
	switch {
	case fitErr == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.Canceled, "the call was canceled: %w", context.Cause(ctx))
	}
	return fitErr
}

// release returns a tape to the pool unless it has grown large.
func (d *document) release(tp *tape) {
	tp.data = nil
	if cap(tp.tokens) <= 4096 {
		d.tapes.Put(tp)
	}
}

// check reports whether the value on the tape has every shape, and whether the check ran out
// of steps.
func check(ctx context.Context, place []*shape, t *tape, light bool) (fits, spent bool) {
	c := checker{budget: newBudget(ctx, len(t.data)), t: t, light: light}
	fits = c.all(place, 0)
	return fits, c.spent()
}

// slow applies all steps from the model's arguments to the tool's.
func (t *Tool) slow(ctx context.Context, args json.RawMessage) (Result, *Error) {
	m := newRepairer(ctx, t, len(args))
	raw, fitErr := m.open(args, t.schema.root.accepts&tString != 0)
	if fitErr != nil {
		return Result{}, fitErr
	}
	var undone []schema.Fix
	if t.opts.Back != nil {
		raw, undone, fitErr = t.back(ctx, raw)
		if fitErr != nil {
			return Result{}, fitErr
		}
	}
	if t.opts.Override != nil {
		raw, fitErr = t.opts.Override.apply(m, raw)
		if fitErr != nil {
			return Result{}, fitErr
		}
	}
	bound := raw
	var rules *ruleReport
	if t.opts.Known != nil {
		raw, rules = t.opts.Known.apply(m, raw)
	}
	fixed, fitErr := m.fit(raw, rules)
	if fitErr == nil && t.opts.Override != nil {
		fitErr = t.opts.Override.holds(bound, fixed, m.repairs)
	}
	if fitErr != nil {
		if t.opts.Override != nil {
			t.opts.Override.rename(fitErr)
		}
		return Result{}, fitErr
	}
	if len(args) == 0 && string(fixed) == "{}" {
		fixed = args // none were sent and none are needed
	}
	out := Result{Args: fixed, Repairs: m.repairs, Undone: undone}
	if t.opts.Override != nil {
		out.bound = t.opts.Override.o.Fix
	}
	return out, nil
}

// back undoes the dialect. Arguments that cannot be mapped back may already be in the tool's
// own form.
func (t *Tool) back(ctx context.Context, raw []byte) ([]byte, []schema.Fix, *Error) {
	out, fixes, err := t.opts.Back.Back(raw)
	if err == nil {
		return out, fixes, nil
	}
	tp := &tape{}
	if tp.read(raw) == nil {
		if fits, _ := check(ctx, t.schema.place, tp, false); fits {
			return raw, nil, nil
		}
	}
	p := Problem{Code: Unmapped, Expected: "arguments of the form that was shown", Hint: cut(err.Error(), 2*maxText)}
	if e, ok := err.(*schema.Error); ok {
		p.Field = cut(e.Pointer, 4*maxText)
		p.Hint = cut(e.Message, 2*maxText)
	}
	return nil, nil, refuse(p)
}

const badOutput = "the result does not fit the tool's output schema"

// Check checks a value of any type against the schema, for results and output schemas. Errors
// are as in Fit.
func (t *Tool) Check(ctx context.Context, value json.RawMessage) error {
	d := t.schema.read()
	tp := d.tapes.Get().(*tape)
	defer d.release(tp)
	if err := tp.read(value); err != nil {
		return refuse(Problem{Code: NotJSON, Expected: "JSON", Hint: err.Error()}).of(badOutput, fault.UpstreamProtocol)
	}
	place := []*shape{d.root}
	fits, spent := check(ctx, place, tp, false)
	if fits {
		return nil
	}
	fitErr := tooComplex()
	if !spent {
		fitErr = explain(ctx, place, tp, false)
	}
	return unlessLeft(ctx, fitErr.of(badOutput, fault.UpstreamProtocol))
}
