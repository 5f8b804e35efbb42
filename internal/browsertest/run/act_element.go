package run

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// fill writes a value. Of a list, whose options are all that it can hold, it chooses one.
func (r *Runner) fill(ctx context.Context, s *steps.Step, until *deadline) error {
	choice := *s
	choice.Values = []string{s.Value}
	choice.Value = ""
	if r.isList(ctx, s.Target) {
		return r.selectOption(ctx, &choice, until)
	}
	value := s.Value
	if node := r.sees(ctx, s.Target, find.Fill); node != nil && (node.Role == "slider" || node.Role == "spinbutton") {
		value = measured.ReplaceAllString(value, "$1")
	}
	err := r.onElement(ctx, s, find.Fill, "browser_type", map[string]any{"text": value}, until)
	if codeOf(err) == snapshot.NotFound && r.isList(ctx, s.Target) { // it came while that was looked for
		return r.selectOption(ctx, &choice, r.soon())
	}
	return err
}

// measured is a number with its unit, which a field for numbers does not take.
var measured = regexp.MustCompile(`(?i)^(-?\d[\d.]*)\s*(?:%|°|px|pt|em|cm|mm|km|kg|years?|months?|weeks?|days?|hours?|minutes?|seconds?` +
	`|stars?|points?|元|岁|个|件|台|次|天|年|页|分)$`)

// isList tells whether the words mean a list of options on the last snapshot, and no text field.
func (r *Runner) isList(ctx context.Context, t *steps.Target) bool {
	node := r.sees(ctx, t, find.Select)
	return node != nil && node.First != nil && node.First.Role == "option" && r.sees(ctx, t, find.Fill) == nil
}

// sees is the element that the words mean on the page as it was last seen; nil for none.
func (r *Runner) sees(ctx context.Context, t *steps.Target, action find.Action) *snapshot.Node {
	q, err := r.query(t, action)
	if err != nil {
		return nil
	}
	if selector(q.Text) {
		return nil
	}
	hit, err := r.lookUp(ctx, q, false)
	if err != nil {
		return nil
	}
	return hit.Node
}

// soon is a deadline for what is there already.
func (r *Runner) soon() *deadline {
	return &deadline{r: r, end: r.opts.Now(), gap: firstGap}
}

// check ticks or clears a box that is not in that state already.
func (r *Runner) check(ctx context.Context, s *steps.Step, until *deadline) error {
	now, err := r.stateOf(ctx, s.Target, find.Check, until)
	if err != nil || now.Checked == (s.Action == steps.Check) {
		return err
	}
	return r.onElement(ctx, s, find.Check, "browser_click", nil, until)
}

// expand opens or closes what can be expanded, where it is not in that state already. A snapshot does not
// tell what is closed from what has no such state, so that cannot be closed.
func (r *Runner) expand(ctx context.Context, s *steps.Step, until *deadline) error {
	loc, err := r.locate(ctx, s.Target, find.Click, until)
	if err != nil {
		return err
	}
	isOpen := loc.node != nil && isExpanded(loc.node)
	switch {
	case isOpen && s.Action == steps.Expand:
		return nil
	case !isOpen && s.Action == steps.Collapse:
		return fail(snapshot.NotInteractable, "%q does not say that it is expanded", loc.words)
	}
	return r.onElement(ctx, s, find.Click, "browser_click", nil, until)
}

func isExpanded(n *snapshot.Node) bool {
	return slices.ContainsFunc(n.Attrs, func(a snapshot.Attr) bool { return a.Key == "expanded" && a.Value != "false" })
}

// click presses an element. What is an option of a closed list is chosen instead.
func (r *Runner) click(ctx context.Context, s *steps.Step, until *deadline) error {
	if s.Choose && r.sees(ctx, s.Target, find.Click) == nil {
		if option := r.sees(ctx, s.Target, find.Choose); option != nil {
			return r.onElement(ctx, s, find.Choose, "browser_select_option", map[string]any{"values": []string{option.Name}}, until)
		}
	}
	return r.onElement(ctx, s, find.Click, "browser_click", nil, until)
}

// stateOf is the state of the element of a step.
func (r *Runner) stateOf(ctx context.Context, t *steps.Target, action find.Action, until *deadline) (state, error) {
	loc, err := r.locate(ctx, t, action, until)
	if err != nil {
		return state{}, err
	}
	if loc.node != nil {
		return nodeState(loc.tree, loc.node), nil
	}
	found, err := r.theOne(ctx, loc.address, until)
	return found.state, err
}

func (r *Runner) drag(ctx context.Context, s *steps.Step, until *deadline) error {
	for again := 0; ; again++ {
		from, err := r.locate(ctx, s.Target, find.Click, until)
		if err != nil {
			return err
		}
		to, err := r.locate(ctx, s.To, find.Click, until)
		if err != nil {
			return err
		}
		err = r.act(ctx, "browser_drag", map[string]any{
			"startElement": from.words, "startTarget": from.address, "endElement": to.words, "endTarget": to.address,
		})
		if err == nil || again > 0 || codeOf(err) != snapshot.StaleRef {
			return err
		}
		r.metrics.Stale++
	}
}

// press sends a key, to an element when one is named: it gets the focus by a click.
func (r *Runner) press(ctx context.Context, s *steps.Step, until *deadline) error {
	if s.Target != nil {
		if err := r.onElement(ctx, s, find.Click, "browser_click", nil, until); err != nil {
			return err
		}
	}
	return r.act(ctx, "browser_press_key", map[string]any{"key": s.Value})
}

// upload answers the file chooser, which a click on the target opens.
func (r *Runner) upload(ctx context.Context, s *steps.Step, until *deadline) error {
	if s.Target != nil && (r.where.modal == nil || r.where.modal.Kind != "file") {
		if err := r.onElement(ctx, s, find.Click, "browser_click", nil, until); err != nil {
			return err
		}
	}
	if r.where.modal == nil || r.where.modal.Kind != "file" {
		f := fail(snapshot.NoDialog, "no file chooser is open; name the element that opens it")
		f.acted = s.Target != nil
		return f
	}
	var paths []string
	for _, v := range s.Values {
		if !filepath.IsAbs(v) {
			v = filepath.Join(filepath.Dir(s.File), v)
		}
		full, err := filepath.Abs(v)
		if err != nil {
			return fail(snapshot.BadValue, "upload %s: %v", v, err)
		}
		paths = append(paths, full)
	}
	err := r.act(ctx, "browser_file_upload", map[string]any{"paths": paths})
	if err != nil {
		r.call(ctx, "browser_file_upload", nil) // a chooser that stays open blocks every step after this one
	}
	return err
}

// scroll moves the page, or an element into view.
func (r *Runner) scroll(ctx context.Context, s *steps.Step, until *deadline) error {
	switch s.Value {
	case "down", "up":
		return r.act(ctx, "browser_press_key", map[string]any{"key": map[string]string{"down": "PageDown", "up": "PageUp"}[s.Value]})
	case "top":
		return r.evaluate(ctx, "() => { scrollTo(0, 0); return true; }", new(bool))
	case "bottom":
		return r.evaluate(ctx, "() => { scrollTo(0, document.documentElement.scrollHeight); return true; }", new(bool))
	}
	const into = "(e) => { e.scrollIntoView({ block: 'center' }); return true; }"
	return r.onElement(ctx, s, find.Any, "browser_evaluate", map[string]any{"function": into}, until)
}

// save puts the value or the text of an element into a variable.
func (r *Runner) save(ctx context.Context, s *steps.Step, until *deadline) error {
	now, err := r.stateOf(ctx, s.Target, find.Any, until)
	if err != nil {
		return err
	}
	return r.vars.SetText(s.Value, cmp.Or(now.Value, now.Text))
}
