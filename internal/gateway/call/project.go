package call

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Results keeps full results, so that what a model is not sent can be fetched.
type Results interface {
	KeepResult(ctx context.Context, r store.Result) error
	Result(ctx context.Context, owner, ref string) (store.Result, error)
}

// project cuts a result to what its reader needs. What is left out is kept first: when that
// does not work, nothing is left out.
func (c *Caller) project(ctx context.Context, s sent, req *Request, rec *recording) json.RawMessage {
	full := s.out.Raw
	res := &s.view.Results
	if s.entry.Own || req.Whole {
		return full
	}
	shown, usual, how, choice := []byte(full), res.How, project.How{}, project.Choice{}
	if req.Budget > 0 {
		usual.Budget = req.Budget
	}
	if req.Reader == Model {
		shown = cleaned(res, full)
		how, choice = howFor(s.view, usual, s.entry.Name, s.fitted.Args)
	}
	req.page.ask(&how)
	if req.MaxChars > 0 {
		how.Budget = project.BudgetFor(shown, req.MaxChars, how.Budget)
	}
	if choice.Shadow != nil {
		cut := project.Plan(ctx, shown, choice.Shadow.How(usual))
		c.opts.Metrics.shadowed(choice.Shadow, cut)
		if sent := c.counts.shadowed(choice.Shadow, cut); sent > 0 {
			rec.call.Shadow, rec.call.TokensShadow = choice.Shadow.ID, sent
		}
		cut.Release()
	}
	if how == (project.How{}) {
		return c.keepWhere(ctx, s, rec, shown, tooLong(shown, req))
	}
	cut := project.Plan(ctx, shown, how)
	defer cut.Release()
	c.opts.Metrics.projected(choice.On, cut)
	c.counts.projected(choice.On, cut)
	c.unseen(s, choice.On, cut)
	if choice.On != nil && cut.Outcome == project.Projected {
		rec.call.Rule = choice.On.ID
	}
	if cut.Outcome == project.Projected && res.Cleaner == nil {
		rec.full = cut.Full()
	}
	if !cut.Leaves() || res.Keep == "none" {
		out := cut.Apply("")
		return c.keepWhere(ctx, s, rec, out, tooLong(out, req))
	}
	if err := c.keep(ctx, s, rec); err != nil {
		rec.call.Rule = ""
		return c.unkept(rec, shown, err)
	}
	return cut.Apply(rec.call.Ref)
}

// unkept is what is sent of a result that the store did not take.
func (c *Caller) unkept(rec *recording, shown json.RawMessage, err error) json.RawMessage {
	c.opts.Logger.Error("a result could not be kept; it is given whole", "call", rec.call.ID, "tool", rec.call.Tool, "error", fault.As(err))
	rec.note("the result could not be kept")
	return withNote(shown, notKept)
}

// howFor is what a result is to be cut to: by the rule for the call, else as usual.
func howFor(v *catalog.View, usual project.How, name tool.Name, args json.RawMessage) (project.How, project.Choice) {
	choice := v.Results.Rules.Choose(name, v.Profile, args)
	if choice.On != nil {
		return choice.On.How(usual), choice
	}
	return usual, choice
}

// cleaned is a result without what the profile keeps from models.
func cleaned(res *catalog.Results, raw []byte) []byte {
	if res.Cleaner == nil {
		return raw
	}
	clean, _ := res.Cleaner.Result(raw)
	return clean
}

// Shown is what a model gets of a kept result by the rules that are in force now.
func (c *Caller) Shown(ctx context.Context, r store.Result) ([]byte, error) {
	view, err := c.tools.View(r.Profile)
	if err != nil {
		return nil, err
	}
	shown := cleaned(&view.Results, r.Body)
	how, _ := howFor(view, view.Results.How, r.Tool, r.Args)
	cut := project.Plan(ctx, shown, how)
	defer cut.Release()
	return cut.Apply(r.Ref), nil
}

// Shadowed is what a model would get of a kept result by the rule in shadow that is for its call
// now; no rule where none is, or where it would not cut.
func (c *Caller) Shadowed(ctx context.Context, r store.Result) (rule string, shown []byte, err error) {
	view, err := c.tools.View(r.Profile)
	if err != nil {
		return "", nil, err
	}
	_, choice := howFor(view, view.Results.How, r.Tool, r.Args)
	if choice.Shadow == nil {
		return "", nil, nil
	}
	cut := project.Plan(ctx, cleaned(&view.Results, r.Body), choice.Shadow.How(view.Results.How))
	defer cut.Release()
	if cut.Outcome != project.Projected {
		return "", nil, nil
	}
	return choice.Shadow.ID, cut.Apply(r.Ref), nil
}

// tooLong tells whether the reader will leave out more than is cut here: an error is never
// cut, and one long row cannot be.
func tooLong(out []byte, req *Request) bool {
	return req.MaxChars > 0 && len(out) > req.MaxChars && utf8.RuneCountInString(project.Text(out)) > req.MaxChars
}

// keepWhere keeps a result of which nothing was left out here: where all are kept, or where
// its reader will leave something out. It returns what is sent.
func (c *Caller) keepWhere(ctx context.Context, s sent, rec *recording, out json.RawMessage, needed bool) json.RawMessage {
	if keep := s.view.Results.Keep; keep != "all" && (!needed || keep == "none") {
		return out
	}
	if err := c.keep(ctx, s, rec); err != nil {
		return c.unkept(rec, out, err)
	}
	return out
}

// keep stores the full result and notes where it is.
func (c *Caller) keep(ctx context.Context, s sent, rec *recording) error {
	if c.opts.Results == nil {
		return nil
	}
	call := &rec.call
	r := store.Result{
		Owner: call.Principal, Call: call.ID, Server: call.Server, Tool: call.Tool, Profile: call.Profile, Session: call.Session,
		Rule: call.Rule, Args: c.redacted(s.fitted.Args), Body: s.out.Raw, At: call.At, Expires: call.At.Add(c.opts.Retain()),
	}
	for range maxRefs {
		r.Ref = newRef()
		err := c.opts.Results.KeepResult(ctx, r)
		if err == nil {
			call.Ref = r.Ref
			return nil
		}
		if !fault.Is(err, fault.Conflict) {
			return fmt.Errorf("keep result of %s: %w", s.entry.Name, err)
		}
	}
	return fmt.Errorf("keep result of %s: %d refs in a row are taken", s.entry.Name, maxRefs)
}

// redacted are arguments without secrets: those that the configuration binds are not for
// the caller, who may read its results.
func (c *Caller) redacted(args json.RawMessage) json.RawMessage {
	text := string(args)
	clean := c.opts.Redact(text)
	switch {
	case clean == text:
		return args
	case !json.Valid([]byte(clean)): // a secret was more than one value
		return none
	}
	return json.RawMessage(clean)
}

// maxRefs is how many handles are tried: they are short, so that one may be taken.
const maxRefs = 5

var refAlphabet = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// newRef is a handle that is short, because models repeat it, and that is looked up together
// with its owner, so that it need not be a secret.
func newRef() string {
	var random [5]byte
	rand.Read(random[:]) // never fails
	return "r_" + refAlphabet.EncodeToString(random[:])
}

// unseen warns once of each name in a rule's mask that no result has had.
func (c *Caller) unseen(s sent, rule *project.Active, cut *project.Cut) {
	if rule == nil || len(cut.Unseen) == 0 || rule.Source == project.Builtin { // ours name what some versions have
		return
	}
	key := rule.ID + "\x00" + strings.Join(cut.Unseen, "\x00")
	if _, told := c.told.LoadOrStore(key, true); !told {
		c.opts.Logger.Warn("a rule names fields that the result does not have", "rule", rule.ID, "tool", s.entry.Name, "fields", cut.Unseen)
	}
}

// page is what a caller asks to see of a result.
type page struct {
	fields        *mask.Mask
	offset, limit int
}

// ask puts what the caller asks for in the place of what a rule says.
func (p *page) ask(how *project.How) {
	if p.fields != nil {
		how.Mask, how.JQ = p.fields, nil
	}
	how.Offset, how.Limit = p.offset, p.limit
}

// takePage takes the arguments for paging out of those for the tool. They are checked before
// anything is sent: a call that was made must not fail for them.
func takePage(t target) (target, page, error) {
	var p page
	if !t.entry.Paged || rawjson.IsNull(t.args) || t.args[0] != '{' {
		return t, p, nil
	}
	kept := []byte{'{'}
	took := false
	for w := rawjson.Object(t.args); w.Next(); {
		var err error
		switch string(w.Key) {
		case "_fields":
			took, err = true, p.readFields(w.Value)
		case "_limit":
			took, err = true, readCount(w.Value, "/_limit", &p.limit)
		case "_offset":
			took, err = true, readCount(w.Value, "/_offset", &p.offset)
		default:
			if len(kept) > 1 {
				kept = append(kept, ',')
			}
			kept = append(append(rawjson.AppendString(kept, string(w.Key)), ':'), w.Value...)
		}
		if err != nil {
			return t, p, err
		}
	}
	if took {
		t.args = append(kept, '}')
	}
	return t, p, nil
}

func (p *page) readFields(raw json.RawMessage) error {
	if rawjson.IsNull(raw) {
		return nil
	}
	text, ok := rawjson.String(raw)
	if !ok {
		return fault.New(fault.BadArguments, "/_fields: expected text, got %s", kindOf(raw))
	}
	m, err := mask.Parse(text)
	if err != nil {
		return fault.New(fault.BadArguments, "/_fields: %w", err)
	}
	p.fields = m
	return nil
}

func readCount(raw json.RawMessage, field string, dst *int) error {
	if rawjson.IsNull(raw) {
		return nil
	}
	var n int
	if err := json.Unmarshal(raw, &n); err != nil || n < 0 {
		return fault.New(fault.BadArguments, "%s: expected a whole number from 0 on", field)
	}
	*dst = n
	return nil
}
