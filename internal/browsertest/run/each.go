package run

import (
	"context"
	"errors"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// eachOf are the steps for what a step names one by one. There are none where its words mean one element, or
// may, or where not every one of the others is there.
func (r *Runner) eachOf(ctx context.Context, s *steps.Step) (list []*steps.Step) {
	action := find.Click
	if s.Action == steps.Check || s.Action == steps.Uncheck {
		action = find.Check
	}
	if len(s.Each) == 0 {
		return nil
	}
	var options []*snapshot.Node
	var refs []string
	for _, words := range s.Each {
		one := *s
		one.Each = nil
		one.Target = &steps.Target{Text: words, Within: s.Target.Within, Frame: s.Target.Frame}
		node := r.sees(ctx, one.Target, action)
		if node == nil && (!s.Choose || r.sees(ctx, one.Target, find.Choose) == nil) {
			return nil
		}
		if node != nil {
			refs = append(refs, node.Ref)
		}
		if node != nil && node.Role == "option" && node.Parent != nil && node.Parent.Role == "listbox" {
			options = append(options, node)
		}
		list = append(list, &one)
	}
	if !r.lacks(ctx, s.Target, action, refs) {
		return nil
	}
	isSame := func(n *snapshot.Node) bool { return n.Parent == options[0].Parent }
	if len(options) != len(list) || !s.Choose || slices.ContainsFunc(options, func(n *snapshot.Node) bool { return !isSame(n) }) {
		return list
	}
	all := *s // a click on one option of a list takes back the others
	all.Action = steps.Select
	all.Each = nil
	all.Target = &steps.Target{Text: "listbox", Within: s.Target.Within, Frame: s.Target.Frame}
	for _, n := range options {
		all.Values = append(all.Values, n.Name)
	}
	return []*steps.Step{&all}
}

// lacks tells whether no element of the page is what the words mean, other than some that they name one by one.
func (r *Runner) lacks(ctx context.Context, t *steps.Target, action find.Action, named []string) bool {
	q, err := r.query(t, action)
	if err != nil || selector(q.Text) {
		return false
	}
	_, err = r.lookUp(ctx, q, false)
	var none *find.Error
	if !errors.As(err, &none) || none.Code == snapshot.NotFound {
		return none != nil
	}
	isOther := func(c find.Candidate) bool { return !slices.Contains(named, c.Ref) }
	return none.Code == snapshot.Ambiguous && none.Count == len(named) && !slices.ContainsFunc(none.Candidates, isOther)
}

// doEach does a step to every element that it names.
func (r *Runner) doEach(ctx context.Context, list []*steps.Step, until *deadline) error {
	for i, one := range list {
		if err := r.do(ctx, one, until); err != nil {
			if i == 0 {
				return err
			}
			return &stepError{code: codeOf(err), message: err.Error(), acted: true}
		}
	}
	return nil
}
