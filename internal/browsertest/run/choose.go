package run

import (
	"context"
	"errors"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Choice is a look-up that the words of a step did not decide. Secrets are masked in it.
type Choice struct {
	Wanted   string
	Action   find.Action
	Elements []find.Candidate // each has what the words say for certain
}

// Chooser names one of the elements by its ref; "" means that none of them is meant.
type Chooser func(ctx context.Context, c Choice) (ref string, err error)

// ByModel marks an element that a model has chosen.
const ByModel = "model"

// byChoice asks the chooser, which must name one of the elements that it was shown. That element must
// still be there afterwards.
func (r *Runner) byChoice(ctx context.Context, q find.Query) (located, bool) {
	if r.opts.Choose == nil {
		return located{}, false
	}
	var noMatch *find.Error
	hit, err := r.lookUp(ctx, q, true)
	switch {
	case err == nil: // it has come meanwhile
		return r.took(hit, q), true
	case !errors.As(err, &noMatch):
		return located{}, false
	}
	node := r.choose(ctx, q, noMatch)
	if node == nil {
		return located{}, false
	}
	known, unique := r.page.index.Describe(node)
	if !unique {
		return r.notChosen("the element that the model chose cannot be told from others")
	}
	now, err := r.snapshot(ctx, true)
	if err != nil {
		return r.notChosen("the page was gone when the model had chosen")
	}
	if hit, err = now.index.Refind(known); err != nil {
		return r.notChosen("the page had changed when the model had chosen")
	}
	r.metrics.Choices.count(true)
	loc := r.took(hit, q)
	loc.healed = "found by a model: " + r.step.Element.Path
	r.step.Element.By, r.step.Element.Why = ByModel, "a model chose it"
	return loc, true
}

// choose is the element that the chooser names; nil for none.
func (r *Runner) choose(ctx context.Context, q find.Query, noMatch *find.Error) *snapshot.Node {
	offered := r.page.index.Offer(q, noMatch)
	if len(offered) == 0 {
		return nil
	}
	shown := make([]find.Candidate, len(offered))
	for i := range offered {
		shown[i] = offered[i].Candidate
	}
	ref, err := r.opts.Choose(ctx, Choice{Wanted: r.mask(q.Text), Action: q.Action, Elements: r.maskCandidates(shown)})
	if err != nil {
		r.notChosen("the model was asked in vain: " + r.said(err))
		return nil
	}
	at := slices.IndexFunc(offered, func(o find.Offered) bool { return o.Ref == ref })
	switch {
	case ref == "":
		r.notChosen("the model says that none of the elements is meant")
		return nil
	case at < 0:
		r.notChosen("the model named an element that was not among those it was shown")
		return nil
	}
	return offered[at].Node
}

// notChosen says why there is no choice, for the report.
func (r *Runner) notChosen(why string) (located, bool) {
	r.metrics.Choices.count(false)
	r.warn(why)
	return located{}, false
}
