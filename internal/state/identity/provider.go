package identity

import (
	"context"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Provider is where a configured identity provider exchanges tokens, and as whom we sign people in there.
type Provider struct {
	Issuer, TokenEndpoint  string
	Methods                []string // how clients authenticate; none: it does not say
	ClientID, ClientSecret string   // "": nobody signs in there on a page
	HTTP                   *http.Client
}

// Provider finds a configured provider. What is sent to it goes nowhere else: its client follows no redirect.
func (v *Verifier) Provider(ctx context.Context, name string) (*Provider, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	i := v.issuer(name)
	if i == nil {
		return nil, fault.New(fault.LoginRequired, "%.200q is not an identity provider of this gateway any more", name)
	}
	m, err := i.discover(ctx)
	if err != nil {
		return nil, err
	}
	if !i.acceptable(m.TokenEndpoint) {
		return nil, i.away("its token_endpoint %.200q is not an address with https", m.TokenEndpoint)
	}
	p := &Provider{Issuer: i.cfg.Issuer, TokenEndpoint: m.TokenEndpoint, Methods: m.TokenAuthMethods, HTTP: i.http}
	if i.cfg.Login != nil {
		p.ClientID = i.cfg.Login.ClientID
		p.ClientSecret = i.cfg.Login.ClientSecret
	}
	return p, nil
}
