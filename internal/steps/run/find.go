package run

import (
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/steps"
	"github.com/toolfit/toolfit/internal/steps/find"
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
	r.vars = steps.NewVars(nil)
	r.step, r.learned = &StepResult{}, map[string]Remembered{}
	miss := func(err error) *Miss {
		m := &Miss{Error: *r.errorOf(err, &steps.Step{Target: t})}
		var refusal *find.Refusal
		if errors.As(err, &refusal) {
			m.Candidates = refusal.Candidates
		}
		return m
	}
	if err := r.fresh(ctx); err != nil {
		return nil, miss(err)
	}
	q, err := r.query(t, action)
	if err != nil {
		return nil, miss(err)
	}
	hit, err := r.lookUp(ctx, q, true)
	if err != nil {
		return nil, miss(err)
	}
	return &Found{
		Ref: hit.Ref, Text: hit.Node.Name, Confidence: hit.Score, Role: hit.Node.Role, Path: r.page.index.Path(hit.Node), Why: hit.Why,
	}, nil
}
