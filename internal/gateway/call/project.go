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
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Results stores full results, so that what was left out can be fetched.
type Results interface {
	SaveResult(ctx context.Context, r store.Result) error
	Result(ctx context.Context, owner, ref string) (store.Result, error)
}

// project cuts a result to what its reader needs. The full result is stored first; if that fails, nothing is left out.
func (c *Caller) project(ctx context.Context, s *sent, req *Request, rec *recording, full json.RawMessage) json.RawMessage {
	if req.script != nil && req.script.run.kept {
		if err := c.storeResult(ctx, s, rec, full); err != nil {
			rec.warn("the result could not be kept")
		}
		return full
	}
	if s.entry.Own && !s.runs() || req.Whole || s.fromApp || s.entry.AppOnly() { // no model reads what an app asks for
		return full
	}
	settings := &s.view.Results
	usual := settings.How
	if req.Budget > 0 {
		usual.Budget = req.Budget
	}
	if req.AsRuled {
		usual.TextBudget = 0
	}
	shown := full
	var how project.How
	var choice project.Choice
	if req.Reader == Model {
		shown = cleaned(settings, full)
		how, choice = howFor(s.view, usual, s.entry.Name, s.fitted.Args)
		how.App = s.entry.App() != "" && req.rendersApps()
	}
	s.page.applyTo(&how)
	if req.MaxChars > 0 {
		how.Budget = project.BudgetFor(shown, req.MaxChars, how.Budget)
		if how.TextBudget > 0 {
			how.Budget = min(how.Budget, how.TextBudget)
		}
	}
	if choice.Shadow != nil {
		cut := project.Plan(ctx, shown, choice.Shadow.How(usual))
		c.opts.Metrics.shadowed(choice.Shadow, cut)
		if sent := c.counts.shadowed(choice.Shadow, cut); sent > 0 {
			rec.call.Shadow = choice.Shadow.ID
			rec.call.TokensShadow = sent
		}
		cut.Release()
	}
	if how.Passes(shown) {
		return c.storeUncut(ctx, s, req, rec, full, shown)
	}
	cut := project.Plan(ctx, shown, how)
	defer cut.Release()
	c.opts.Metrics.projected(choice.On, cut)
	c.counts.projected(choice.On, cut)
	c.warnUnseen(s.entry.Name, choice.On, cut)
	if choice.On != nil && cut.Outcome == project.Projected {
		rec.call.Rule = choice.On.ID
	}
	if cut.Outcome == project.Projected && settings.Cleaner == nil {
		rec.full = cut.Full()
	}
	if !cut.Leaves() || settings.Keep == "none" {
		return c.storeUncut(ctx, s, req, rec, full, cut.Apply(""))
	}
	if err := c.storeResult(ctx, s, rec, full); err != nil {
		rec.call.Rule = ""
		return c.notStored(rec, shown, err)
	}
	return cut.Apply(rec.call.Ref)
}

// notStored is what is sent if a result could not be stored.
func (c *Caller) notStored(rec *recording, shown json.RawMessage, err error) json.RawMessage {
	c.opts.Logger.Error("a result could not be kept; it is given whole", "call", rec.call.ID, "tool", rec.call.Tool, "error", fault.As(err))
	rec.note("the result could not be kept")
	return withNote(shown, notKept)
}

// howFor is how a result is cut: by the call's rule, otherwise by the profile's defaults.
func howFor(v *catalog.View, usual project.How, name tool.Name, args json.RawMessage) (project.How, project.Choice) {
	choice := v.Results.Rules.Choose(name, v.Profile, args)
	if choice.On != nil {
		return choice.On.How(usual), choice
	}
	return usual, choice
}

// cleaned is a result without what the profile hides from models.
func cleaned(res *catalog.Results, raw []byte) []byte {
	if res.Cleaner == nil {
		return raw
	}
	clean, _ := res.Cleaner.Result(raw)
	return clean
}

// Shown is what a model gets of a stored result under the current rules.
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

// Shadowed is what a model would get of a stored result under its call's shadow rule; the rule
// is "" if there is none or it does not cut.
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

// storeUncut stores a result that was not cut, if all are stored or the reader will truncate it, and returns what is sent.
func (c *Caller) storeUncut(ctx context.Context, s *sent, req *Request, rec *recording, full, out json.RawMessage) json.RawMessage {
	tooLong := req.MaxChars > 0 && len(out) > req.MaxChars && utf8.RuneCountInString(project.Text(out)) > req.MaxChars
	if keep := s.view.Results.Keep; keep != "all" && (!tooLong || keep == "none") {
		return out
	}
	if err := c.storeResult(ctx, s, rec, full); err != nil {
		return c.notStored(rec, out, err)
	}
	return out
}

// storeResult stores the full result and notes its ref.
func (c *Caller) storeResult(ctx context.Context, s *sent, rec *recording, full json.RawMessage) error {
	if c.opts.Results == nil {
		return nil
	}
	call := &rec.call
	r := store.Result{
		Owner: call.Principal, Call: call.ID, Server: call.Server, Tool: call.Tool, Profile: call.Profile, Session: call.Session,
		Rule: call.Rule, Args: c.redacted(s.fitted.Args), Body: full, At: call.At, Expires: call.At.Add(c.opts.Retain()),
	}
	for range maxRefs {
		r.Ref = newRef()
		err := c.opts.Results.SaveResult(ctx, r)
		if err == nil {
			call.Ref = r.Ref
			return nil
		}
		if !fault.Is(err, fault.Conflict) {
			return fmt.Errorf("store result of %s: %w", s.entry.Name, err)
		}
	}
	return fmt.Errorf("store result of %s: %d refs in a row are taken", s.entry.Name, maxRefs)
}

// redacted are arguments without secrets: bound values must not reach the caller, who may read its stored results.
func (c *Caller) redacted(args json.RawMessage) json.RawMessage {
	text := string(args)
	clean := c.opts.Redact(text)
	switch {
	case clean == text:
		return args
	case !json.Valid([]byte(clean)): // a secret spanned more than one value
		return noArgs
	}
	return json.RawMessage(clean)
}

// maxRefs is how many refs are tried: they are short, so one may be taken.
const maxRefs = 5

var refAlphabet = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// newRef makes a ref: short, because models repeat it, and not secret, because it is looked up together with its owner.
func newRef() string {
	var random [5]byte
	rand.Read(random[:]) // never fails
	return "r_" + refAlphabet.EncodeToString(random[:])
}

// warnUnseen warns once about each name in a rule's mask that no result has had.
func (c *Caller) warnUnseen(name tool.Name, rule *project.Active, cut *project.Cut) {
	if rule == nil || len(cut.Unseen) == 0 || rule.Source == project.Builtin { // built-in rules name fields that only some versions have
		return
	}
	key := rule.ID + "\x00" + strings.Join(cut.Unseen, "\x00")
	if _, warned := c.warned.LoadOrStore(key, true); !warned {
		c.opts.Logger.Warn("a rule names fields that the result does not have", "rule", rule.ID, "tool", name, "fields", cut.Unseen)
	}
}
