package identity

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// introspect asks the providers that can be asked what an opaque token means.
func (v *Verifier) introspect(ctx context.Context, token string, r *Report) (*Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	err := failed("form", "it is not a JWT, and no provider in identity has introspect")
	if strings.Count(token, ".") == 4 {
		err = failed("form", "it is encrypted (a JWE), so that only its provider can read it; ask the provider for a token for this resource")
	}
	for _, i := range v.issuers {
		if i.cfg.Introspect == nil {
			continue
		}
		var c claims
		c, err = i.ask(ctx, token)
		if err != nil {
			return nil, err
		}
		if string(c["active"]) != "true" {
			err = failed("active", "%s says that it is not active", i.cfg.Issuer)
			continue
		}
		if iss := c.text("iss"); iss != "" && iss != i.cfg.Issuer {
			return nil, failed("issuer", "%.200q, but %s was asked", iss, i.cfg.Issuer)
		}
		r.passed("active", "says %s", i.cfg.Issuer)
		id, err := i.identify(c, v.now(), r)
		if id != nil {
			id.opaque = true
		}
		return id, err
	}
	return nil, err
}

// maxAsks is how many tokens a provider is asked about at once: strangers can make up as many as they like.
const maxAsks = 16

func (i *issuer) ask(ctx context.Context, token string) (claims, error) {
	select {
	case i.asks <- struct{}{}:
		defer func() { <-i.asks }()
	case <-ctx.Done():
		return nil, i.away("asked about too many tokens at once: %w", ctx.Err())
	}
	at := i.cfg.Introspect
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(at.ClientID), url.QueryEscape(at.ClientSecret))
	raw, _, err := i.do(req)
	var c claims
	switch {
	case err != nil:
	case len(raw) > maxClaims:
		return nil, failed("size", "what %s says about it is longer than %d bytes", i.cfg.Issuer, maxClaims)
	default:
		err = readJSON(raw, &c)
	}
	if err != nil {
		return nil, i.away("asked about a token: %w", fault.Plain(err))
	}
	return c, nil
}
