package console

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Results reads stored results and tries rules on them.
type Results interface {
	ListResults(ctx context.Context, who access.Principal, in restapi.ResultQuery) (restapi.ResultList, error)
	StoredResult(ctx context.Context, who access.Principal, ref string) (restapi.Result, error)
	TryRule(ctx context.Context, who access.Principal, stored restapi.Result, rule []byte) (restapi.Trial, error)
}

func (c *Console) resultsSection() section {
	return section{name: "results", path: "/results", key: "r", routes: map[string]handler{
		"GET /results":                    page("results", whole, c.listResults),
		"GET /results/{ref}":              page("results", whole, c.readResult),
		"GET /results/{ref}/full":         page("results", "full", c.fullResult),
		"GET /results/{ref}/file":         c.resultFile,
		"POST /results/{ref}/try":         c.tryRule,
		"POST /results/{ref}/rule":        c.saveRuleOfResult,
		"GET /results/rules":              page("results", whole, func(v *visit) (resultsPage, error) { return c.listRules(v, c.newForm(v)) }),
		"POST /results/rules":             c.saveRule,
		"POST /results/rules/{id}/mode":   c.switchRule,
		"POST /results/rules/{id}/delete": c.deleteRule,
		"GET /results/suggestions":        page("results", whole, c.suggestions),
		"POST /results/suggestions":       c.acceptSuggestion,
		"GET /results/suggestions/try":    page("results", "samples", c.trySuggestion),
	}}
}

type resultsPage struct {
	Tab      string // kept, one, rules or suggestions
	MayRead  bool   // read rules and suggestions
	MayAdmin bool

	Stored  *storedList
	One     *resultView
	Rules   *ruleList
	Learned *learned
}

func resultsTab(v *visit, tab string) resultsPage {
	return resultsPage{Tab: tab, MayRead: v.who.MayRead(), MayAdmin: v.who.MayAdmin()}
}

type storedList struct {
	list
	Rows    []storedRow
	Command string // that makes the first one
}

type storedRow struct {
	restapi.ResultHead
	Saved string // "": unknown
}

func (c *Console) listResults(v *visit) (resultsPage, error) {
	stored := storedList{list: c.listOf(v, "/results", "tool", "rule")}
	in := restapi.ResultQuery{Tool: strings.TrimSpace(stored.Filter["tool"]), Rule: stored.Filter["rule"], Cursor: stored.cursor}
	found, err := c.Results.ListResults(v.Context(), v.who, in)
	for _, h := range found.Results {
		row := storedRow{ResultHead: h}
		if h.TokensFull > 0 {
			row.Saved = share(ratio(h.TokensFull-h.TokensSent, h.TokensFull))
		}
		stored.Rows = append(stored.Rows, row)
	}
	stored.older(found.Next)
	if len(stored.Rows) == 0 && in == (restapi.ResultQuery{}) {
		stored.Command = c.firstResult(v)
	}
	p := resultsTab(v, "kept")
	p.Stored = &stored
	return p, err
}

// firstResult is a command that makes the first stored result: a call to which a rule applies.
// "": no rule names a tool.
func (c *Console) firstResult(v *visit) string {
	rules, err := c.Rules.ListRules(v.who)
	if err != nil {
		return "" // the person may not read rules
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
		return fmt.Sprintf("curl -s %s%s -d %s", shell.Quote(at), key, shell.Quote(exampleOf(r.When)))
	}
	return ""
}

// exampleOf are arguments that meet a rule's conditions, as far as these name any.
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
	return cmp.Or(compact(args), "{}")
}

// base is the console's address in the person's browser.
func (c *Console) base(v *visit) string {
	scheme, host := c.Address(v.Request)
	return scheme + "://" + host + c.BasePath
}
