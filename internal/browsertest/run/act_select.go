package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

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
	list := r.sees(ctx, s.Target, find.Select)
	values := asWritten(optionNames(list), s.Values)
	if list == nil && len(s.Values) == 1 && r.takesText(ctx, s.Target) {
		return r.onElement(ctx, s, find.Fill, "browser_type", map[string]any{"text": s.Values[0]}, until)
	}
	if list == nil && len(s.Values) == 1 {
		if option, name := r.onlyListWith(ctx, s); option != nil {
			return r.onElement(ctx, option, find.Choose, "browser_select_option", map[string]any{"values": []string{name}}, until)
		}
	}
	if len(values) == 1 && !slices.Contains(optionNames(list), values[0]) {
		if item := r.itemOf(ctx, s); item != nil {
			return r.onElement(ctx, item, find.Click, "browser_click", nil, until)
		}
	}
	if len(s.Values) == 1 && r.looksLikeList(ctx, s.Target) {
		return r.openAndChoose(ctx, s, nil, until)
	}
	err := r.onElement(ctx, s, find.Select, "browser_select_option", map[string]any{"values": values}, until)
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
	option := *s
	option.Target = &steps.Target{Text: `"` + s.Values[0] + `"`}
	if opener := r.sees(ctx, s.Target, find.Click); opener != nil && !find.CanOpen(opener) {
		return cmp.Or(first, error(fail(snapshot.NotFound, "%q is no list, and nothing that opens one", s.Target.Text)))
	}
	if !r.isOpen(ctx, s.Target, option.Target) {
		if err := r.onElement(ctx, s, find.Click, "browser_click", nil, r.soon()); err != nil {
			return cmp.Or(first, err)
		}
	}
	if err := r.onElement(ctx, &option, find.Click, "browser_click", nil, until); err != nil {
		return &stepError{code: codeOf(err), message: "choose " + s.Values[0] + ": " + err.Error(), acted: true}
	}
	return nil
}

// takesText tells whether the words mean a field that the browser itself has a picker for: a number, a date,
// a color.
func (r *Runner) takesText(ctx context.Context, t *steps.Target) bool {
	field := r.sees(ctx, t, find.Fill)
	switch {
	case field == nil:
		return false
	case field.Role == "spinbutton" || field.Role == "slider":
		return true
	case field.Role != "textbox":
		return false
	}
	q := find.Question{Ref: field.Ref, About: find.InputType}
	if _, told := r.page.index.Told(q); !told {
		r.ask(ctx, r.page, []find.Question{q})
	}
	answer, _ := r.page.index.Told(q)
	return slices.Contains([]string{"color", "date", "datetime-local", "month", "time", "week"}, answer.Type)
}

// isOpen tells whether a list or a menu is open already: a click on it would choose another option, or
// close it.
func (r *Runner) isOpen(ctx context.Context, list, option *steps.Target) bool {
	chosen := r.sees(ctx, option, find.Click)
	for _, action := range []find.Action{find.Select, find.Click} {
		opener := r.sees(ctx, list, action)
		if opener != nil && opener != chosen && (isExpanded(opener) || chosen != nil && opener.Holds(chosen)) {
			return true
		}
	}
	return false
}

// itemOf is the step that clicks what is chosen, where it stands in a list, a menu or another part of the
// page that the words name; nil for none.
func (r *Runner) itemOf(ctx context.Context, s *steps.Step) *steps.Step {
	if s.Target.Within != "" {
		return nil
	}
	item := *s
	item.Target = &steps.Target{Text: `"` + s.Values[0] + `"`, Within: s.Target.Text, Frame: s.Target.Frame}
	if r.sees(ctx, item.Target, find.Click) == nil {
		return nil
	}
	return &item
}

// withOptions says which options there are instead of the one that is not.
func (r *Runner) withOptions(s *steps.Step, err error) error {
	names := optionNames(r.chosen)
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

// optionNames are the options in a list; none for nil.
func optionNames(list *snapshot.Node) (names []string) {
	if list == nil {
		return nil
	}
	for m := list.First; m != nil; m = m.Next {
		if m.Role == "option" {
			names = append(names, m.Name)
			continue
		}
		names = append(names, optionNames(m)...) // a group
	}
	return names
}

// onlyListWith is the step that chooses an option, and how that is written, where the words mean several
// lists, and one of them alone has it; nil for none.
func (r *Runner) onlyListWith(ctx context.Context, s *steps.Step) (*steps.Step, string) {
	option := *s
	option.Target = &steps.Target{Text: `"` + s.Values[0] + `"`, Within: s.Target.Within, Frame: s.Target.Frame}
	lists, err := r.query(s.Target, find.Select)
	if err != nil || selector(lists.Text) {
		return nil, ""
	}
	_, err = r.lookUp(ctx, lists, false)
	var several *find.Error
	if !errors.As(err, &several) || several.Code != snapshot.Ambiguous || several.Count > len(several.Candidates) {
		return nil, ""
	}
	q, err := r.query(option.Target, find.Choose)
	if err != nil {
		return nil, ""
	}
	hit, err := r.lookUp(ctx, q, false)
	if err != nil || !slices.ContainsFunc(several.Candidates, func(c find.Candidate) bool { return c.Ref == hit.Ref }) {
		return nil, ""
	}
	return &option, hit.Node.Name
}

// severalValues parts options that were said in one go.
var severalValues = regexp.MustCompile(`(?i)\s*[,，、&]\s*(?:and\s+)?|\s+and\s+|\s*[和与]\s*`)

// asWritten are the values as the options of a list are written, and one by one where a value is no option
// but names several. What does not fit stays as it is.
func asWritten(options, values []string) (names []string) {
	option := func(value string) string {
		if slices.Contains(options, value) {
			return value
		}
		alike := slices.DeleteFunc(slices.Clone(options), func(o string) bool { return !strings.EqualFold(strings.TrimSpace(value), o) })
		if len(alike) != 1 {
			return ""
		}
		return alike[0]
	}
	for _, value := range values {
		parts := []string{value}
		if option(value) == "" {
			parts = severalValues.Split(value, -1)
		}
		if slices.ContainsFunc(parts, func(p string) bool { return option(p) == "" }) {
			parts = []string{value}
		}
		for _, p := range parts {
			names = append(names, cmp.Or(option(p), p))
		}
	}
	return names
}
