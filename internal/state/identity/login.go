package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Login is a sign-in that has begun. All of it is secret but Issuer and Redirect.
type Login struct{ Issuer, Redirect, State, Nonce, Verifier string }

// NewLogin begins a sign-in at a provider, which sends the browser back to redirect.
func NewLogin(issuer, redirect string) Login {
	return Login{Issuer: issuer, Redirect: redirect, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
}

// Logins are the providers at which people can sign in on a page, in the order of the configuration.
func (v *Verifier) Logins() []string {
	var all []string
	for _, i := range v.issuers {
		if i.cfg.Login != nil {
			all = append(all, i.cfg.Issuer)
		}
	}
	return all
}

// LoginName is what people call a provider: the configured name, else its host.
func (v *Verifier) LoginName(issuer string) string {
	if i := v.issuer(issuer); i != nil && i.cfg.Login != nil && i.cfg.Login.Name != "" {
		return i.cfg.Login.Name
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return issuer
	}
	return u.Host
}

// LoginURL is where the browser goes to sign in.
func (v *Verifier) LoginURL(ctx context.Context, l Login) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	i, err := v.loginIssuer(l)
	if err != nil {
		return "", err
	}
	client, err := i.oauth(ctx, l)
	if err != nil {
		return "", err
	}
	opts := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.Verifier)}
	if i.openID() {
		opts = append(opts, oauth2.SetAuthURLParam("nonce", l.Nonce))
	}
	return client.AuthCodeURL(l.State, opts...), nil
}

// FinishLogin returns who has signed in, from what the browser brings back from the provider. Whether they
// have rights here is not decided yet.
func (v *Verifier) FinishLogin(ctx context.Context, l Login, answer url.Values) (*Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	i, err := v.loginIssuer(l)
	if err != nil {
		return nil, err
	}
	if err := i.checkAnswer(ctx, l, answer); err != nil {
		return nil, err
	}
	token, err := i.exchange(ctx, l, answer.Get("code"))
	if err != nil {
		return nil, err
	}
	c := claims{}
	if i.openID() {
		if c, err = i.idToken(ctx, l, token); fault.Is(err, fault.UpstreamDown) {
			return nil, err
		} else if err != nil {
			return nil, i.notSignedIn("its ID token is not valid: %v", err)
		}
	}
	if err := i.addUserinfo(ctx, c, token); err != nil {
		return nil, err
	}
	id, err := i.signedIn(c)
	if err != nil {
		return nil, i.notSignedIn("%v", err)
	}
	if i.openID() {
		id.idToken, _ = token.Extra("id_token").(string)
		id.idUntil, err = c.time("exp")
	}
	return id, err
}

func (v *Verifier) loginIssuer(l Login) (*issuer, error) {
	i := v.issuer(l.Issuer)
	if i == nil || i.cfg.Login == nil {
		return nil, fault.New(fault.NotFound, "nobody can sign in at %.200q here", l.Issuer)
	}
	return i, nil
}

// openID tells whether an ID token is asked for, and thus needed.
func (i *issuer) openID() bool { return slices.Contains(i.loginScopes(), "openid") }

func (i *issuer) loginScopes() []string {
	if len(i.cfg.Login.Scopes) > 0 {
		return i.cfg.Login.Scopes
	}
	return []string{"openid", "profile", "email"}
}

// oauth is us as a client of the provider.
func (i *issuer) oauth(ctx context.Context, l Login) (*oauth2.Config, error) {
	m, err := i.discover(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case !i.acceptable(m.AuthorizationEndpoint) || strings.Contains(m.AuthorizationEndpoint, "#"):
		return nil, i.away("its authorization_endpoint %.200q is not an address with https", m.AuthorizationEndpoint)
	case !i.acceptable(m.TokenEndpoint):
		return nil, i.away("its token_endpoint %.200q is not an address with https", m.TokenEndpoint)
	}
	style := oauth2.AuthStyleInHeader // what holds where a provider says nothing
	methods := m.TokenAuthMethods
	inHeader := len(methods) == 0 || slices.Contains(methods, "client_secret_basic")
	if i.cfg.Login.ClientSecret == "" || !inHeader {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: i.cfg.Login.ClientID, ClientSecret: i.cfg.Login.ClientSecret, RedirectURL: l.Redirect, Scopes: i.loginScopes(),
		Endpoint: oauth2.Endpoint{AuthURL: m.AuthorizationEndpoint, TokenURL: m.TokenEndpoint, AuthStyle: style},
	}, nil
}

// notSignedIn is the error of a sign-in that came to nothing.
func (i *issuer) notSignedIn(why string, args ...any) error {
	return fault.New(fault.Unauthorized, "the sign-in at %s did not succeed: "+why, append([]any{i.cfg.Issuer}, args...)...).
		WithHint("sign in again; if that does not help, tell an administrator")
}

// errorCode is how providers spell their errors. Other text of theirs is not for people.
var errorCode = regexp.MustCompile(`^[a-z_]{1,60}$`)

func shownCode(code string) string {
	if errorCode.MatchString(code) {
		return code
	}
	return "no reason is known"
}

// checkAnswer checks that the answer is to this sign-in and from its provider (RFC 9207), before it reads
// anything else of it.
func (i *issuer) checkAnswer(ctx context.Context, l Login, answer url.Values) error {
	for _, name := range []string{"state", "iss", "code", "error"} {
		if len(answer[name]) > 1 {
			return fault.New(fault.BadRequest, "the answer of the identity provider has %s more than once", name)
		}
	}
	if l.State == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(l.State)) != 1 {
		return fault.New(fault.BadRequest, "this is not the answer to the sign-in that was begun last in this browser").
			WithHint("sign in again")
	}
	m, err := i.discover(ctx)
	switch {
	case err != nil:
		return err
	case answer.Has("iss") && answer.Get("iss") != i.cfg.Issuer:
		return i.notSignedIn("the answer is from another provider")
	case m.AnswersIssuer && !answer.Has("iss"):
		return i.notSignedIn("the answer does not say which provider it is from")
	case answer.Has("error"):
		return i.notSignedIn("it refused: %s", shownCode(answer.Get("error")))
	case answer.Get("code") == "":
		return i.notSignedIn("its answer has no code")
	}
	return nil
}

// exchange gets the token for a code. What the provider says in an error is not repeated, but its code.
func (i *issuer) exchange(ctx context.Context, l Login, code string) (*oauth2.Token, error) {
	client, err := i.oauth(ctx, l)
	if err != nil {
		return nil, err
	}
	token, err := client.Exchange(context.WithValue(ctx, oauth2.HTTPClient, i.http), code, oauth2.VerifierOption(l.Verifier))
	if err == nil {
		return token, nil
	}
	var said *oauth2.RetrieveError
	var unreached *url.Error
	switch {
	case errors.As(err, &said) && said.ErrorCode != "":
		return nil, i.notSignedIn("it refused: %s", shownCode(said.ErrorCode))
	case errors.As(err, &said):
		i.forget()
		return nil, i.away("asked for a token: it answered %d", said.Response.StatusCode)
	case errors.As(err, &unreached):
		i.forget()
		return nil, i.away("asked for a token: %v", fault.Plain(err))
	}
	return nil, i.away("asked for a token: its answer has none")
}
