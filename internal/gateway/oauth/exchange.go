package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
)

// IDToken names what is kept of a person's sign-in on a page, among what they have given.
const IDToken = "id_token"

// SignedIn is what is kept of a sign-in on a page.
type SignedIn struct {
	Issuer string `json:"issuer"`
	Token  string `json:"token"`
}

// exchanged gets tokens in exchange for those that callers send us.
func (c *Connections) exchanged(client *Client) func(context.Context, string) (*Token, error) {
	return func(ctx context.Context, caller string) (*Token, error) {
		sent := access.SentWith(ctx)
		switch {
		case !strings.HasPrefix(caller, identity.IDPrefix):
			return nil, fault.New(fault.LoginRequired,
				"server %s takes tokens that an identity provider gives in exchange for the caller's, and a key cannot be exchanged", client.id).
				WithHint("sign in at the identity provider instead of sending a key").Unsent()
		case sent.Text == "" || sent.Owner != caller:
			return nil, fault.New(fault.LoginRequired,
				"server %s needs a token in exchange for yours, and there is none with this call: it goes on without your request, "+
					"or you signed in at this gateway", client.id).
				WithHint("call again, with a token of the identity provider itself").Unsent()
		case c.opts.Vague(&client.cfg): // a server that was added later; the file is checked when it is read
			return nil, fault.New(fault.BadConfig, "server %s does not say which identity provider knows its client", client.id).
				WithHint("there are several: add issuer to oauth of %s", client.id).Unsent()
		case client.cfg.Issuer != "" && client.cfg.Issuer != sent.Issuer:
			return nil, fault.New(fault.LoginRequired, "server %s takes callers of %s only, and your token is from %s",
				client.id, client.cfg.Issuer, sent.Issuer).Unsent()
		}
		at, err := c.opts.Provider(ctx, sent.Issuer)
		if err != nil {
			return nil, err
		}
		found := &Found{Issuer: at.Issuer, Token: at.TokenEndpoint, Methods: at.Methods, Scopes: client.cfg.Scopes}
		there := client.via(at)
		token, err := there.Exchange(ctx, found, client.Pinned(found), sent.Text)
		return token, client.notGiven(at.Issuer, err)
	}
}

// via is the client that talks to an identity provider.
func (c *Client) via(at *identity.Provider) *Client {
	there := *c
	there.http = at.HTTP
	return &there
}

// notGiven is the error of an identity or authorization server that gave no token; nil for nil.
func (c *Client) notGiven(issuer string, err error) error {
	var refused *RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Passes():
		return fault.New(fault.UpstreamDown, "%s was asked for a token for %s: %w", issuer, c.id, fault.Plain(err)).WithHint("try again later")
	case errors.As(err, &refused):
		return fault.New(fault.LoginRequired, "%s gave no token for %s: %w", issuer, c.id, err).
			WithHint("sign in again; if that does not help, an administrator has to allow it there for the clientId of %s", c.id)
	}
	return err
}

// Exchange gets a token for the server in place of the one that a caller has sent to us (RFC 8693). It is asked
// for at the issuer of that one, and nowhere else.
func (c *Client) Exchange(ctx context.Context, f *Found, r *Registration, callers string) (*Token, error) {
	form := url.Values{
		"grant_type": {exchangeGrant}, "subject_token": {callers}, "subject_token_type": {accessType}, "requested_token_type": {accessType},
	}
	switch target := c.cfg.Resource; {
	case target == config.OmitResource:
	case target == "":
		form.Set("resource", c.url.String())
	case strings.Contains(target, "://"):
		form.Set("resource", target)
	default:
		form.Set("audience", target) // a name, as providers have them that know no addresses
	}
	if len(f.Scopes) > 0 {
		form.Set("scope", strings.Join(f.Scopes, " "))
	}
	return c.ask(ctx, f, r, form)
}

// asserted gets tokens for people for whom the identity provider vouches, by the ID token of their sign-in on a page.
func (c *Connections) asserted(client *Client) func(context.Context, string) (*Token, error) {
	var mu sync.Mutex
	var known *Found
	discover := func(ctx context.Context) (*Found, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		header, err := client.probe(ctx)
		if err != nil {
			return nil, err
		}
		known, err = client.Discover(ctx, header)
		return known, err
	}
	return func(ctx context.Context, caller string) (*Token, error) {
		kept, err := c.opts.Store.Personal(ctx, caller, IDToken)
		if fault.Is(err, fault.NotFound) {
			return nil, fault.New(fault.LoginRequired,
				"server %s needs what the identity provider says when you sign in on a page; you have not, or it has expired", client.id).
				WithHint("sign in at %s, if need be after you have signed out", c.opts.Page(client.id)).Unsent()
		}
		var said SignedIn
		if err == nil {
			err = json.Unmarshal(kept.Data, &said)
		}
		if err != nil {
			return nil, err
		}
		found, err := discover(ctx)
		if err != nil {
			return nil, err
		}
		at, err := c.opts.Provider(ctx, said.Issuer)
		if err != nil {
			return nil, err
		}
		jag, err := client.vouch(ctx, at, found, said.Token)
		if err != nil {
			return nil, client.notGiven(at.Issuer, err)
		}
		c.opts.Tokens(jag)
		form := url.Values{"grant_type": {assertionGrant}, "assertion": {jag}}
		if len(found.Scopes) > 0 {
			form.Set("scope", strings.Join(found.Scopes, " "))
		}
		token, err := client.ask(ctx, found, client.Pinned(found), form)
		if err != nil {
			mu.Lock()
			known = nil // it may have moved
			mu.Unlock()
		}
		return token, client.notGiven(found.Issuer, err)
	}
}

// vouch asks the identity provider for what it says about a person to the server's authorization server (ID-JAG).
func (c *Client) vouch(ctx context.Context, at *identity.Provider, f *Found, idToken string) (string, error) {
	r := &Registration{ClientID: at.ClientID, Secret: at.ClientSecret, Method: methodNone}
	switch inHeader := len(at.Methods) == 0 || slices.Contains(at.Methods, methodBasic); {
	case r.Secret == "":
	case inHeader:
		r.Method = methodBasic
	default:
		r.Method = methodPost
	}
	form := url.Values{
		"grant_type": {exchangeGrant}, "requested_token_type": {idJAGType}, "audience": {f.Issuer},
		"subject_token": {idToken}, "subject_token_type": {idType},
	}
	if len(f.Scopes) > 0 {
		form.Set("scope", strings.Join(f.Scopes, " "))
	}
	t, err := c.via(at).askFor(ctx, &Found{Issuer: at.Issuer, Token: at.TokenEndpoint, Resource: f.Resource}, r, form, noAccess)
	if err != nil {
		return "", err
	}
	return t.Access, nil
}
