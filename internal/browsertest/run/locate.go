package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
)

// Remembered is how an element was found before.
type Remembered struct {
	Element find.Descriptor `json:"element"`
}

// located is an element that the next call may use. A ref is good for that call alone.
type located struct {
	address string         // a ref, or a selector for servers that take one
	words   string         // what the step calls it
	node    *snapshot.Node // nil for a selector
	tree    *snapshot.Page // that has the node
	healed  string         // how it was found, when not as it was written
}

// deadline is when a step must be done.
type deadline struct {
	r   *Runner
	end time.Time
	gap time.Duration
}

func (r *Runner) deadline(s *steps.Step) *deadline {
	r.until = r.opts.Now().Add(cmp.Or(r.limit(s), defaultTimeout))
	return &deadline{r: r, end: r.until, gap: firstGap}
}

// limit is how long a step may take, as somebody has said; 0 when nobody has.
func (r *Runner) limit(s *steps.Step) time.Duration {
	return cmp.Or(s.Timeout, r.suite.Timeout, max(r.opts.Timeout, 0))
}

// defaultTimeout is how long a step may take of which nobody says it.
const defaultTimeout = 10 * time.Second

const (
	firstGap = 100 * time.Millisecond
	lastGap  = time.Second
)

// again waits a little; false when the time is over.
func (d *deadline) again(ctx context.Context) bool {
	left := d.end.Sub(d.r.opts.Now())
	if left <= 0 || ctx.Err() != nil {
		return false
	}
	if d.r.opts.Sleep(ctx, min(d.gap, left)) != nil {
		return false
	}
	d.gap = min(d.gap*3/2, lastGap)
	return true
}

// locate finds the one element that a step means, waiting for it until the time is over.
func (r *Runner) locate(ctx context.Context, t *steps.Target, action find.Action, until *deadline) (located, error) {
	q, err := r.query(t, action)
	if err != nil {
		return located{}, err
	}
	if selector(q.Text) && r.takesTarget() && alone(q) == nil {
		return located{address: q.Text, words: q.Text}, nil // the browser knows more than a snapshot
	}
	retried := false
	for fresh := false; ; fresh = true {
		hit, err := r.lookUp(ctx, q, fresh)
		if err == nil {
			r.metrics.Finds.count(true)
			return r.took(hit, q), nil
		}
		var noMatch *find.Error
		if !errors.As(err, &noMatch) {
			return located{}, err
		}
		if noMatch.Code == snapshot.NotFound && !fresh && !noMatch.NeedsPage {
			if loc, ok := r.byHint(ctx, q, true); ok {
				r.metrics.Finds.count(true)
				return loc, nil
			}
		}
		again := noMatch.Code == snapshot.NotFound && !noMatch.NeedsPage || noMatch.Code == snapshot.Ambiguous && !retried
		retried = retried || noMatch.Code == snapshot.Ambiguous
		if again && until.again(ctx) {
			continue
		}
		loc, err := r.otherwise(ctx, q, noMatch)
		mayAppear := err != nil && (codeOf(err) == snapshot.NotFound || codeOf(err) == snapshot.NotInteractable)
		if noMatch.NeedsPage && mayAppear && until.again(ctx) {
			continue
		}
		r.metrics.Finds.count(err == nil)
		return loc, err
	}
}

// alone refuses a selector together with within, frame or nth, which only a snapshot can resolve.
func alone(q find.Query) error {
	if q.Within == "" && q.Frame == "" && q.Nth == 0 {
		return nil
	}
	return fail(snapshot.StepInvalid,
		"within, frame and nth cannot be joined with the selector %s; write them into it, or describe the element", q.Text)
}

// query fills in what a target says.
func (r *Runner) query(t *steps.Target, action find.Action) (find.Query, error) {
	q := find.Query{Action: action, Nth: t.Nth}
	var errs [3]error
	q.Text, errs[0] = r.vars.Fill(t.Text)
	q.Within, errs[1] = r.vars.Fill(t.Within)
	q.Frame, errs[2] = r.vars.Fill(t.Frame)
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return q, fail(snapshot.StepInvalid, "%v", err)
	case strings.TrimSpace(q.Text) == "":
		return q, fail(snapshot.StepInvalid, "the description of the element is empty: say which element is meant")
	case find.IsRef(q.Text):
		return q, fail(snapshot.StepInvalid, "%s is a ref, which means another element in the next snapshot; describe the element", q.Text)
	}
	return q, nil
}

func (r *Runner) lookUp(ctx context.Context, q find.Query, fresh bool) (*find.Hit, error) {
	p, err := r.snapshot(ctx, fresh)
	if err != nil {
		return nil, err
	}
	return p.find(ctx, r, q)
}

// took keeps what was found, for the report and for later runs.
func (r *Runner) took(hit *find.Hit, q find.Query) located {
	r.about = []string{hit.Ref}
	path := r.mask(r.page.index.Path(hit.Node))
	r.step.Element = &Element{Role: hit.Node.Role, Name: r.mask(hit.Node.Name), Path: path, Score: hit.Score, Why: r.tell(hit.Why)}
	if r.opts.Memory != nil && q.Action != find.Any {
		if d, unique := r.page.index.Describe(hit.Node); unique {
			r.learn(r.memoryKey(q), Remembered{Element: d})
		}
	}
	return located{address: hit.Ref, words: q.Text, node: hit.Node, tree: r.page.tree}
}

// learn keeps how an element was found until the step has passed. Secrets are never remembered.
func (r *Runner) learn(key string, known Remembered) {
	text, err := json.Marshal(known)
	if err == nil && r.mask(key) == key && r.mask(string(text)) == string(text) {
		r.learned[key] = known
	}
}

// otherwise tries what is left when the words do not lead to one element: the memory, the page's
// source, and at last the chooser.
func (r *Runner) otherwise(ctx context.Context, q find.Query, noMatch *find.Error) (located, error) {
	r.step.Candidates = r.maskCandidates(noMatch.Candidates)
	r.about = nil
	if noMatch.Code == snapshot.Ambiguous {
		r.metrics.Ambiguous++
		for _, c := range noMatch.Candidates {
			if c.Ref != "" {
				r.about = append(r.about, c.Ref)
			}
		}
	}
	if noMatch.NeedsPage {
		if err := alone(q); err != nil {
			return located{}, err
		}
		return r.bySelector(ctx, q)
	}
	if loc, ok := r.remembered(q); ok {
		return loc, nil
	}
	if noMatch.Code == snapshot.NotFound {
		if loc, ok := r.byHint(ctx, q, false); ok {
			return loc, nil
		}
	}
	if loc, ok := r.byChoice(ctx, q); ok {
		return loc, nil
	}
	return located{}, noMatch
}

// remembered finds an element as it was found before. Exactly one must fit.
func (r *Runner) remembered(q find.Query) (located, bool) {
	if r.opts.Memory == nil || r.page == nil {
		return located{}, false
	}
	known, ok := r.opts.Memory.Get(r.memoryKey(q))
	if !ok {
		return located{}, false
	}
	hit, err := r.page.index.Refind(known.Element)
	if err != nil {
		return located{}, false
	}
	loc := r.took(hit, q)
	loc.healed = "found as it was found before"
	return loc, true
}

// memoryKey names a look-up across runs: the page's path, the words, the number and the action.
func (r *Runner) memoryKey(q find.Query) string {
	key, _ := json.Marshal([]string{pathOf(r.where.url), q.Text, q.Within, q.Frame, strconv.Itoa(q.Nth), string(q.Action)})
	return string(key)
}

func (r *Runner) maskCandidates(list []find.Candidate) []find.Candidate {
	out := make([]find.Candidate, len(list))
	for i, c := range list {
		c.Name, c.Path, c.Why = r.mask(c.Name), r.mask(c.Path), r.tell(c.Why)
		out[i] = c
	}
	return out
}
