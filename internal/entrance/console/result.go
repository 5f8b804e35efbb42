package console

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/fields"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// resultView is one kept result: its fields to choose from, and what a rule would leave.
type resultView struct {
	restapi.Result
	Bytes     int64
	Arguments block
	Fields    []fieldRow
	Cut       bool // the tree leaves fields out
	Form      ruleForm
	Preview   preview
}

// fieldRow is a field of the tree.
type fieldRow struct {
	ID       int
	Name     string
	Kind     string // a key: console.kind.KIND
	Many     bool
	Sample   string
	Share    string
	Count    int
	Ticked   bool
	Cut      bool
	Children []fieldRow
}

// preview is what a model would get by the rule in the form.
type preview struct {
	restapi.Trial
	Saved string
	Texts []block
	Fault *fault.Error // why there is none
	From  string       // what was changed last: ticks, or the mask
	Mask  string       // as the ticks say it
	Ticks string       // as the mask says them, by id
}

func (c *Console) showResult(v *visit) (answer, error) {
	kept, err := c.Gateway.KeptResult(v.Context(), v.who, v.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	return c.resultPage(v, kept, c.formFor(v, kept))
}

// resultPage shows a result with the rule that is being written.
func (c *Console) resultPage(v *visit, kept restapi.Result, form ruleForm) (answer, error) {
	tree := c.trees.of(kept)
	ticked := ticksOf(tree, form)
	view := resultView{Result: kept, Bytes: int64(len(kept.Result)), Form: form, Cut: isCut(tree)}
	view.Arguments = code(text(v.lang, "result.arguments"), kept.Arguments)
	view.Fields = rowsOf(tree, tree, ticked)
	view.Preview = c.preview(v, kept, form)
	p := resultsTab(v, "one")
	p.One = &view
	return show("results", p)
}

func rowsOf(n, root *fields.Node, ticked map[int]bool) (rows []fieldRow) {
	for _, f := range n.Children {
		row := fieldRow{ID: f.ID, Name: f.Name, Kind: string(f.Kind), Many: f.Many, Sample: f.Sample, Count: f.Count, Cut: f.Cut}
		row.Share, row.Ticked = share(f.Share(root)), ticked == nil || ticked[f.ID]
		row.Children = rowsOf(f, root, ticked)
		rows = append(rows, row)
	}
	return rows
}

func isCut(n *fields.Node) bool { return n.Cut || slices.ContainsFunc(n.Children, isCut) }

// ticksOf are the fields that the form's mask keeps. Nil: all of them, because it has none
// or none that can be read.
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

// tryRule shows what the rule in the form would leave. The form comes with ticks and with a
// mask; it says which of them the person changed last, and the other one follows.
func (c *Console) tryRule(v *visit) (answer, error) {
	kept, err := c.Gateway.KeptResult(v.Context(), v.who, v.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	form := c.readForm(v)
	tree := c.trees.of(kept)
	from, ticked := v.PostForm.Get("from"), ticksIn(v.PostForm["f"])
	if from == "ticks" || from == "" && form.Expression == "" {
		form.Way, form.Expression = "keep", maskOf(tree, ticked)
	}
	if v.Header.Get("HX-Request") == "" {
		return c.resultPage(v, kept, form)
	}
	p := c.preview(v, kept, form)
	if from == "ticks" && len(ticked) == 0 {
		p = preview{Fault: fault.New(fault.BadRequest, "%s", text(v.lang, "result.nothing"))}
	}
	p.From, p.Mask = from, form.Expression
	p.Ticks = writeTicks(ticksOf(tree, form))
	return part("results", "preview", p)
}

// maskOf is the mask of the ticked fields; "" for all of them, which needs none.
func maskOf(tree *fields.Node, ticked map[int]bool) string {
	if !slices.ContainsFunc(tree.Children, func(n *fields.Node) bool { return !ticked[n.ID] }) {
		return ""
	}
	return tree.Mask(ticked)
}

// ticksIn reads the ids of ticked fields; what is no number ticks nothing.
func ticksIn(values []string) map[int]bool {
	ticked := map[int]bool{}
	for _, s := range values {
		if id, err := strconv.Atoi(s); err == nil {
			ticked[id] = true
		}
	}
	return ticked
}

// writeTicks are the ids for the script of the page; "all" where there is no mask.
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

// preview tries the rule. What is wrong with it is shown in the place of what it leaves.
func (c *Console) preview(v *visit, kept restapi.Result, form ruleForm) (p preview) {
	trial, err := c.Gateway.TryRule(v.Context(), v.who, kept, form.trial())
	if err != nil {
		p.Fault = fault.As(err)
		return p
	}
	p.Trial = trial
	p.Saved = share(max(0, ratio(int64(trial.Tokens.Full-trial.Tokens.Sent), int64(trial.Tokens.Full))))
	for _, t := range project.Texts(trial.Result, 2*maxPreview) {
		p.Texts = append(p.Texts, beginningUpTo(text(v.lang, "result.text", len(p.Texts)+1), t, maxPreview))
		if len(t) > maxPreview || len(p.Texts) == maxTexts {
			break
		}
	}
	return p
}

// maxTexts is how many blocks of a result are shown, and maxPreview how much of each: every tick
// sends them again.
const maxTexts, maxPreview = 8, 30_000

// fullResult is the whole result, as far as a page shows it.
func (c *Console) fullResult(v *visit) (answer, error) {
	kept, err := c.Gateway.KeptResult(v.Context(), v.who, v.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	return part("results", "full", beginning(text(v.lang, "result.full"), kept.Result))
}

// resultFile is the whole result as a file.
func (c *Console) resultFile(v *visit) (answer, error) {
	kept, err := c.Gateway.KeptResult(v.Context(), v.who, v.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	return answer{serve: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Disposition", `attachment; filename="`+kept.Ref+`.json"`)
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(kept.Result) // a reader that went away is no fault of ours
	}}, nil
}
