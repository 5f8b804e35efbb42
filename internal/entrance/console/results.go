package console

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// KeptResults are the full results that were kept.
type KeptResults interface {
	ListResults(ctx context.Context, who access.Principal, in restapi.ResultQuery) (restapi.ResultList, error)
	KeptResult(ctx context.Context, who access.Principal, ref string) (restapi.Result, error)
	TryRule(ctx context.Context, who access.Principal, kept restapi.Result, rule []byte) (restapi.Trial, error)
}

func (c *Console) resultsSection() section {
	return section{name: "results", path: "/results", key: "r", routes: map[string]handler{
		"GET /results":                    c.listResults,
		"GET /results/{ref}":              c.showResult,
		"GET /results/{ref}/full":         c.fullResult,
		"GET /results/{ref}/file":         c.resultFile,
		"POST /results/{ref}/try":         c.tryRule,
		"POST /results/{ref}/rule":        c.saveRuleOfResult,
		"GET /results/rules":              c.listRules,
		"POST /results/rules":             c.saveRule,
		"POST /results/rules/{id}/mode":   c.switchRule,
		"POST /results/rules/{id}/delete": c.deleteRule,
		"GET /results/suggestions":        c.suggestions,
	}}
}

// resultsPage is what the pages about results show; Tab says which of them it is.
type resultsPage struct {
	Tab      string // kept, one, rules or suggestions
	MayRead  bool   // the rules, and what they were learned from
	MayAdmin bool

	Kept    *keptList
	One     *resultView
	Rules   *ruleList
	Learned *learned
}

func resultsTab(v *visit, tab string) resultsPage {
	return resultsPage{Tab: tab, MayRead: v.who.MayRead(), MayAdmin: v.who.MayAdmin()}
}

// keptList is a page of kept results.
type keptList struct {
	pager
	Rows    []keptRow
	Tool    string // what was looked for
	Rule    string
	Command string // makes the first one
}

type keptRow struct {
	restapi.ResultHead
	Saved string // "": not known
}

func (c *Console) listResults(v *visit) (answer, error) {
	q := v.URL.Query()
	in := restapi.ResultQuery{Tool: strings.TrimSpace(q.Get("tool")), Rule: q.Get("rule"), Cursor: q.Get("cursor")}
	list, err := c.Gateway.ListResults(v.Context(), v.who, in)
	if err != nil {
		return answer{}, err
	}
	kept := keptList{Tool: in.Tool, Rule: in.Rule}
	for _, h := range list.Results {
		row := keptRow{ResultHead: h}
		if h.TokensFull > 0 {
			row.Saved = share(ratio(h.TokensFull-h.TokensSent, h.TokensFull))
		}
		kept.Rows = append(kept.Rows, row)
	}
	if list.Next != "" {
		kept.Older = with(c.at("/results"), q, "cursor", list.Next)
	}
	if in.Cursor != "" {
		kept.First = with(c.at("/results"), q, "cursor", "")
	}
	if len(kept.Rows) == 0 && in == (restapi.ResultQuery{}) {
		kept.Command = c.firstResult(v)
	}
	p := resultsTab(v, "kept")
	p.Kept = &kept
	return show("results", p)
}

// firstResult is a command after which there is a kept result: a call, as a model would make
// it, that a rule in force is for. "": no rule names a tool.
func (c *Console) firstResult(v *visit) string {
	rules, err := c.Gateway.ListRules(v.who)
	if err != nil {
		return "" // who may not read the rules is told in words
	}
	for _, r := range rules {
		if r.Mode != project.On || r.Reason != "" || strings.ContainsAny(r.Tool, "*?") {
			continue
		}
		key := ""
		if v.who.ID != access.Local().ID {
			key = " -H 'Authorization: Bearer KEY'"
		}
		at := c.base(v) + "/api/v1/tools/" + url.PathEscape(r.Tool) + "/call?view=model"
		return fmt.Sprintf("curl -s %s%s -d %s", quoteShell(at), key, quoteShell(exampleOf(r.When)))
	}
	return ""
}

// exampleOf are arguments that a rule's conditions hold for, as far as they name some.
func exampleOf(when map[string]any) string {
	args := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(when)) {
		value := when[name]
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		if value != nil && !strings.HasPrefix(name, "/") {
			args[name] = value
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		return "{}"
	}
	return string(text)
}

func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// base is our address as the person's browser knows it.
func (c *Console) base(v *visit) string {
	scheme, host := c.Address(v.Request)
	return scheme + "://" + host + c.BasePath
}
