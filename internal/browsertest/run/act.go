package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// run runs one step with its repetitions and fallbacks.
func (r *Runner) run(ctx context.Context, s *steps.Step) StepResult {
	out := StepResult{Text: s.Text, File: s.File, Line: s.Line, Action: s.Action, Status: Passed}
	r.step = &out
	r.learned = map[string]Remembered{}
	r.about = nil
	started := r.opts.Now()
	until := r.deadline(s)
	err := r.attempt(ctx, s, s, until)
	for tries := 0; err != nil && tries < s.Retries && (unacted(err) || s.Idempotent) && ctx.Err() == nil; tries++ {
		out.Failures = append(out.Failures, r.said(err))
		until = r.deadline(s)
		err = r.attempt(ctx, s, s, until)
		r.metrics.Recoveries.count(err == nil)
	}
	if err != nil {
		err = endedBy(ctx, r.fallBack(ctx, s, err, until))
	}
	if err == nil {
		for key, known := range r.learned {
			r.opts.Memory.Put(key, known)
		}
	} else {
		out.Error = r.errorOf(err, s)
		out.Status = Failed
		if s.Optional && ctx.Err() == nil {
			out.Status = Noted
		}
	}
	if err != nil && r.opts.Screenshots != "off" || r.opts.Screenshots == "always" {
		r.picture(ctx, &out)
	}
	out.Text = r.mask(out.Text)
	out.Duration = Took{r.opts.Now().Sub(started)}
	r.log(ctx, &out, s.Given)
	r.step = nil
	return out
}

// fallBack tries the step's fallbacks after an error that is known not to have acted, each in what is
// left of the step's timeout. It returns the first error.
func (r *Runner) fallBack(ctx context.Context, s *steps.Step, first error, until *deadline) error {
	r.step.Failures = append(r.step.Failures, r.said(first))
	err := first
	for i := range s.Fallback {
		if !unacted(err) || ctx.Err() != nil {
			break
		}
		other := s.Fallback[i]
		left := max(until.end.Sub(r.opts.Now()), firstGap)
		other.Timeout = min(cmp.Or(other.Timeout, left), left)
		other.Expect = slices.Concat(other.Expect, s.Expect)
		if err = r.attempt(ctx, &other, s, r.deadline(&other)); err == nil {
			r.heal(fmt.Sprintf("passed by its fallback %d: %s", i+1, s.Fallback[i].Text))
			r.metrics.Recoveries.count(true)
			return nil
		}
		r.step.Failures = append(r.step.Failures, r.said(err))
		r.opts.Log.WarnContext(ctx, "Fallback failed: "+r.said(err), "run", r.opts.ID)
	}
	if len(s.Fallback) > 0 {
		r.metrics.Recoveries.count(false)
	}
	return first
}

func (r *Runner) heal(how string) {
	if r.step.Status != Healed {
		r.metrics.Healed++
	}
	r.step.Status = Healed
	r.step.Warnings = append(r.step.Warnings, r.tell(how))
}

// attempt carries out a step and checks its expectations. Of is the step that s is a fallback of, or s.
func (r *Runner) attempt(ctx context.Context, s, of *steps.Step, until *deadline) error {
	filled, err := r.filled(s)
	if err != nil {
		return err
	}
	if err := r.clearDialog(ctx, filled); err != nil {
		return err
	}
	err = r.do(ctx, filled, until)
	if codeOf(err) == snapshot.NotFound { // the elements that it names one by one may have come
		if list := r.eachOf(ctx, filled); list != nil {
			err = r.doEach(ctx, list, r.soon())
		}
	}
	if err != nil {
		return err
	}
	if len(filled.Expect) == 0 {
		return nil
	}
	if s.Action != steps.Expect {
		until = r.deadline(of) // the effect of an action has its own timeout
	}
	err = r.expect(ctx, filled.Expect, until)
	var f *stepError
	if errors.As(err, &f) && s.Action != steps.Expect {
		f.acted = true
	}
	return err
}

// filled is the step with its variables filled in; targets are filled when they are looked up.
func (r *Runner) filled(s *steps.Step) (*steps.Step, error) {
	c := *s
	var failed error
	fill := func(text string) string {
		out, err := r.vars.Fill(text)
		if err != nil && failed == nil {
			failed = fail(snapshot.StepInvalid, "%v", err)
		}
		return out
	}
	c.Value = fill(s.Value)
	c.Values = nil
	for _, v := range s.Values {
		c.Values = append(c.Values, fill(v))
	}
	if s.Wait != nil {
		c.Wait = &steps.Wait{Time: s.Wait.Time, Text: fill(s.Wait.Text), Gone: fill(s.Wait.Gone), URL: fill(s.Wait.URL)}
	}
	if s.Dialog != nil {
		c.Dialog = &steps.Dialog{Accept: s.Dialog.Accept, Text: fill(s.Dialog.Text)}
	}
	if s.Tab != nil {
		c.Tab = &steps.Tab{New: s.Tab.New, URL: fill(s.Tab.URL), Select: s.Tab.Select, Title: fill(s.Tab.Title), Close: s.Tab.Close}
	}
	c.Expect = nil
	for _, e := range s.Expect {
		e.Value = fill(e.Value)
		e.Text = r.shown(e.Text)
		if err := vain(&e); err != nil && failed == nil {
			failed = err
		}
		c.Expect = append(c.Expect, e)
	}
	if len(s.Arguments) > 0 {
		c.Arguments = []byte(fill(string(s.Arguments)))
	}
	return &c, failed
}

// elementCalls are the actions that are one call with one element.
var elementCalls = map[steps.Action]struct {
	action find.Action
	tool   string
	args   map[string]any
}{
	steps.DblClick:   {find.Click, "browser_click", map[string]any{"doubleClick": true}},
	steps.RightClick: {find.Click, "browser_click", map[string]any{"button": "right"}},
	steps.Hover:      {find.Click, "browser_hover", nil},
	steps.Clear:      {find.Fill, "browser_type", map[string]any{"text": ""}},
}

// do carries out the action alone.
func (r *Runner) do(ctx context.Context, s *steps.Step, until *deadline) error {
	if list := r.eachOf(ctx, s); list != nil {
		return r.doEach(ctx, list, until)
	}
	if c, ok := elementCalls[s.Action]; ok {
		return r.onElement(ctx, s, c.action, c.tool, c.args, until)
	}
	switch s.Action {
	case steps.Fill:
		return r.fill(ctx, s, until)
	case steps.Type:
		return r.onElement(ctx, s, find.Fill, "browser_type", map[string]any{"text": s.Value, "slowly": true}, until)
	case steps.Select:
		return r.selectOption(ctx, s, until)
	case steps.Check, steps.Uncheck:
		return r.check(ctx, s, until)
	case steps.Expand, steps.Collapse:
		return r.expand(ctx, s, until)
	case steps.Click:
		return r.click(ctx, s, until)
	case steps.Drag:
		return r.drag(ctx, s, until)
	case steps.Press:
		return r.press(ctx, s, until)
	case steps.Upload:
		return r.upload(ctx, s, until)
	case steps.Scroll:
		return r.scroll(ctx, s, until)
	case steps.Save:
		return r.save(ctx, s, until)
	}
	return r.onPage(ctx, s, until)
}

// onElement makes one call with the step's element. It looks a stale or covered element up once more.
func (r *Runner) onElement(
	ctx context.Context, s *steps.Step, action find.Action, tool string, args map[string]any, until *deadline,
) error {
	for again := 0; ; again++ {
		loc, err := r.locate(ctx, s.Target, action, until)
		if err != nil {
			return err
		}
		if tool == "browser_click" && loc.node != nil && r.page != nil {
			loc.address = cmp.Or(r.page.index.Box(loc.node), loc.address)
		}
		r.chosen = loc.node
		all := map[string]any{"element": loc.words, "target": loc.address}
		maps.Copy(all, args)
		err = r.act(ctx, tool, all)
		if err != nil && r.mayRepeat(ctx, err, loc, again, s.Idempotent, until) {
			r.page = nil
			continue
		}
		if again > 0 {
			r.metrics.Recoveries.count(err == nil)
		}
		if err == nil && loc.healed != "" {
			r.heal(loc.healed)
		}
		r.listCandidates(err)
		return err
	}
}

// listCandidates reports the elements that the server lists for an ambiguous selector.
func (r *Runner) listCandidates(err error) {
	var f *snapshot.Error
	if !errors.As(err, &f) || f.Code != snapshot.Ambiguous {
		return
	}
	r.metrics.Ambiguous++
	r.step.Candidates = nil
	for _, locator := range f.Candidates {
		c := find.Candidate{Path: r.mask(locator), Score: 1, Why: "the selector means it, too"}
		r.step.Candidates = append(r.step.Candidates, c)
	}
}

// mayRepeat tells whether a call that failed may be made again with the element looked up anew.
func (r *Runner) mayRepeat(ctx context.Context, err error, loc located, again int, idempotent bool, until *deadline) bool {
	switch codeOf(err) {
	case snapshot.StaleRef, snapshot.PageChanged:
		r.metrics.Stale++
		return again == 0
	case snapshot.NotFound: // a selector that the server looked up, without waiting
		return loc.node == nil && until.again(ctx)
	case snapshot.NotInteractable:
		var f *snapshot.Error
		return again == 0 && errors.As(err, &f) && f.Detail != "kind" && until.again(ctx)
	case snapshot.ServerGone, snapshot.TimedOut:
		return idempotent && again == 0
	}
	return false
}

// log writes the one line of a step. Given is the command as it came.
func (r *Runner) log(ctx context.Context, out *StepResult, given string) {
	call := lastAction(out.Calls)
	before := string(call.Before)
	if given != "" {
		before = r.mask(given)
	}
	attrs := []any{
		"run", r.opts.ID, "step", strings.TrimSpace(out.Text), "action", string(out.Action), "tool", call.Tool,
		"before", before, "after", string(call.After), "outcome", string(out.Status), "ms", out.Duration.Milliseconds(),
	}
	if out.Error != nil {
		attrs = append(attrs, "code", string(out.Error.Details.Code), "error", out.Error.Message)
	}
	r.opts.Log.InfoContext(ctx, "step", attrs...)
}

// lastAction is the last call that acted; of none, the last call.
func lastAction(calls []CallRecord) (last CallRecord) {
	for _, c := range slices.Backward(calls) {
		if c.Tool != "browser_snapshot" && c.Tool != "browser_take_screenshot" && !strings.Contains(string(c.Before), asked) {
			return c
		}
		last = calls[len(calls)-1]
	}
	return last
}
