package restapi

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Trial is what a model would get of a stored result by a rule that is not active.
type Trial struct {
	Outcome project.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"` // with projection_failed: why
	Holds   bool            `json:"holds"`            // the rule is for calls like this one
	Unseen  []string        `json:"unseen,omitempty"` // names in the mask that the result does not have
	Tokens  TokenCount      `json:"tokens"`
	Result  json.RawMessage `json:"result"`
}

// tryFor limits how long a rule may run: a jq program may never end.
const tryFor = 2 * time.Second

func (a *API) tryRule(q *request) (any, error) {
	kept, err := a.StoredResult(q.Context(), q.who, q.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	return a.TryRule(q.Context(), q.who, kept, q.body)
}

// TryRule applies the rule that the JSON text describes to a result, and changes nothing. jq runs
// in this process, so it is for administrators.
func (a *API) TryRule(ctx context.Context, who access.Principal, kept Result, text []byte) (Trial, error) {
	rule, err := config.ParseRule(text, a.Config().Profiles)
	if err != nil {
		return Trial{}, err
	}
	if rule.JQ != "" && !who.MayAdmin() {
		return Trial{}, fault.New(fault.Forbidden, "%s may not run jq programs", who.Name).WithHint("use keep or drop")
	}
	inner, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	tried, err := a.Caller.Try(inner, store.Result{Ref: kept.Ref, Tool: tool.Name(kept.Tool), Profile: kept.Profile, Args: kept.Arguments,
		Body: kept.Result}, rule)
	if err != nil {
		return Trial{}, err
	}
	out := Trial{
		Outcome: tried.Outcome, Holds: tried.Holds, Unseen: tried.Unseen, Result: tried.Shown,
		Tokens: TokenCount{tokens.Estimated, tried.Full, project.Tokens(tried.Shown)},
	}
	if tried.Err != nil {
		out.Reason = tried.Err.Error()
	}
	return out, nil
}
