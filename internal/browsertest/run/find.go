package run

import (
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Found is an element of the page as it is now.
type Found struct {
	Ref        string  `json:"ref"` // good until the page changes
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
	Role       string  `json:"role"`
	Path       string  `json:"path,omitempty"`
	Why        string  `json:"why"`
}

// Miss is why no element was found.
type Miss struct {
	Error
	Candidates []find.Candidate `json:"candidates,omitempty"`
}

// Find looks one element up on the page as it is, without waiting and without acting.
func (r *Runner) Find(ctx context.Context, t *steps.Target, action find.Action) (*Found, *Miss) {
	if err := r.begin(ctx); err != nil {
		return nil, r.miss(err, t)
	}
	q, err := r.query(t, action)
	if err != nil {
		return nil, r.miss(err, t)
	}
	hit, err := r.lookUp(ctx, q, true)
	if err != nil {
		return nil, r.miss(err, t)
	}
	return &Found{
		Ref: hit.Ref, Text: hit.Node.Name, Confidence: hit.Score, Role: hit.Node.Role, Path: r.page.index.Path(hit.Node), Why: hit.Why,
	}, nil
}

// Address is what the server takes for an element of the current page: a ref or a selector.
func (r *Runner) Address(ctx context.Context, t *steps.Target, action find.Action) (string, *Miss) {
	if r.tools == nil {
		if err := r.begin(ctx); err != nil {
			return "", r.miss(err, t)
		}
	}
	loc, err := r.locate(ctx, t, action, r.soon())
	if err != nil {
		return "", r.miss(err, t)
	}
	return loc.address, nil
}

// begin makes ready for a look-up beside any run.
func (r *Runner) begin(ctx context.Context) error {
	r.vars = steps.NewVars(nil)
	r.step, r.learned = &StepResult{}, map[string]Remembered{}
	return r.fresh(ctx)
}

func (r *Runner) miss(err error, t *steps.Target) *Miss {
	m := &Miss{Error: *r.errorOf(err, &steps.Step{Target: t})}
	var noMatch *find.Error
	if errors.As(err, &noMatch) {
		m.Candidates = noMatch.Candidates
	}
	return m
}
