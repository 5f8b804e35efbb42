package call

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
)

// Explanation is what would be decided about a call, and why.
type Explanation struct {
	Profile  string
	Who      policy.Who
	Tool     policy.Tool
	Own      bool            // it is our own tool, about which nothing is decided
	Args     json.RawMessage // as the server would get them; nil: not known
	Fitted   fit.Result
	Refused  *fault.Error // why the arguments would be refused; nil: they would not
	Decision policy.Decision
	Rules    []policy.Explained
}

// Explain says what would be decided about a call. Arguments that are absent are not known yet, as in lists. Nothing is sent.
func (c *Caller) Explain(ctx context.Context, req Request) (Explanation, error) {
	s, err := c.resolve(ctx, &req)
	if err != nil {
		return Explanation{}, err
	}
	out := Explanation{Profile: req.Profile, Who: catalog.Caller(req.Principal), Tool: s.entry.PolicyTool(), Own: s.entry.Own}
	if s.args != nil {
		err := s.takePage()
		if err == nil {
			out.Fitted, err = s.view.Fit(ctx, s.entry, s.dialect, s.args)
		}
		if err != nil {
			out.Refused = fault.As(err)
		} else {
			out.Args = out.Fitted.Args
		}
	}
	if out.Own {
		out.Decision.Verdict = policy.Allow
		return out, nil
	}
	set, about := s.view.Policy(req.Principal, out.Tool, out.Args, c.opts.Now())
	out.Decision, out.Rules = set.Explain(about)
	return out, nil
}

// Told is what the caller of such a call would be told; "": nothing, it is made.
func Told(d *policy.Decision, t policy.Tool) string {
	switch {
	case d.Verdict == policy.Deny:
		return fault.As(Denied(d, t)).Message
	case d.Verdict != policy.Approve:
		return ""
	case d.Rule.Say != "":
		return d.Rule.Say
	}
	return string(t.Name) + " needs a person's approval"
}
