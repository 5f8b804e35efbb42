package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Credentials are those of a server: its headers of the configuration, and a token.
func (c *Connections) Credentials(cfg config.Server) (httpapi.Credentials, error) {
	shared, own := cfg.SplitHeaders()
	cfg.Headers = shared
	inner, err := c.shared(cfg)
	if err != nil || len(own) == 0 {
		return inner, err
	}
	return &personal{inner: inner, connections: c, server: cfg.ID, headers: own, held: map[string]given{}}, nil
}

// shared are the credentials without what people have given.
func (c *Connections) shared(cfg config.Server) (httpapi.Credentials, error) {
	if cfg.OAuth == nil {
		return httpapi.Static(cfg.Headers), nil
	}
	client, err := NewClient(&cfg)
	if err != nil {
		return nil, err
	}
	c.Changed(cfg.ID) // its settings may be others
	switch cfg.OAuth.As {
	case config.AsClient:
		return &own{connections: c, client: client}, nil
	case config.AsExchange:
		return c.newAsked(client, c.exchanged(client)), nil
	case config.AsAssertion:
		a := c.newAsked(client, c.asserted(client))
		a.first = func(ctx context.Context) string { return c.opts.Store.NewestOwner(ctx, IDToken) }
		return a, nil
	}
	return &signed{c, client}, nil
}

// signed are the credentials of people, or of the gateway, who have signed in.
type signed struct {
	connections *Connections
	client      *Client
}

func (s *signed) Header(ctx context.Context, caller string) (*http.Header, error) {
	o, err := s.owned(ctx, caller)
	if err != nil {
		return nil, err
	}
	header, err := s.connections.header(ctx, s.client, o)
	if fault.Is(err, fault.LoginRequired) && caller == "" {
		if next, failed := s.owned(ctx, caller); failed == nil && next != o { // somebody else may still be signed in
			return s.connections.header(ctx, s.client, next)
		}
	}
	return header, err
}

func (s *signed) Refused(ctx context.Context, caller string, sent *http.Header, challenge http.Header) bool {
	o, err := s.owned(ctx, caller)
	if err != nil {
		return false
	}
	if s.connections.refused(ctx, s.client, o, sent) {
		return true
	}
	next, err := s.owned(ctx, caller)
	return err == nil && next != o && next.owner != ""
}

func (s *signed) Rejected(ctx context.Context, caller string, _ *http.Header, status int, challenge http.Header) error {
	o, err := s.owned(ctx, caller)
	switch {
	case err != nil:
		return err
	case status == http.StatusForbidden:
		return s.connections.widen(ctx, s.client, o, challenge)
	}
	return s.connections.rejected(ctx, s.client, o)
}

// owned is the connection of a caller. Where people have their own, the gateway itself has none, and lists with one of
// theirs.
func (s *signed) owned(ctx context.Context, caller string) (owned, error) {
	o := owned{s.client.id, ownerOf(&s.client.cfg, caller)}
	if caller != "" || s.client.cfg.As != config.AsUser {
		return o, nil
	}
	owner, err := s.connections.opts.Store.FirstConnected(ctx, s.client.id)
	if err != nil {
		return o, err
	}
	o.owner = owner
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	s.connections.lists[s.client.id] = owner
	return o, nil
}

// own is a token of the gateway itself, by client credentials. Nothing of it is stored: each gateway asks for its own.
type own struct {
	connections *Connections
	client      *Client

	mu      sync.Mutex
	found   *Found
	token   *Token
	header  *http.Header
	failed  error
	retryAt time.Time
}

func (o *own) Header(ctx context.Context, _ string) (*http.Header, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.connections.opts.Now()
	if o.token == nil || o.token.due(now) {
		if now.Before(o.retryAt) {
			return nil, o.failed
		}
		if err := o.get(ctx); err != nil {
			o.failed = err
			o.retryAt = now.Add(firstWait)
			return nil, err
		}
	}
	return o.header, nil
}

func (o *own) get(ctx context.Context) error {
	if o.found == nil {
		header, err := o.client.probe(ctx)
		if err != nil {
			return err
		}
		if o.found, err = o.client.Discover(ctx, header); err != nil {
			return err
		}
	}
	token, err := o.client.Own(ctx, o.found, o.client.Pinned(o.found))
	var refused *RefusedError
	switch {
	case errors.As(err, &refused) && refused.Passes():
		return o.client.away(o.found, "asked for a token", err)
	case err != nil:
		o.found = nil // it may have moved
		return o.client.unusable("its authorization server gave no token: %v", err).
			WithHint("check clientId, clientSecret and scopes of oauth of %s", o.client.id)
	}
	o.token = token
	o.connections.opts.Tokens(token.Access)
	o.header = o.client.header(token)
	return nil
}

func (o *own) Rejected(_ context.Context, _ string, _ *http.Header, status int, challenge http.Header) error {
	if status == http.StatusForbidden && len(missing(challenge)) == 0 {
		return nil
	}
	return o.client.unusable("it refuses the token of its client (HTTP %d)", status).
		WithHint("check clientId and scopes of oauth of %s", o.client.id)
}

func (o *own) Refused(_ context.Context, _ string, sent *http.Header, _ http.Header) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.token == nil || o.connections.opts.Now().Sub(o.token.Issued) < firstWait { // a fresh one does not help either
		return false
	}
	o.token = nil
	return true
}
