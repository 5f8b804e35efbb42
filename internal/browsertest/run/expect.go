package run

import (
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

// expect looks until everything is as expected, or the time is over.
func (r *Runner) expect(ctx context.Context, list []steps.Expectation, until *deadline) error {
	if r.dialogSays(list) {
		return nil
	}
	for fresh := false; ; fresh = true {
		wrong, err := r.unmet(ctx, list, fresh)
		switch {
		case err == nil && wrong == nil:
			return nil
		case err != nil && codeOf(err) != snapshot.PageChanged:
			return err
		}
		if !until.again(ctx) {
			if err != nil {
				return err
			}
			return wrong
		}
	}
}

// vain refuses an expectation that would always hold: its text is empty, or no regular expression.
func vain(e *steps.Expectation) error {
	if e.Match == steps.Matches {
		if _, err := regexp.Compile(e.Value); err != nil {
			return fail(snapshot.StepInvalid, "%q is no regular expression: %v", e.Value, err)
		}
	}
	compares := slices.Contains([]steps.Kind{steps.Text, steps.NoText, steps.Value, steps.URL, steps.Title}, e.Kind)
	ofPage := e.Target == nil && (e.Kind == steps.Text || e.Kind == steps.NoText)
	if compares && e.Value == "" && (ofPage || e.Match == steps.Contains || e.Match == steps.Matches) {
		return fail(snapshot.StepInvalid, "nothing is expected: the text to compare with is empty")
	}
	return nil
}

// dialogSays tells whether the open dialog has all the expected texts. It hides the page.
func (r *Runner) dialogSays(list []steps.Expectation) bool {
	for _, e := range list {
		if r.where.modal == nil || e.Kind != steps.Text || e.Target != nil {
			return false
		}
		if !strings.Contains(squeeze(r.where.modal.Message), squeeze(e.Value)) {
			return false
		}
	}
	return true
}

// unmet is the first expectation that does not hold now. The second error is of the look itself.
func (r *Runner) unmet(ctx context.Context, list []steps.Expectation, fresh bool) (*stepError, error) {
	p, err := r.snapshot(ctx, fresh)
	if err != nil {
		return nil, err
	}
	for i := range list {
		got, ok, err := r.holds(ctx, p, &list[i])
		if err != nil {
			return nil, err
		}
		if !ok {
			got = clip(r.mask(got)) // in this order: a cut could halve a secret
			want := list[i].In(r.lang)
			message := fmt.Sprintf("expected %s; got %s", want, got)
			return &stepError{code: snapshot.AssertionFailed, message: message, expected: want, actual: got}, nil
		}
	}
	return nil, nil
}

// holds tells whether an expectation is met, and what there is instead.
func (r *Runner) holds(ctx context.Context, p *page, e *steps.Expectation) (got string, ok bool, err error) {
	switch {
	case e.Kind == steps.URL:
		return r.where.url, r.sameAddress(e), nil
	case e.Kind == steps.Title:
		return r.where.title, compare(r.where.title, e), nil
	case e.Target == nil && e.Kind == steps.Text:
		return pageText(p.tree), pageSays(p.tree, e) || r.waited(ctx, p, e), nil
	case e.Target == nil && e.Kind == steps.NoText:
		return "it is there", !pageSays(p.tree, e) && !r.waited(ctx, p, e), nil
	}
	q, err := r.query(e.Target, find.Any)
	if err != nil {
		return "", false, err
	}
	if selector(q.Text) {
		return r.selectorHolds(ctx, p, q, e)
	}
	got, ok = r.elementHolds(ctx, p, q, e)
	return got, ok, nil
}

// waited tells whether what is waited for is there as an element of the kind that was said.
func (r *Runner) waited(ctx context.Context, p *page, e *steps.Expectation) bool {
	if !e.Waited || selector(e.Value) {
		return false
	}
	hit, err := p.find(ctx, r, find.Query{Text: e.Value})
	var noMatch *find.Error
	return err == nil && hit.Kind || errors.As(err, &noMatch) && noMatch.Kind
}

// selectorHolds asks the page about a selector, or looks at the snapshot where only that can tell.
func (r *Runner) selectorHolds(ctx context.Context, p *page, q find.Query, e *steps.Expectation) (got string, ok bool, err error) {
	var noMatch *find.Error
	_, missed := p.find(ctx, r, q)
	shown := !errors.As(missed, &noMatch) || !noMatch.NeedsPage // the snapshot can tell
	joined := alone(q)
	if joined != nil && !shown {
		return "", false, joined
	}
	if _, inPage := queryExpression(q.Text); joined == nil && (inPage || !shown) {
		state, err := r.selectedBy(ctx, q.Text)
		if err == nil || !shown || codeOf(err) != snapshot.BadParameters {
			got, ok = state.holds(e)
			return got, ok, err
		}
	}
	got, ok = r.elementHolds(ctx, p, q, e)
	return got, ok, nil
}

// elementHolds looks at the element that an expectation names.
func (r *Runner) elementHolds(ctx context.Context, p *page, q find.Query, e *steps.Expectation) (string, bool) {
	hit, err := p.find(ctx, r, q)
	if hit != nil && hit.Ref != "" {
		r.about = []string{hit.Ref}
	}
	if e.Kind == steps.Count {
		if n := p.index.Count(q); n > 0 || e.Count > 0 {
			return fmt.Sprintf("%d", n), n == e.Count
		}
	}
	var noMatch *find.Error
	errors.As(err, &noMatch)
	switch {
	case e.Kind == steps.Visible && (err == nil || noMatch.Code == snapshot.Ambiguous):
		return "", true
	case e.Kind == steps.Visible:
		return noMatch.Error(), isText(p.tree, q)
	case e.Kind == steps.Hidden, e.Kind == steps.Count:
		return hidden(p, q, hit, noMatch)
	case err != nil:
		return err.Error(), false
	}
	now := nodeState(p.tree, hit.Node)
	if own := hit.Node.Text; own != "" && compare(own, e) {
		now.Text = own
	}
	return now.holds(e)
}

// hidden tells whether what is looked for is not on the page, and what speaks against it.
func hidden(p *page, q find.Query, hit *find.Hit, noMatch *find.Error) (string, bool) {
	switch {
	case hit != nil:
		return "it is there: " + p.index.Path(hit.Node), false
	case noMatch.Code != snapshot.NotFound || noMatch.Near:
		return noMatch.Error(), false
	case p.tree.Len() == 0:
		return "the page shows nothing at all: it may not be loaded", false
	}
	return "the text is there", !isText(p.tree, q)
}

// isText tells whether the words of a query are not a description, but what the page says.
func isText(tree *snapshot.Page, q find.Query) bool {
	return !selector(q.Text) && alone(q) == nil && pageHas(tree, q.Text)
}

func selector(text string) bool { _, ok := find.ParseSelector(text); return ok }

// state is what an expectation can ask about one element.
type state struct {
	Text     string `json:"text"`
	Value    string `json:"value"`
	Checked  bool   `json:"checked"`
	Disabled bool   `json:"disabled"`
	mixed    bool   // neither checked nor unchecked
}

// nodeState is the state of an element of a snapshot.
func nodeState(tree *snapshot.Page, n *snapshot.Node) state {
	return state{
		Text: tree.Content(n, maxText), Value: valueOf(n), Disabled: n.Disabled,
		Checked: n.Checked == snapshot.On || n.Selected || n.Pressed == snapshot.On,
		mixed:   n.Checked == snapshot.Mixed || n.Pressed == snapshot.Mixed,
	}
}

// holds compares the state with an expectation, and says what it is instead.
func (s state) holds(e *steps.Expectation) (string, bool) {
	switch e.Kind {
	case steps.Enabled:
		return "it is disabled", !s.Disabled
	case steps.Disabled:
		return "it is enabled", s.Disabled
	case steps.Checked:
		return "it is not checked", s.Checked
	case steps.Unchecked:
		return "it is checked", !s.Checked && !s.mixed
	case steps.Value:
		return quoted(s.Value), compare(s.Value, e)
	}
	return quoted(s.Text), compare(s.Text, e) != (e.Kind == steps.NoText)
}

// valueOf is what a field holds: its text, the text inside, or the chosen option.
func valueOf(n *snapshot.Node) string {
	if n.Text != "" {
		return n.Text
	}
	var chosen []string
	for m := n.First; m != nil; m = m.Next {
		switch {
		case m.Role == "text":
			return m.Text
		case m.Role == "option" && m.Selected:
			chosen = append(chosen, m.Name)
		}
	}
	return strings.Join(chosen, ", ")
}

// holds compares what the page itself says about a selector.
func (s *selected) holds(e *steps.Expectation) (string, bool) {
	if e.Kind == steps.Count {
		return fmt.Sprintf("%d", s.Count), s.Count == e.Count
	}
	if s.Visible < 0 {
		return fmt.Sprintf("%d elements, where one must be meant", s.Count), false
	}
	switch e.Kind {
	case steps.Visible:
		return fmt.Sprintf("%d elements, %d to be seen", s.Count, s.Visible), s.Visible > 0
	case steps.Hidden:
		return "it is there", s.Visible == 0
	}
	if s.Count != 1 {
		return fmt.Sprintf("%d elements", s.Count), false
	}
	return s.state.holds(e)
}

func quoted(s string) string { return `"` + s + `"` }

// compare holds a text against an expectation, white space aside.
func compare(have string, e *steps.Expectation) bool {
	have = strings.Join(strings.Fields(have), " ")
	want := strings.Join(strings.Fields(e.Value), " ")
	switch e.Match {
	case steps.Contains:
		return strings.Contains(have, want)
	case steps.Matches:
		re, err := regexp.Compile(e.Value)
		return err == nil && re.MatchString(have)
	}
	return have == want
}

// sameAddress compares addresses; one that begins with / is on the page's own host.
func (r *Runner) sameAddress(e *steps.Expectation) bool {
	if e.Match == steps.Equals && strings.HasPrefix(e.Value, "/") {
		_, rest, _ := strings.Cut(r.where.url, "://")
		_, path, _ := strings.Cut(rest, "/")
		return "/"+path == e.Value || r.where.url == r.address(e.Value)
	}
	return compare(r.where.url, e)
}
