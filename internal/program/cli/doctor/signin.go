package doctor

import (
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// lent is the token that a gateway would list a server with, or why there is none.
type lent struct {
	token string
	err   error
}

// tokens returns those that the gateway would list servers with. None is renewed: the doctor changes nothing.
func (d *doctor) tokens(ctx context.Context, cfg *config.Config, added []config.Added, st *store.Store) map[tool.ServerID]lent {
	found := map[tool.ServerID]lent{}
	servers := slices.Clone(cfg.Servers)
	for _, s := range added {
		servers = append(servers, s.Server)
	}
	for _, s := range servers {
		if s.OAuth != nil {
			token, err := oauth.Lend(ctx, st, s, d.Now())
			found[s.ID] = lent{token, err}
		}
	}
	return found
}

// signedIn is the server as it can be listed with a token that somebody has already; else it says why it is not.
func (d *doctor) signedIn(s config.Server, found stored) (config.Server, *Finding) {
	if s.OAuth == nil || s.Disabled || s.OAuth.As != config.AsUser && s.OAuth.As != config.AsGateway {
		return s, nil
	}
	if key, err := app.SecretKey(d.Lookup); err == nil && key.IsZero() {
		return s, &Finding{Status: Problem, Message: store.ErrNoKey.Message, Hint: store.ErrNoKey.Hint}
	}
	has, known := found.tokens[s.ID]
	if !known { // the store is not there yet
		has.err = oauth.NeedsLogin(s.ID, "")
	}
	if has.err != nil {
		f := fault.As(has.err)
		return s, &Finding{Status: warning, Message: f.Message, Hint: f.Hint}
	}
	if has.token == "" {
		return s, &Finding{Status: good, Message: "somebody has signed in; the token has expired and is renewed at the next call"}
	}
	headers := map[string]string{}
	for name, value := range s.Headers {
		headers[name] = value
	}
	headers["Authorization"] = "Bearer " + has.token
	s.Headers = headers
	s.OAuth = nil
	return s, nil
}
