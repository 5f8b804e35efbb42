package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Login is a sign-in that has begun. It is kept until the browser comes back.
type Login struct {
	Found    Found        `json:"found"`
	Client   Registration `json:"client"`
	Redirect string       `json:"redirect"`
	Verifier string       `json:"verifier"`
	Device   *Device      `json:"device,omitempty"` // it goes on another device; nil: in a browser
	State    string       `json:"-"`
}

// NewLogin begins a sign-in.
func NewLogin(f *Found, r *Registration, redirect string) *Login {
	return &Login{Found: *f, Client: *r, Redirect: redirect, Verifier: rand.Text() + rand.Text(), State: rand.Text()}
}

// URL is where the browser goes.
func (l *Login) URL() (string, error) {
	u, err := url.Parse(l.Found.Authorize)
	if err != nil || l.Found.Authorize == "" {
		return "", fault.New(fault.LoginRequired, "%s has no page on which people sign in", l.Found.Issuer)
	}
	q := u.Query()
	sum := sha256.Sum256([]byte(l.Verifier))
	for name, value := range map[string]string{
		"response_type": "code", "client_id": l.Client.ClientID, "redirect_uri": l.Redirect, "state": l.State,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
		"scope": strings.Join(l.scopes(), " "), "resource": l.Found.Resource,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if slices.Contains(l.scopes(), offline) {
		q.Set("prompt", "consent") // without it OpenID providers give no refresh token
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// offline is the scope of refresh tokens at OpenID providers.
const offline = "offline_access"

// scopes are those that the server demands, and leave to renew the token.
func (l *Login) scopes() []string {
	if l.Found.Offline && !slices.Contains(l.Found.Scopes, offline) {
		return append(slices.Clone(l.Found.Scopes), offline)
	}
	return l.Found.Scopes
}

// FinishLogin exchanges what the browser brings back for a token. The state has been checked: by it the login was
// found. Nothing of the answer is read before it is known to be of the authorization server that was asked.
func (c *Client) FinishLogin(ctx context.Context, l *Login, answer url.Values) (*Token, error) {
	for _, name := range []string{"iss", "code", "error"} {
		if len(answer[name]) > 1 {
			return nil, c.notSignedIn(l, "its answer has %s more than once", name)
		}
	}
	switch {
	case answer.Has("iss") && answer.Get("iss") != l.Found.Issuer:
		return nil, c.notSignedIn(l, "the answer is from another server")
	case l.Found.SaysWho && !answer.Has("iss"):
		return nil, c.notSignedIn(l, "the answer does not say which server it is from")
	case answer.Has("error"):
		return nil, c.notSignedIn(l, "it refused: %s", shownCode(answer.Get("error")))
	case answer.Get("code") == "":
		return nil, c.notSignedIn(l, "its answer has no code")
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {answer.Get("code")}, "redirect_uri": {l.Redirect}, "code_verifier": {l.Verifier},
	}
	t, err := c.ask(ctx, &l.Found, &l.Client, form)
	if err != nil {
		return nil, c.notSignedIn(l, "it gave no token: %w", err)
	}
	return t, nil
}

func (c *Client) notSignedIn(l *Login, why string, args ...any) error {
	return fault.New(fault.LoginRequired, "the sign-in to %s at %s did not succeed: "+why, append([]any{c.id, l.Found.Issuer}, args...)...).
		WithHint("sign in again")
}
