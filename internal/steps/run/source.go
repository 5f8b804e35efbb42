package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/steps/find"
	"github.com/toolfit/toolfit/internal/steps/snapshot"
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
  const roles = { A: 'link', BUTTON: 'button', INPUT: 'textbox', SELECT: 'combobox', TEXTAREA: 'textbox', IMG: 'img', SVG: 'img' };
  const out = [];
  for (const e of document.querySelectorAll('a,button,input,select,textarea,[role],[onclick],[tabindex],svg,i,img,span,div')) {
    const box = e.getBoundingClientRect();
    const style = getComputedStyle(e);
    if (out.length >= 300 || box.width === 0 || box.height === 0 || style.visibility === 'hidden') continue;
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
	loc := located{address: hint.Selector, words: q.Text, healed: "by what the page's source calls it: " + hint.Selector}
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
	if err := json.Unmarshal([]byte(answer.Result), into); err != nil {
		return fail(snapshot.CallFailed, "the page answered something else than was asked: %.100s", answer.Result)
	}
	return nil
}

// selected is what the page says about the elements of a selector.
type selected struct {
	Count    int      `json:"count"`
	Tag      string   `json:"tag"`
	Text     string   `json:"text"`
	Value    string   `json:"value"`
	Checked  bool     `json:"checked"`
	Disabled bool     `json:"disabled"`
	Visible  int      `json:"visible"`
	Names    []string `json:"names"` // what the element may be called in a snapshot
}

const selectedScript = `() => {
  const found = %s;
  const shown = found.filter((e) => { const b = e.getBoundingClientRect(); return b.width > 0 && b.height > 0 && getComputedStyle(e).visibility !== 'hidden'; });
  const e = shown[0] || found[0] || {};
  const attribute = (name) => (e.getAttribute && e.getAttribute(name)) || '';
  const names = [attribute('aria-label'), attribute('placeholder'), attribute('title'), attribute('alt'), e.innerText, ...[...(e.labels || [])].map((l) => l.innerText)];
  return { count: found.length, visible: shown.length, names: names.map((n) => (n || '').trim()).filter(Boolean), tag: (e.tagName || '').toLowerCase(), text: (e.innerText || '').trim(), value: String(e.value ?? ''), checked: !!e.checked || attribute('aria-checked') === 'true', disabled: !!e.disabled || attribute('aria-disabled') === 'true' };
}`

// selectedBy asks the page about a selector; false for a form that the page itself cannot read.
func (r *Runner) selectedBy(ctx context.Context, selector string) (selected, error) {
	expression, ok := queryExpression(selector)
	if !ok {
		return selected{}, fail(snapshot.BadParameters, "the selector %s cannot be used with this version of the server; write CSS, XPath or words", selector)
	}
	var out selected
	err := r.evaluate(ctx, fmt.Sprintf(selectedScript, expression), &out)
	return out, err
}

// queryExpression is a selector as an expression for the list of its elements.
func queryExpression(selector string) (string, bool) {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) } // a string
	switch {
	case strings.HasPrefix(selector, "xpath="), strings.HasPrefix(selector, "//"), strings.HasPrefix(selector, "(//"):
		path := strings.TrimPrefix(selector, "xpath=")
		return fmt.Sprintf(`((x) => Array.from({ length: x.snapshotLength }, (_, i) => x.snapshotItem(i)))(document.evaluate(%s, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null))`, quoted(path)), true
	case strings.HasPrefix(selector, "data-testid="):
		return queryAll(fmt.Sprintf(`[data-testid=%s]`, quoted(strings.Trim(selector[len("data-testid="):], `"'`)))), true
	case strings.HasPrefix(selector, "getByTestId("):
		return queryAll(fmt.Sprintf(`[data-testid=%s]`, quoted(strings.Trim(strings.TrimSuffix(selector[len("getByTestId("):], ")"), `"' `)))), true
	case strings.HasPrefix(selector, "id="):
		return queryAll(fmt.Sprintf(`[id=%s]`, quoted(selector[len("id="):]))), true
	case strings.HasPrefix(selector, "getBy"), strings.HasPrefix(selector, "locator("), strings.Contains(selector, ">>"), strings.HasPrefix(selector, "text="), strings.HasPrefix(selector, "role="):
		return "", false
	}
	return queryAll(strings.TrimPrefix(selector, "css=")), true
}

func queryAll(css string) string {
	b, _ := json.Marshal(css) // a string
	return fmt.Sprintf(`[...document.querySelectorAll(%s)]`, b)
}

// bySelector resolves a selector for servers that take refs alone: the page says whether
// there is exactly one, the snapshot which element that may be, and the page confirms it.
func (r *Runner) bySelector(ctx context.Context, q find.Query) (located, error) {
	state, err := r.selectedBy(ctx, q.Text)
	switch {
	case err != nil:
		return located{}, err
	case state.Count == 0:
		return located{}, fail(snapshot.NotFound, "%s does not match any elements", q.Text)
	case state.Count > 1:
		return located{}, fail(snapshot.Ambiguous, "%s matches %d elements", q.Text, state.Count)
	case state.Visible == 0:
		return located{}, fail(snapshot.NotInteractable, "the element is not visible")
	}
	p, err := r.snapshot(ctx, true)
	if err != nil {
		return located{}, err
	}
	for _, n := range state.candidates(p.tree) {
		same, err := r.isFirst(ctx, q.Text, n.Ref)
		if err != nil {
			return located{}, err
		}
		if same {
			r.step.Element = &Element{Role: n.Role, Name: r.mask(n.Name), Score: 1, Why: "is what the selector says"}
			return located{address: n.Ref, words: q.Text, node: n}, nil
		}
	}
	return located{}, fail(snapshot.NotFound, "%s matches an element that the snapshot does not show", q.Text)
}

// isFirst asks the page whether a ref is the selector's element.
func (r *Runner) isFirst(ctx context.Context, selector, ref string) (bool, error) {
	expression, _ := queryExpression(selector) // it was one a moment ago
	answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": "(e) => " + expression + "[0] === e", "element": selector, "target": ref})
	if codeOf(err) == snapshot.StaleRef && err != nil {
		return false, nil
	}
	return answer.Result == "true", err
}

// candidates are the nodes that the element may be, those of its name first.
func (s *selected) candidates(tree *snapshot.Page) []*snapshot.Node {
	var named, others []*snapshot.Node
	for n := range tree.All() {
		switch {
		case n.Ref == "" || !tagShows(s.Tag, n.Role):
		case slices.Contains(s.Names, n.Name):
			named = append(named, n)
		default:
			others = append(others, n)
		}
	}
	const most = 40 // each costs a call
	all := append(named, others...)
	return all[:min(len(all), most)]
}

// tagShows tells whether a tag may appear under a role.
func tagShows(tag, role string) bool {
	switch tag {
	case "button":
		return role == "button" || role == "tab" || role == "switch" || role == "menuitem" || role == "combobox"
	case "a":
		return role == "link" || role == "button" || role == "menuitem" || role == "tab"
	case "input":
		return role != "generic" && role != "link" && role != "heading" && role != "row" && role != "cell"
	case "select":
		return role == "combobox" || role == "listbox"
	case "textarea":
		return role == "textbox"
	}
	return true
}
