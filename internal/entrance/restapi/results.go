package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Result is a stored result, in full.
type Result struct {
	Ref       string          `json:"ref"`
	Call      string          `json:"call"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Profile   string          `json:"profile"`
	Session   string          `json:"session,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	At        time.Time       `json:"at"`
	Expires   time.Time       `json:"expires,omitzero"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // as the tool got them; not for callers
	Result    json.RawMessage `json:"result"`
	Tokens    *TokenCount     `json:"tokens,omitempty"` // where a count was asked for
}

// TokenCount is what a result costs.
type TokenCount struct {
	Count tokens.Label `json:"count"` // how tokens were counted
	Full  int          `json:"full"`  // of the result as the server gave it
	Sent  int          `json:"sent"`  // of what a model gets of it by the rules in force now
}

func (a *API) result(q *request) (any, error) {
	count, err := parseCount(q.query.Get("count"), "")
	if err != nil {
		return nil, err
	}
	kept, err := a.keptResult(q.Context(), q.who, q.PathValue("ref"))
	if err != nil {
		return nil, err
	}
	out := showResult(kept, q.who)
	if count != "" {
		out.Tokens, err = a.count(q.Context(), kept, count)
	}
	return out, err
}

// ReadResult returns a stored result, and what a model gets of it by the current rules.
func (a *API) ReadResult(ctx context.Context, who access.Principal, refOrCall string) (full Result, shown json.RawMessage, err error) {
	kept, err := a.keptResult(ctx, who, refOrCall)
	if err != nil {
		return Result{}, nil, err
	}
	shown, err = a.Caller.Shown(ctx, kept)
	return showResult(kept, who), shown, err
}

func showResult(kept store.Result, who access.Principal) Result {
	if !who.MayRead() {
		kept.Args = nil // they may have values that are bound here
	}
	return Result{
		Ref: kept.Ref, Call: kept.Call, Server: string(kept.Server), Tool: string(kept.Tool), Profile: kept.Profile, Session: kept.Session,
		Rule: kept.Rule, At: kept.At, Expires: kept.Expires, Arguments: kept.Args, Result: kept.Body,
	}
}

// keptResult finds a stored result among those that the caller may see.
func (a *API) keptResult(ctx context.Context, who access.Principal, refOrCall string) (store.Result, error) {
	if who.MayRead() {
		return a.Store.FindResult(ctx, refOrCall)
	}
	kept, err := a.Store.Result(ctx, who.ID, refOrCall)
	if !fault.Is(err, fault.NotFound) {
		return kept, err
	}
	own, listErr := a.Store.Results(ctx, store.ResultFilter{Owner: who.ID, Call: refOrCall, Limit: 1})
	if listErr != nil {
		return store.Result{}, listErr
	}
	if len(own) == 0 {
		return store.Result{}, err
	}
	return own[0], own[0].Err
}

// parseCount reads how to count tokens.
func parseCount(text string, usual tokens.Label) (tokens.Label, error) {
	switch label := tokens.Label(text); label {
	case "":
		return usual, nil
	case tokens.O200k, tokens.Estimated:
		return label, nil
	}
	return "", fault.New(fault.BadRequest, "tokens are not counted by %.40q", text).WithHint("use %s or %s", tokens.O200k, tokens.Estimated)
}

// maxExact limits exact counting: it takes about a second per megabyte.
const maxExact = 8 << 20

// count counts the tokens of a stored result.
func (a *API) count(ctx context.Context, kept store.Result, label tokens.Label) (*TokenCount, error) {
	shown, err := a.Caller.Shown(ctx, kept)
	if err != nil {
		return nil, fmt.Errorf("project %s: %w", kept.Ref, err)
	}
	if label == tokens.Estimated {
		return &TokenCount{label, project.Tokens(kept.Body), project.Tokens(shown)}, nil
	}
	if len(kept.Body)+len(shown) > maxExact {
		return nil, fault.New(fault.TooLarge, "the result is too long to be counted exactly: more than %d MB", maxExact>>20).
			WithHint("use count=%s", tokens.Estimated)
	}
	return &TokenCount{label, project.CountTokens(kept.Body, tokens.Count), project.CountTokens(shown, tokens.Count)}, nil
}
