package run

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/browsertest/find"
)

// asked stands for the words of an element that no step names.
const asked = "what is asked about"

// questions are the functions that answer what a snapshot does not show.
var questions = map[find.Topic]string{
	find.FrameNames: script("frame"),
	find.ModalKind:  `(e) => ({ inert: e.matches(':modal'), modal: e.getAttribute('aria-modal') === 'true' })`,
	find.LabelOwner: script("label"),
	find.InputType:  `(e) => ({ type: e.isContentEditable ? 'textarea' : ['input', 'textarea'].includes(e.localName) ? e.type : '' })`,
}

// find looks an element up, once per snapshot. It asks the page what the snapshot does not show.
func (p *page) find(ctx context.Context, r *Runner, q find.Query) (*find.Hit, error) {
	if f, known := p.found[q]; known {
		r.metrics.CacheHits++
		return f.hit, f.err
	}
	r.ask(ctx, p, p.index.Questions(q, nil, nil))
	hit, err := p.index.Find(q)
	for r.ask(ctx, p, p.index.Questions(q, hit, err)) { // each question once, so this ends
		hit, err = p.index.Find(q)
	}
	p.found[q] = found{hit, err}
	return hit, err
}

// ask tells the index what the page answers. A page that does not answer says nothing.
func (r *Runner) ask(ctx context.Context, p *page, doubts []find.Question) bool {
	for _, d := range doubts {
		function := questions[d.About]
		if d.About == find.LabelOwner {
			function = "(e) => (" + function + ")(e, " + quotedJSON(d.Label) + ")"
		}
		var told find.Answer
		answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": function, "element": asked, "target": d.Ref})
		if err == nil {
			err = json.Unmarshal([]byte(answer.Result), &told)
		}
		if err != nil {
			told = find.Answer{}
		}
		p.index.SetAnswer(d, told)
		r.page = p // the question has changed nothing
	}
	return len(doubts) > 0
}
