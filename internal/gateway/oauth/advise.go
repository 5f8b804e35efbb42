package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Proposed is the configuration of a server for which there is none yet. Each person signs in themselves: nobody's
// account is used by others unless somebody has chosen that.
func Proposed(cfg config.Server) config.Server {
	cfg.OAuth = &config.OAuth{As: config.AsUser}
	return cfg
}

// Advise says what is missing for a server that has refused a request because it wants a token: which lines, and what
// to do then. It finds out how the authorization server knows its clients. It is ready if what is proposed is all.
func Advise(ctx context.Context, cfg config.Server, refusal http.Header, document, redirect string) (needs *fault.Error, ready bool) {
	needs = fault.New(fault.LoginRequired, "server %s needs sign-in: it takes OAuth tokens and has none (HTTP 401)", cfg.ID)
	own := needs.WithHint(`if you have a token, add to %s: headers: {Authorization: "Bearer ${TOKEN}"}`, cfg.ID)
	cfg = Proposed(cfg)
	client, err := NewClient(&cfg)
	if err != nil {
		return own, false
	}
	found, err := client.Discover(ctx, refusal)
	switch {
	case err != nil && fault.As(err).Hint != "":
		return fault.As(err), false
	case err != nil || found.guessed:
		return own, false
	case found.TakesDocument(document) || found.Register != "":
		return needs.WithHint("add to %s: oauth: {as: %s}; then run: toolfit login %s", cfg.ID, cfg.OAuth.As, cfg.ID), true
	}
	needs = fault.New(fault.LoginRequired, "server %s needs sign-in: it takes OAuth tokens, and %s does not register clients by itself",
		cfg.ID, found.Issuer)
	return client.byHand(needs, redirect), false
}

// WantsSignIn asks a server without a token whether it wants one; nil: it does not, or cannot be asked.
func WantsSignIn(ctx context.Context, cfg config.Server, document, redirect string) (needs *fault.Error, ready bool) {
	proposed := Proposed(cfg)
	client, err := NewClient(&proposed)
	if err != nil {
		return nil, false
	}
	refusal, err := client.probe(ctx)
	if err != nil || !WantsToken(refusal) {
		return nil, false
	}
	return Advise(ctx, cfg, refusal, document, redirect)
}

// NeedsLogin is the error of a server that somebody has to sign in to first.
func NeedsLogin(id tool.ServerID, why string) *fault.Error {
	err := fault.New(fault.LoginRequired, "server %s needs sign-in", id)
	if why != "" {
		err = fault.New(fault.LoginRequired, "server %s needs sign-in: %s", id, why)
	}
	return err.WithHint("run: toolfit login %s", id)
}

// Lend returns the token that a gateway would list a server with, without renewing it; "": it has expired, and can be
// renewed. None is a fault.LoginRequired.
func Lend(ctx context.Context, st *store.Store, cfg config.Server, now time.Time) (token string, err error) {
	client, err := NewClient(&cfg)
	if err != nil {
		return "", err
	}
	owner := ""
	if cfg.OAuth.As == config.AsUser {
		if owner, err = st.FirstConnected(ctx, cfg.ID); err != nil {
			return "", err
		}
	}
	row, err := st.Connection(ctx, cfg.ID, owner)
	var g grant
	switch {
	case fault.Is(err, fault.NotFound):
		return "", NeedsLogin(cfg.ID, "")
	case err != nil:
		return "", err
	case json.Unmarshal(row.Grant, &g) != nil:
		return "", NeedsLogin(cfg.ID, "the connection is stored damaged")
	case row.State == store.NeedsLogin:
		return "", NeedsLogin(cfg.ID, row.Reason)
	}
	if why := client.outdates(&g); why != "" {
		return "", NeedsLogin(cfg.ID, why)
	}
	if !g.Token.holds(now) {
		return "", nil
	}
	return g.Token.Access, nil
}
