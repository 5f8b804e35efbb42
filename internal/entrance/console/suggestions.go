package console

import (
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Suggestions suggests rules, based on recorded calls.
type Suggestions interface {
	Suggest(ctx context.Context, who access.Principal, in restapi.SuggestQuery) (restapi.SuggestionList, error)
}

type learned struct {
	restapi.SuggestionList
	Looked  bool // false: not searched yet, because that takes a while
	Rows    []learnedRow
	Nothing []learnedNone
}

// learnedNone is a tool for which nothing is suggested.
type learnedNone struct {
	restapi.NotLearned
	When string // JSON; "": all calls
}

// learnedRow is a suggestion and the rule that a click stores.
type learnedRow struct {
	restapi.Suggestion
	ID     string
	When   string // JSON; "": all calls
	Mode   project.Mode
	Share  string
	Fields []restapi.SuggestedPath // the largest first
}

const maxLearned = 40

// suggestions searches all recorded calls, but only on request.
func (c *Console) suggestions(v *visit) (resultsPage, error) {
	list := learned{Looked: v.URL.Query().Has("look")}
	if list.Looked {
		var err error
		list.SuggestionList, err = c.Suggestions.Suggest(v.Context(), v.who, restapi.SuggestQuery{})
		if err != nil {
			return resultsPage{}, err
		}
	}
	rules, err := c.Rules.ListRules(v.who)
	for _, s := range list.SuggestionList.Suggestions {
		row := learnedRow{Suggestion: s, ID: s.RuleID(), When: compact(s.When), Share: share(s.Saved)}
		if at := slices.IndexFunc(rules, func(r restapi.Rule) bool { return r.ID == row.ID && r.Source == restapi.FromStore }); at >= 0 {
			row.Mode = rules[at].Mode
		}
		row.Fields = slices.Clone(s.Fields)
		slices.SortStableFunc(row.Fields, func(a, b restapi.SuggestedPath) int { return int(1e6*b.Share) - int(1e6*a.Share) })
		row.Fields = row.Fields[:min(maxLearned, len(row.Fields))]
		list.Rows = append(list.Rows, row)
	}
	for _, n := range list.SuggestionList.None {
		list.Nothing = append(list.Nothing, learnedNone{n, compact(n.When)})
	}
	p := resultsTab(v, "suggestions")
	p.Learned = &list
	return p, err
}

// MayShadow tells whether there is enough evidence to try the rule in shadow mode.
func (r learnedRow) MayShadow() bool {
	return r.Stage.Carries(project.Shadow) && r.Mode != project.Shadow
}

// MayOn tells whether there is enough evidence to turn the rule on.
func (r learnedRow) MayOn() bool { return r.Stage.Carries(project.On) && r.Mode != project.On }
