package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
	err := r.onElement(ctx, s, find.Fill, "browser_type", map[string]any{"text": s.Value}, until)
	if codeOf(err) == snapshot.NotFound && r.isList(ctx, s.Target) { // it came while that was looked for
		return r.selectOption(ctx, &choice, r.soon())
	}
	return err
}

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

// looksLikeList tells whether the words mean no list, but a field or a button that opens one.
func (r *Runner) looksLikeList(ctx context.Context, t *steps.Target) bool {
	if r.sees(ctx, t, find.Select) != nil {
		return false
	}
	node := r.sees(ctx, t, find.Click)
	return node != nil && (node.Role == "textbox" || node.Role == "searchbox" || node.Role == "button")
}

// selectOption chooses options. A list that is made of plain boxes is opened and its option clicked.
func (r *Runner) selectOption(ctx context.Context, s *steps.Step, until *deadline) error {
	if len(s.Values) == 1 && r.looksLikeList(ctx, s.Target) {
		return r.openAndChoose(ctx, s, nil, until)
	}
	err := r.onElement(ctx, s, find.Select, "browser_select_option", map[string]any{"values": s.Values}, until)
	var f *snapshot.Error
	var noMatch *find.Error
	isOther := errors.As(err, &f) && f.Code == snapshot.NotInteractable && f.Detail == "kind"
	custom := isOther || errors.As(err, &noMatch) && noMatch.Code == snapshot.NotFound
	if errors.As(err, &f) && f.Code == snapshot.OptionNotFound {
		return r.withOptions(s, err)
	}
	if !custom || len(s.Values) != 1 {
		return err
	}
	return r.openAndChoose(ctx, s, err, until)
}

// openAndChoose clicks what opens the options, and then the option. First is the error to return
// where nothing can be opened.
func (r *Runner) openAndChoose(ctx context.Context, s *steps.Step, first error, until *deadline) error {
	if err := r.onElement(ctx, s, find.Click, "browser_click", nil, r.soon()); err != nil {
		return cmp.Or(first, err)
	}
	option := *s
	option.Target = &steps.Target{Text: `"` + s.Values[0] + `"`}
	if err := r.onElement(ctx, &option, find.Click, "browser_click", nil, until); err != nil {
		return &stepError{code: codeOf(err), message: "choose " + s.Values[0] + ": " + err.Error(), acted: true}
	}
	return nil
}

// withOptions says which options there are instead of the one that is not.
func (r *Runner) withOptions(s *steps.Step, err error) error {
	var names []string
	if r.chosen != nil {
		for m := r.chosen.First; m != nil; m = m.Next {
			if m.Role == "option" {
				names = append(names, m.Name)
			}
		}
	}
	if len(names) == 0 {
		return err
	}
	const most = 20
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		shown += fmt.Sprintf(" and %d more", len(names)-most)
	}
	wanted := strings.Join(s.Values, ", ")
	message := fmt.Sprintf("no option is %q; there are: %s", wanted, shown)
	return &stepError{code: snapshot.OptionNotFound, message: message, expected: shown, actual: wanted}
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
