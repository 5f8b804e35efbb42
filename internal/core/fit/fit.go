// Package fit makes what a model sent into what a tool takes. Driven by the live schema of
// the tool, it undoes the provider's dialect, follows what is known of the server, repairs
// what models usually get wrong, and checks the outcome in full; or it refuses, and says in
// one go everything that is wrong, so that the model can correct it.
//
// It is pure: bytes in, bytes out. It never touches a value that fits, never makes up an
// argument that neither the schema nor the configuration states, never refuses a call
// because a schema is odd, and ends in bounded time.
//
// Schemas mean what their draft says, with these exceptions, all on the side of the caller:
// format is not asserted; a pattern that Go does not know, or that is very large, matches; a reference that leads
// nowhere, to another document or back to itself accepts anything; nullable beside a type
// allows null; a keyword with a value that makes no sense is left out.
//
//	t, err := fit.Compile(def.InputSchema(), nil)
//	res, err := t.Fit(json.RawMessage(`{"count":"3"}`)) // {"count":3}, and one Repair
//	var no *fit.Error
//	if errors.As(err, &no) { … } // no.Problems
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
	Light  Validation = "light"  // required keys and types; what the tool does not know is dropped
)

// Options change how arguments are fitted. The zero value is what most callers want.
type Options struct {
	Validation Validation     // "": Strict
	Without    []Kind         // repairs that are not made
	Back       *schema.Result // the way back from the dialect that the model saw; nil: it saw the schema itself
	Known      *KnownTool     // what is known of this tool's server; nil: nothing
	Override   *Overridden    // the tool as the model saw it; nil: as it is
}

// Tool fits the arguments of one tool. It is safe for concurrent use.
type Tool struct {
	schema   *document
	opts     Options
	straight bool // arguments that fit need no look before
}

// document is the schema of one tool, compiled on first use.
type document struct {
	raw   []byte
	once  sync.Once
	root  *shape
	place []*shape // what arguments must be: root, and an object where that is possible
	notes []string
	tapes sync.Pool
}

// Compile prepares to fit the arguments of a tool. The schema is read on first use. Nil options are
// the defaults.
func Compile(inputSchema json.RawMessage, opts *Options) (*Tool, error) {
	t := &Tool{schema: &document{raw: inputSchema}}
	if opts != nil && opts.Known != nil && opts.Known.schema != nil && isEmptySchema(inputSchema) {
		t.schema.raw = opts.Known.schema
	}
	return t.With(opts)
}

// With is the same tool with other options. The schema is not read again, and Known must be the same.
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
	c.straight = c.opts.Back == nil && c.opts.Known == nil && c.opts.Override == nil
	return c, nil
}

// Schema is the schema in force: the tool's own, or the one that it should have had.
func (t *Tool) Schema() json.RawMessage { return t.schema.raw }

// Notes lists what of the schema could not be used, and so is not checked.
func (t *Tool) Notes() []string { return slices.Clone(t.schema.read().notes) }

// objectOnly is what arguments are in MCP.
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

// Result is what a tool takes, and how it came about.
type Result struct {
	Args    json.RawMessage // the very bytes that came when nothing had to change
	Repairs []Repair        // what was repaired
	Undone  []schema.Fix    // what of the dialect was undone
	bound   map[string]json.RawMessage
}

// Open is the arguments without the values that an override fixes, which callers must not see.
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
		var fits, spent bool
		if tp.read(args) == nil {
			fits, spent = check(ctx, d.place, tp, t.opts.Validation == Light)
		}
		d.release(tp)
		switch {
		case fits:
			return Result{Args: args}, nil
		case spent:
			return Result{}, unlessLeft(ctx, tooComplex())
		}
	}
	res, fitErr := t.slow(ctx, args)
	return res, unlessLeft(ctx, fitErr)
}

// unlessLeft is fitErr as an error, or a cancellation: a check that was cut short says nothing about
// the value.
func unlessLeft(ctx context.Context, fitErr *Error) error {
	switch {
	case fitErr == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.Canceled, "the call was canceled: %w", context.Cause(ctx))
	}
	return fitErr
}

// release returns a tape to the pool, unless one large value has made it large.
func (d *document) release(tp *tape) {
	tp.data = nil
	if cap(tp.tokens) <= 4096 {
		d.tapes.Put(tp)
	}
}

// check reports whether the value on the tape has every shape, or that checking took too many steps.
func check(ctx context.Context, place []*shape, t *tape, light bool) (fits, spent bool) {
	c := checker{budget: newBudget(ctx, len(t.data)), t: t, light: light}
	fits = c.all(place, 0)
	return fits, c.spent()
}

// slow takes every step from the model's arguments to the tool's.
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
		fixed = args // none were sent, and none are needed
	}
	out := Result{Args: fixed, Repairs: m.repairs, Undone: undone}
	if t.opts.Override != nil {
		out.bound = t.opts.Override.o.Fix
	}
	return out, nil
}

// back undoes the dialect. Arguments that cannot be mapped may be in the tool's own form already.
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

// Check reports whether a value of any type fits the schema, for results and output schemas. Errors are
// as in Fit.
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
