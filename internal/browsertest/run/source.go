package run

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// hintsScript lists the controls that have no name, with what their source says and a
// selector that addresses each alone.
const hintsScript = `() => {
  const quote = (s) => CSS.escape(s);
  const alone = (s) => document.querySelectorAll(s).length === 1;
  const path = (e) => {
    const parts = [];
    for (; e && e !== document.documentElement; e = e.parentElement) {
      if (e.id && alone('#' + quote(e.id))) { parts.unshift('#' + quote(e.id)); break; }
      const same = e.parentElement ? [...e.parentElement.children].filter((c) => c.tagName === e.tagName) : [e];
      parts.unshift(e.tagName.toLowerCase() + (same.length > 1 ? ':nth-of-type(' + (same.indexOf(e) + 1) + ')' : ''));
    }
    return parts.join(' > ');
  };
  const modal = [...document.querySelectorAll(':modal, [aria-modal=true]')].filter((d) => d.getBoundingClientRect().height > 0).pop();
  const behind = (e) => modal && !modal.contains(e) && (modal.matches(':modal') || modal.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING);
  const roles = { A: 'link', BUTTON: 'button', INPUT: 'textbox', SELECT: 'combobox', TEXTAREA: 'textbox', IMG: 'img', SVG: 'img' };
  const out = [];
  for (const e of document.querySelectorAll('a,button,input,select,textarea,[role],[onclick],[tabindex],svg,i,img,span,div')) {
    const box = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    if (out.length >= 300 || behind(e) || box.width === 0 || box.height === 0 || style.visibility === 'hidden') continue;
    const tag = e.tagName.toUpperCase();
    const acts = ['A', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA'].includes(tag) || e.hasAttribute('onclick') || e.hasAttribute('role') || style.cursor === 'pointer';
    const inner = e.parentElement && e.parentElement.closest('a,button,[role=button],[onclick]');
    if (!acts || inner || (e.innerText || '').trim() || e.getAttribute('aria-label') || e.getAttribute('title') || e.getAttribute('placeholder')) continue;
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(tag) && e.labels && e.labels.length) continue;
    const drawn = e.querySelector('use');
    const within = [...e.querySelectorAll('*')].slice(0, 5).map((c) => c.getAttribute('class') || '').join(' ');
    out.push({
      selector: path(e), role: e.getAttribute('role') || roles[tag] || 'generic', id: e.id || '', class: (e.getAttribute('class') || '') + ' ' + within,
      name: e.getAttribute('name') || '', title: e.getAttribute('alt') || '', testid: e.getAttribute('data-testid') || e.getAttribute('data-test') || '',
      href: (drawn && (drawn.getAttribute('href') || drawn.getAttribute('xlink:href'))) || e.getAttribute('href') || '',
    });
  }
  return out;
}`

// byHint finds a nameless element by what the page's source says about it.
func (r *Runner) byHint(ctx context.Context, q find.Query) (located, bool) {
	if q.Action == find.Any {
		return located{}, false
	}
	var hints []find.Hint
	if r.evaluate(ctx, hintsScript, &hints) != nil {
		return located{}, false
	}
	hint, err := find.FindHint(q, hints)
	if err != nil {
		return located{}, false
	}
	loc := located{address: hint.Selector, words: q.Text, healed: "found by what the page's source calls it: " + hint.Selector}
	if !r.takesTarget() {
		found, err := r.bySelector(ctx, find.Query{Text: hint.Selector, Action: q.Action})
		if err != nil {
			return located{}, false
		}
		found.words, found.healed = q.Text, loc.healed
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
