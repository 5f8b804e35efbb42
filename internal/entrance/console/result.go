package console

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/fields"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// resultView is one stored result: its fields to choose from, and a preview of a rule.
type resultView struct {
	restapi.Result
	Bytes     int64
	Arguments block
	Fields    []fieldRow
	Cut       bool // the tree does not show all fields
	Form      ruleForm
	Preview   preview
}

type fieldRow struct {
	*fields.Node
	Share    string
	Ticked   bool
	Children []fieldRow
}

// preview is the result as a model would get it by the rule in the form.
type preview struct {
	restapi.Trial
	Keeps string // share of the tokens
	Texts []block
	Fault *fault.Error // why there is no preview
	From  string       // what the person changed last: ticks or mask
	Mask  string       // for the ticks
	Ticks string       // for the mask: ids of fields
}

// result reads the stored result that the path names.
func (c *Console) result(v *visit) (restapi.Result, error) {
	return c.Results.StoredResult(v.Context(), v.who, v.PathValue("ref"))
}

func (c *Console) readResult(v *visit) (resultsPage, error) {
	stored, err := c.result(v)
	if err != nil {
		return resultsPage{}, err
	}
	return c.resultPage(v, stored, c.formFor(v, stored)), nil
}

// resultPage shows a result with the rule in the form.
func (c *Console) resultPage(v *visit, stored restapi.Result, form ruleForm) resultsPage {
	tree := c.trees.of(stored)
	ticked := ticksOf(tree, form)
	p := resultsTab(v, "one")
	p.One = &resultView{
		Result: stored, Bytes: int64(len(stored.Result)), Arguments: code(text(v.lang, "result.arguments"), stored.Arguments),
		Fields: rowsOf(tree, tree, ticked), Cut: isCut(tree), Form: form, Preview: c.preview(v, stored, form, maxTexts, maxPreview),
	}
	return p
}

func rowsOf(n, root *fields.Node, ticked map[int]bool) (rows []fieldRow) {
	for _, f := range n.Children {
		rows = append(rows, fieldRow{f, share(f.Share(root)), ticked == nil || ticked[f.ID], rowsOf(f, root, ticked)})
	}
	return rows
}

func isCut(n *fields.Node) bool { return n.Cut || slices.ContainsFunc(n.Children, isCut) }

// ticksOf are the fields that the form's mask keeps. Nil: all, because there is no valid mask.
func ticksOf(tree *fields.Node, form ruleForm) map[int]bool {
	parse := mask.Parse
	switch form.Way {
	case "keep":
	case "drop":
		parse = mask.ParseDrop
	default:
		return nil
	}
	if form.Expression == "" {
		return nil
	}
	m, err := parse(form.Expression)
	if err != nil {
		return nil
	}
	ticked, err := tree.Kept(m)
	if errors.Is(err, mask.ErrMismatch) {
		return map[int]bool{}
	}
	return ticked
}

// tryRule previews the rule in the form. The form has ticks and a mask; whichever the person
// changed last decides, and the other follows.
func (c *Console) tryRule(v *visit) (answer, error) {
	stored, err := c.result(v)
	if err != nil {
		return answer{}, err
	}
	form := c.readForm(v)
	tree := c.trees.of(stored)
	from := v.PostForm.Get("from")
	ticked := ticksIn(v.PostForm["f"])
	if from == "ticks" || from == "" && form.Expression == "" {
		form.Way = "keep"
		form.Expression = maskOf(tree, ticked)
	}
	if v.Header.Get("HX-Request") == "" {
		return show("results", c.resultPage(v, stored, form))
	}
	p := c.preview(v, stored, form, maxTexts, maxPreview)
	if from == "ticks" && len(ticked) == 0 {
		p = preview{Fault: fault.New(fault.BadRequest, "%s", text(v.lang, "result.nothing"))}
	}
	p.From = from
	p.Mask = form.Expression
	p.Ticks = writeTicks(ticksOf(tree, form))
	return answer{page: "results", block: "preview", data: p}, nil
}

// maskOf is the mask of the ticked fields; "" if all are ticked.
func maskOf(tree *fields.Node, ticked map[int]bool) string {
	if !slices.ContainsFunc(tree.Children, func(n *fields.Node) bool { return !ticked[n.ID] }) {
		return ""
	}
	return tree.Mask(ticked)
}

func ticksIn(values []string) map[int]bool {
	ticked := map[int]bool{}
	for _, s := range values {
		if id, err := strconv.Atoi(s); err == nil {
			ticked[id] = true
		}
	}
	return ticked
}

// writeTicks writes the ids for the page's script; "all" without a mask.
func writeTicks(ticked map[int]bool) string {
	if ticked == nil {
		return "all"
	}
	var ids []string
	for id := range ticked {
		ids = append(ids, strconv.Itoa(id))
	}
	return strings.Join(ids, " ")
}

// preview tries the rule, and shows so many texts of the result up to so many bytes. An error is shown instead of the preview.
func (c *Console) preview(v *visit, stored restapi.Result, form ruleForm, texts, bytes int) (p preview) {
	trial, err := c.Results.TryRule(v.Context(), v.who, stored, form.trial())
	if err != nil {
		p.Fault = fault.As(err)
		return p
	}
	p.Trial = trial
	p.Keeps = share(min(1, ratio(int64(trial.Tokens.Sent), int64(trial.Tokens.Full))))
	for _, t := range project.Texts(trial.Result, 2*bytes) {
		p.Texts = append(p.Texts, codeUpTo(text(v.lang, "result.text", len(p.Texts)+1), t, bytes))
		if len(t) > bytes || len(p.Texts) == texts {
			break
		}
	}
	return p
}

// maxTexts is how many blocks of a result are previewed, and maxPreview how many bytes of each.
// They are small because every tick sends them again.
const maxTexts, maxPreview = 8, 30_000

func (c *Console) fullResult(v *visit) (block, error) {
	stored, err := c.result(v)
	return codeUpTo(text(v.lang, "result.full"), stored.Result, maxWhole), err
}

func (c *Console) resultFile(v *visit) (answer, error) {
	stored, err := c.result(v)
	if err != nil {
		return answer{}, err
	}
	return download("application/json", stored.Ref+".json", stored.Result)
}

// maxTrees is how many field trees are cached: about one for each person who chooses fields.
const maxTrees = 16

// trees caches the field trees of the last results. A stored result never changes, and every
// tick needs its tree.
type trees struct {
	mu   sync.Mutex
	last []heldTree // the newest last
}

type heldTree struct {
	call, ref string
	tree      *fields.Node // read-only
}

// of is the field tree of a result.
func (t *trees) of(stored restapi.Result) *fields.Node {
	same := func(h heldTree) bool { return h.call == stored.Call && h.ref == stored.Ref }
	t.mu.Lock()
	if i := slices.IndexFunc(t.last, same); i >= 0 {
		held := t.last[i]
		t.last = append(slices.Delete(t.last, i, i+1), held)
		t.mu.Unlock()
		return held.tree
	}
	t.mu.Unlock()
	tree := fields.Of(project.Values(stored.Result)...) // slow for large results
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(slices.DeleteFunc(t.last, same), heldTree{stored.Call, stored.Ref, tree})
	if over := len(t.last) - maxTrees; over > 0 {
		t.last = slices.Delete(t.last, 0, over)
	}
	return tree
}
