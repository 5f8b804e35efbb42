package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/browsertest/find"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// selected is what the page says about the elements of a selector.
type selected struct {
	state
	Count   int      `json:"count"`
	Visible int      `json:"visible"` // -1: unknown
	Tag     string   `json:"tag"`
	Names   []string `json:"names"` // that the element may have in a snapshot
}

// only is the error of a selector that does not match exactly one element.
func (s *selected) only(selector string) error {
	switch s.Count {
	case 0:
		return fail(snapshot.NotFound, "%s does not match any elements", selector)
	case 1:
		return nil
	}
	return fail(snapshot.Ambiguous, "%s matches %d elements", selector, s.Count)
}

// selectedBy asks the page about a selector, or the server, which knows forms that pages do not.
func (r *Runner) selectedBy(ctx context.Context, selector string) (out selected, err error) {
	expression, inPage := queryExpression(selector)
	if inPage {
		err = r.evaluate(ctx, describe(expression), &out)
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
	return out, fail(snapshot.BadParameters,
		"the selector %s cannot be used with this version of the server; write CSS, XPath or words", selector)
}

var resolvedTo = regexp.MustCompile(`resolved to (\d+) elements`)

// selectedByServer has the server resolve a selector. It shows us one element alone.
func (r *Runner) selectedByServer(ctx context.Context, selector string) (out selected, err error) {
	answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": describe("[given]"), "element": selector, "target": selector})
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

// theOne waits for the one element of a selector.
func (r *Runner) theOne(ctx context.Context, selector string, until *deadline) (selected, error) {
	for {
		found, err := r.selectedBy(ctx, selector)
		if err == nil {
			err = found.only(selector)
		}
		if err == nil || codeOf(err) != snapshot.NotFound || !until.again(ctx) {
			return found, err
		}
	}
}

// describe is a function for the page that describes the elements of an expression.
func describe(expression string) string {
	return "(given) => (" + script("selected") + ")(" + expression + ")"
}

// testIDs are the ways to write a test id, with what ends them.
var testIDs = map[string]string{"data-testid=": "", "getByTestId(": ")"}

// serverForms begin the selectors that only the server understands.
var serverForms = []string{"getBy", "locator(", "text=", "role="}

// queryExpression is a selector as JavaScript; false for one that only the server understands.
func queryExpression(selector string) (string, bool) {
	for prefix, suffix := range testIDs {
		if id, found := strings.CutPrefix(selector, prefix); found {
			return query("queryall", fmt.Sprintf("[data-testid=%s]", quotedJSON(strings.Trim(strings.TrimSuffix(id, suffix), `"' `)))), true
		}
	}
	if id, found := strings.CutPrefix(selector, "id="); found {
		return query("queryall", fmt.Sprintf("[id=%s]", quotedJSON(id))), true
	}
	path, isXPath := strings.CutPrefix(selector, "xpath=")
	if isXPath || strings.HasPrefix(path, "//") || strings.HasPrefix(path, "(//") {
		return query("xpath", path), true
	}
	byServer := func(form string) bool { return strings.HasPrefix(selector, form) }
	if slices.ContainsFunc(serverForms, byServer) || strings.Contains(selector, ">>") {
		return "", false
	}
	return query("queryall", strings.TrimPrefix(selector, "css=")), true
}

// query is an expression that calls a script with a text.
func query(name, text string) string { return "(" + script(name) + ")(" + quotedJSON(text) + ")" }

func quotedJSON(text string) string { return string(rawjson.AppendString(nil, text)) }

// bySelector resolves a selector for servers that take only refs: the page counts its elements, and
// says which one of the snapshot it is.
func (r *Runner) bySelector(ctx context.Context, q find.Query) (located, error) {
	found, err := r.selectedBy(ctx, q.Text)
	if err == nil {
		err = found.only(q.Text)
	}
	if err == nil && found.Visible == 0 {
		err = fail(snapshot.NotInteractable, "the element is not visible")
	}
	if err != nil {
		return located{}, err
	}
	p, err := r.snapshot(ctx, true)
	if err != nil {
		return located{}, err
	}
	for _, n := range found.candidates(p.tree) {
		same, err := r.isFirst(ctx, q.Text, n.Ref)
		if err != nil {
			return located{}, err
		}
		if same {
			r.step.Element = &Element{Role: n.Role, Name: r.mask(n.Name), Score: 1, Why: "is what the selector says"}
			return located{address: n.Ref, words: q.Text, node: n, tree: p.tree}, nil
		}
	}
	return located{}, fail(snapshot.NotFound, "%s matches an element that the snapshot does not show", q.Text)
}

// isFirst asks the page whether a ref is the selector's element.
func (r *Runner) isFirst(ctx context.Context, selector, ref string) (bool, error) {
	expression, _ := queryExpression(selector) // it was one a moment ago
	same := "(e) => " + expression + "[0] === e"
	answer, err := r.call(ctx, "browser_evaluate", map[string]any{"function": same, "element": selector, "target": ref})
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
	if tag == "input" {
		return !strings.Contains(" generic link heading row cell ", " "+role+" ")
	}
	roles, known := tagRoles[tag]
	return !known || slices.Contains(roles, role)
}

var tagRoles = map[string][]string{
	"button":   {"button", "tab", "switch", "menuitem", "combobox"},
	"a":        {"link", "button", "menuitem", "tab"},
	"select":   {"combobox", "listbox"},
	"textarea": {"textbox"},
}
