package run

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// byHint finds an element that the snapshot does not show by what the page's source says about it. A piece
// of text that can be pressed is looked for at once, others when there is nothing more to wait for.
func (r *Runner) byHint(ctx context.Context, q find.Query, atOnce bool) (located, bool) {
	if q.Action == find.Any || alone(q) != nil {
		return located{}, false
	}
	var hints []find.Hint
	page := r.page // the question changes nothing
	err := r.evaluate(ctx, script("hints"), &hints)
	r.page = page
	if err != nil {
		return located{}, false
	}
	hint := find.FindPiece(q, hints)
	if hint == nil && !atOnce {
		hint = find.FindHint(q, hints)
	}
	if hint == nil || atOnce && !hint.Acts {
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
