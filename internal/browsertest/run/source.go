package run

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// byHint finds a nameless element by what the page's source says about it.
func (r *Runner) byHint(ctx context.Context, q find.Query) (located, bool) {
	if q.Action == find.Any {
		return located{}, false
	}
	var hints []find.Hint
	if r.evaluate(ctx, script("hints"), &hints) != nil {
		return located{}, false
	}
	hint := find.FindHint(q, hints)
	if hint == nil {
		return located{}, false
	}
	loc := located{address: hint.Selector, words: q.Text, healed: "found by what the page's source calls it: " + hint.Selector}
	if !r.takesTarget() {
		found, err := r.bySelector(ctx, find.Query{Text: hint.Selector, Action: q.Action})
		if err != nil {
			return located{}, false
		}
		found.words = q.Text
		found.healed = loc.healed
		return found, true
	}
	r.step.Element = &Element{Role: hint.Role, Path: r.mask(hint.Selector), Score: 0.6, Why: r.mask(loc.healed)}
	return loc, true
}

// evaluate runs a function of ours in the page and reads what it returns.
func (r *Runner) evaluate(ctx context.Context, function string, into any) error {
	answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": function})
	if err != nil {
		return err
	}
	return readResult(answer, into)
}

// readResult reads what a function of ours has returned.
func readResult(answer snapshot.Answer, into any) error {
	if json.Unmarshal([]byte(answer.Result), into) != nil {
		return fail(snapshot.CallFailed, "the page answered something else than was asked: %s", answer.Result)
	}
	return nil
}
