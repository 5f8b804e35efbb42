package call

import (
	"context"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Trial is what a model would get of a stored result under a rule that is being tried.
type Trial struct {
	Shown   []byte
	Outcome project.Outcome
	Err     error    // the reason for project.Failed
	Unseen  []string // names in the mask that the result does not have
	Holds   bool     // the rule is for the tool, the profile and the arguments of the call
	Full    int      // tokens of the full result
}

// Try applies a rule to a stored result, whether it matches such calls or not. Nothing is counted. The rule must compile.
func (c *Caller) Try(ctx context.Context, r store.Result, rule project.Rule) (Trial, error) {
	view, err := c.tools.View(r.Profile)
	if err != nil {
		return Trial{}, err
	}
	rule.Mode = project.On
	asWritten, problems := project.Compile([]project.Rule{rule})
	if len(problems) > 0 {
		return Trial{}, problems[0]
	}
	out := Trial{Holds: asWritten.Choose(r.Tool, r.Profile, r.Args).On != nil}
	rule.Tool = string(r.Tool)
	rule.When = nil
	rule.Profile = ""
	forAll, problems := project.Compile([]project.Rule{rule})
	if len(problems) > 0 {
		return Trial{}, problems[0]
	}
	res := &view.Results
	how := forAll.Choose(r.Tool, r.Profile, r.Args).On.How(res.How)
	cut := project.Plan(ctx, cleaned(res, r.Body), how)
	defer cut.Release()
	out.Shown = cut.Apply(r.Ref)
	out.Outcome = cut.Outcome
	out.Err = cut.Err
	out.Unseen = cut.Unseen
	if out.Full = cut.Full(); res.Cleaner != nil {
		out.Full = project.Tokens(r.Body)
	}
	return out, nil
}
