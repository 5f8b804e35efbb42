package restapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/project"
	"github.com/toolfit/toolfit/internal/tokens"
)

// Trial is what a model would get of a kept result by a rule that is not in force.
type Trial struct {
	Outcome project.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"` // with projection_failed: why
	Holds   bool            `json:"holds"`            // the rule is for calls like this one
	Unseen  []string        `json:"unseen,omitempty"` // names in the mask that the result does not have
	Tokens  TokenCount      `json:"tokens"`
	Result  json.RawMessage `json:"result"`
}

// tryFor bounds how long a rule may take on one result: a jq program need not end.
const tryFor = 2 * time.Second

func (a *API) tryRule(r *http.Request, who access.Principal) (any, error) {
	text, err := a.body(r)
	if err != nil {
		return nil, err
	}
	return a.TryRule(r.Context(), who, r.PathValue("ref"), text)
}

// TryRule applies the rule that the JSON text describes to a kept result, and changes nothing.
// It is for those who may read the result; a jq program is for administrators alone, because
// it runs in this process.
func (a *API) TryRule(ctx context.Context, who access.Principal, ref string, text []byte) (Trial, error) {
	kept, err := a.keptResult(ctx, who, ref)
	if err != nil {
		return Trial{}, err
	}
	rule, err := config.ParseRule(text, a.Config().Profiles)
	if err != nil {
		return Trial{}, err
	}
	if rule.JQ != "" && !who.MayAdmin() {
		return Trial{}, fault.New(fault.Forbidden, "%s may not run jq programs", who.Name).WithHint("use keep or drop")
	}
	inner, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	tried, err := a.Caller.Try(inner, kept, rule)
	if err != nil {
		return Trial{}, err
	}
	out := Trial{
		Outcome: tried.Outcome, Holds: tried.Holds, Unseen: tried.Unseen, Result: tried.Shown,
		Tokens: TokenCount{tokens.Estimated, tokens.Estimate([]byte(kept.Body)), tokens.Estimate(tried.Shown)},
	}
	if tried.Err != nil {
		out.Reason = tried.Err.Error()
	}
	return out, nil
}
