package run

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// selected is what the page says about the elements of a selector.
type selected struct {
	Count    int      `json:"count"`
	Tag      string   `json:"tag"`
	Text     string   `json:"text"`
	Value    string   `json:"value"`
	Checked  bool     `json:"checked"`
	Disabled bool     `json:"disabled"`
	Visible  int      `json:"visible"` // -1: nobody can tell
	Names    []string `json:"names"`   // what the element may be called in a snapshot
}

const selectedScript = `(given) => {
  const found = %s;
  const shown = found.filter((e) => { const b = e.getBoundingClientRect(); return b.width > 0 && b.height > 0 && getComputedStyle(e).visibility !== 'hidden'; });
  const e = shown[0] || found[0] || {};
  const attribute = (name) => (e.getAttribute && e.getAttribute(name)) || '';
  const names = [attribute('aria-label'), attribute('placeholder'), attribute('title'), attribute('alt'), e.innerText, ...[...(e.labels || [])].map((l) => l.innerText)];
  return { count: found.length, visible: shown.length, names: names.map((n) => (n || '').trim()).filter(Boolean), tag: (e.tagName || '').toLowerCase(), text: (e.innerText || '').trim(), value: String(e.value ?? ''), checked: !!e.checked || attribute('aria-checked') === 'true', disabled: !!e.disabled || attribute('aria-disabled') === 'true' };
}`

// selectedBy asks the page about a selector, or the server, which knows forms that pages do not.
func (r *Runner) selectedBy(ctx context.Context, selector string) (out selected, err error) {
	expression, inPage := queryExpression(selector)
	if inPage {
		err = r.evaluate(ctx, fmt.Sprintf(selectedScript, expression), &out)
		if err == nil || codeOf(err) != snapshot.BadParameters {
			return out, err
		}
	}
	switch {
	case r.takesTarget():
		return r.selectedByServer(ctx, selector)
	case err != nil:
		return out, err
	}
	return out, fail(snapshot.BadParameters, "the selector %s cannot be used with this version of the server; write CSS, XPath or words", selector)
}

var resolvedTo = regexp.MustCompile(`resolved to (\d+) elements`)

// selectedByServer has the server resolve a selector. It shows us one element alone.
func (r *Runner) selectedByServer(ctx context.Context, selector string) (out selected, err error) {
	answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": fmt.Sprintf(selectedScript, "[given]"), "element": selector, "target": selector})
	switch {
	case err == nil:
		return out, readResult(answer, &out)
	case codeOf(err) == snapshot.NotFound:
		return selected{}, nil
	case codeOf(err) != snapshot.Ambiguous:
		return out, err
	}
	out = selected{Count: 2, Visible: -1}
	if m := resolvedTo.FindStringSubmatch(err.Error()); m != nil {
		out.Count, _ = strconv.Atoi(m[1]) // digits
	}
	return out, nil
}

// theOne is what the page says about the one element of a selector, which is waited for.
func (r *Runner) theOne(ctx context.Context, selector string, until *deadline) (selected, error) {
	for {
		state, err := r.selectedBy(ctx, selector)
		switch {
		case err != nil || state.Count == 1:
			return state, err
		case state.Count > 1:
			return state, fail(snapshot.Ambiguous, "%s matches %d elements", selector, state.Count)
		case !until.again(ctx):
			return state, fail(snapshot.NotFound, "%s does not match any elements", selector)
		}
	}
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

// queryAll goes through open shadow roots, as the server does.
func queryAll(css string) string {
	b, _ := json.Marshal(css) // a string
	return fmt.Sprintf(`((css) => { const found = []; const walk = (root) => { found.push(...root.querySelectorAll(css)); for (const e of root.querySelectorAll('*')) { if (e.shadowRoot) walk(e.shadowRoot); } }; walk(document); return found; })(%s)`, b)
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
