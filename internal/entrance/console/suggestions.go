package console

import (
	"cmp"
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Suggestions suggests rules, based on recorded calls, and stores those that a person accepts.
type Suggestions interface {
	Suggest(ctx context.Context, who access.Principal, in restapi.SuggestQuery) (restapi.SuggestionList, error)
	AcceptRule(ctx context.Context, who access.Principal, id string, rule []byte) error
	UndoRule(ctx context.Context, who access.Principal, id string) error
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

// learnedRow is a suggestion, and why it is made.
type learnedRow struct {
	restapi.Suggestion
	State  learnedState
	Keeps  string
	Kept   int                     // how many of its fields the rule keeps
	Unused string                  // share of the bytes that it leaves out
	Parts  []restapi.SuggestedPath // the largest first
}

// learnedState is where a suggestion stands: the rule that a click stores, and the one that is stored under its id.
type learnedState struct {
	ID, Tool, Keep string
	When           string // JSON; "": all calls
	Stage          suggest.Stage
	Stored         *restapi.Rule // nil: none
	May            bool          // change it
	Fresh          bool          // it has just been changed
}

// MayShadow tells whether the rule may be tried in shadow mode: there is enough evidence, or it is more than that already.
func (s *learnedState) MayShadow() bool { return s.offers(project.Shadow) }

// MayOn tells whether there is enough evidence to turn the rule on.
func (s *learnedState) MayOn() bool { return s.offers(project.On) }

func (s *learnedState) offers(mode project.Mode) bool {
	return s.May && s.Stage.Carries(mode) && (s.Stored == nil || s.Stored.Mode != mode || s.Differs())
}

// Differs tells whether the stored rule is another one than the suggested.
func (s *learnedState) Differs() bool { return s.Stored != nil && s.Stored.Keep != s.Keep }

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
		row := rowOfSuggestion(s)
		row.State.meet(v, rules)
		list.Rows = append(list.Rows, row)
	}
	slices.SortStableFunc(list.Rows, func(a, b learnedRow) int { // what can be accepted, and saves most
		return cmp.Or(b.rank()-a.rank(), cmp.Compare(b.TokensFull-b.TokensSent, a.TokensFull-a.TokensSent))
	})
	for _, n := range list.SuggestionList.None {
		list.Nothing = append(list.Nothing, learnedNone{n, compact(n.When)})
	}
	p := resultsTab(v, "suggestions")
	p.Learned = &list
	return p, err
}

func rowOfSuggestion(s restapi.Suggestion) learnedRow {
	row := learnedRow{Suggestion: s, Keeps: share(min(1, 1-s.Saved))}
	row.State = learnedState{ID: s.RuleID(), Tool: string(s.Tool), Keep: s.Keep, When: compact(s.When), Stage: s.Stage}
	unused := 0.0
	for _, f := range s.Fields {
		if f.Kept {
			row.Kept++
		} else {
			unused += f.Share
		}
	}
	row.Unused = share(min(1, unused))
	row.Parts = slices.Clone(s.Fields)
	slices.SortStableFunc(row.Parts, func(a, b restapi.SuggestedPath) int { return cmp.Compare(b.Share, a.Share) })
	row.Parts = row.Parts[:min(len(row.Parts), maxLearned)]
	return row
}

// rank is how far the evidence for a suggestion goes.
func (r *learnedRow) rank() int {
	switch {
	case r.Stage.Carries(project.On):
		return 2
	case r.Stage.Carries(project.Shadow):
		return 1
	}
	return 0
}

// meet finds the rule that is stored under the suggestion's id.
func (s *learnedState) meet(v *visit, rules []restapi.Rule) {
	s.May = v.who.MayAdmin()
	if at := slices.IndexFunc(rules, func(r restapi.Rule) bool { return r.ID == s.ID && r.Source == restapi.FromStore }); at >= 0 {
		s.Stored = &rules[at]
	}
}

// acceptSuggestion stores a suggested rule in a mode, or undoes that.
func (c *Console) acceptSuggestion(v *visit) (answer, error) {
	form := c.readForm(v)
	undo := form.Mode == "undo"
	var err error
	if undo {
		err = c.Suggestions.UndoRule(v.Context(), v.who, form.ID)
	} else {
		err = c.Suggestions.AcceptRule(v.Context(), v.who, form.ID, form.config())
	}
	if err != nil {
		return answer{}, err
	}
	to := "/results/suggestions?look=1"
	if v.PostForm.Get("from") == "rules" {
		to = "/results/rules"
	}
	switch {
	case v.Header.Get("HX-Request") != "":
	case undo:
		return done(to, "ruleUndone")
	default:
		return done(to, "ruleSaved")
	}
	state := learnedState{ID: form.ID, Tool: form.Tool, Keep: form.Expression, When: form.When, Stage: suggest.Stage(v.PostForm.Get("stage")), Fresh: true}
	rules, err := c.Rules.ListRules(v.who)
	state.meet(v, rules)
	return answer{page: "results", block: "learnedState", data: &state}, err
}

// samples are what a suggested rule makes of the newest results of its tool.
type samples struct {
	Rows  []sampleRow
	Fault *fault.Error // why there are none
}

type sampleRow struct {
	restapi.ResultHead
	preview
}

// How many results are looked at, how many of them are shown, and how much of each.
const (
	maxLooked   = 12
	maxSamples  = 3
	sampleTexts = 1
	sampleBytes = 4000
)

// trySuggestion tries a suggested rule on the newest stored results that it is for.
func (c *Console) trySuggestion(v *visit) (found samples, err error) {
	q := v.URL.Query()
	form := ruleForm{Tool: q.Get("tool"), When: q.Get("when"), Way: "keep", Expression: q.Get("keep")}
	list, err := c.Results.ListResults(v.Context(), v.who, restapi.ResultQuery{Tool: form.Tool, Limit: maxLooked})
	if err != nil {
		return found, err
	}
	for _, head := range list.Results {
		stored, err := c.Results.StoredResult(v.Context(), v.who, head.Ref)
		if fault.Is(err, fault.NotFound) { // it has expired
			continue
		}
		if err != nil {
			return found, err
		}
		row := sampleRow{head, c.preview(v, stored, form, sampleTexts, sampleBytes)}
		if row.preview.Fault != nil {
			found.Fault = row.preview.Fault
			return found, nil
		}
		if row.Holds {
			for i := range row.Texts {
				row.Texts[i].Label += " " + head.Ref // one of several on the page
			}
			found.Rows = append(found.Rows, row)
		}
		if len(found.Rows) == maxSamples {
			break
		}
	}
	return found, nil
}
