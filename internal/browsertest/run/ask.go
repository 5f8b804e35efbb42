package run

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolfit/toolfit/internal/browsertest/find"
)

// asked stands for the words of an element that no step names.
const asked = "what is asked about"

// questions are what the page is asked about an element, by what a snapshot leaves open.
var questions = map[find.Asked]string{
	find.FrameNames: `(e) => {
  const ids = (e.getAttribute('aria-labelledby') || '').split(/\s+/).map((id) => id && e.getRootNode().getElementById(id));
  const caption = e.closest('figure') && e.closest('figure').querySelector('figcaption');
  return { names: [e.title, e.getAttribute('name'), e.getAttribute('aria-label'), ...[...ids, caption].map((c) => c && c.textContent)].map((n) => (n || '').trim()).filter(Boolean) };
}`,
	find.ModalKind: `(e) => ({ inert: e.matches(':modal'), modal: e.getAttribute('aria-modal') === 'true' })`,
	find.LabelOwner: `(e) => {
  const text = (s) => (s || '').replace(/\s+/g, '');
  const labels = [...e.getRootNode().querySelectorAll('label')].filter((l) => text(l.textContent) === text(%s));
  return { others: labels.length > 0 && labels.every((l) => l.htmlFor && l.control !== e) };
}`,
}

// find looks an element up, once per snapshot. What the snapshot leaves open and the answer
// hangs on, the page is asked.
func (p *page) find(ctx context.Context, r *Runner, q find.Query) (*find.Hit, error) {
	if f, known := p.found[q]; known {
		r.metrics.CacheHits++
		return f.hit, f.err
	}
	r.ask(ctx, p, p.index.Doubts(q, nil, nil))
	hit, err := p.index.Find(q)
	for r.ask(ctx, p, p.index.Doubts(q, hit, err)) { // each question once, so this ends
		hit, err = p.index.Find(q)
	}
	p.found[q] = found{hit, err}
	return hit, err
}

// ask tells the index what the page answers. A page that does not answer says nothing.
func (r *Runner) ask(ctx context.Context, p *page, doubts []find.Doubt) bool {
	for _, d := range doubts {
		function := questions[d.About]
		if d.About == find.LabelOwner {
			text, _ := json.Marshal(d.Label) // a string
			function = fmt.Sprintf(function, text)
		}
		var told find.Told
		answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": function, "element": asked, "target": d.Ref})
		if err == nil {
			err = json.Unmarshal([]byte(answer.Result), &told)
		}
		if err != nil {
			told = find.Told{}
		}
		p.index.Tell(d, told)
		r.page = p // the question has changed nothing
	}
	return len(doubts) > 0
}
