package console

import (
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Suggestions are rules that recorded calls speak for.
type Suggestions interface {
	Suggest(ctx context.Context, who access.Principal, in restapi.SuggestQuery) (restapi.SuggestionList, error)
}

// learned is what the record speaks for.
type learned struct {
	restapi.SuggestionList
	Looked bool // false: nobody has asked yet, because it takes a while
	Rows   []learnedRow
}

// learnedRow is a proposal, and what a click on it stores.
type learnedRow struct {
	restapi.Suggestion
	ID     string
	When   string // JSON; "": all calls
	Mode   project.Mode
	Share  string
	Fields []restapi.SuggestedPath // the largest first
}

// maxLearned is how many fields of a proposal are explained.
const maxLearned = 40

// suggestions looks at all recorded calls, but only when it is asked to.
func (c *Console) suggestions(v *visit) (answer, error) {
	list := learned{Looked: v.URL.Query().Has("look")}
	if list.Looked {
		var err error
		if list.SuggestionList, err = c.Gateway.Suggest(v.Context(), v.who, restapi.SuggestQuery{}); err != nil {
			return answer{}, err
		}
	}
	rules, err := c.Gateway.ListRules(v.who)
	if err != nil {
		return answer{}, err
	}
	for _, s := range list.SuggestionList.Suggestions {
		row := learnedRow{Suggestion: s, ID: s.RuleID(), Share: share(s.Saved)}
		if len(s.When) > 0 {
			row.When = compact(s.When)
		}
		if at := slices.IndexFunc(rules, func(r restapi.Rule) bool { return r.ID == row.ID && r.Source == restapi.FromStore }); at >= 0 {
			row.Mode = rules[at].Mode
		}
		row.Fields = slices.Clone(s.Fields)
		slices.SortStableFunc(row.Fields, func(a, b restapi.SuggestedPath) int { return int(1e6*b.Share) - int(1e6*a.Share) })
		row.Fields = row.Fields[:min(maxLearned, len(row.Fields))]
		list.Rows = append(list.Rows, row)
	}
	p := resultsTab(v, "suggestions")
	p.Learned = &list
	return show("results", p)
}

// MayShadow tells whether the record carries the rule in shadow.
func (r learnedRow) MayShadow() bool {
	return r.Stage.Carries(project.Shadow) && r.Mode != project.Shadow
}

// MayOn tells whether it carries the rule in force.
func (r learnedRow) MayOn() bool { return r.Stage.Carries(project.On) && r.Mode != project.On }
