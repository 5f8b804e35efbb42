package app

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/console"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/identity"
)

// logins is how people sign in to the console at identity providers.
type logins struct{ app *App }

// Providers are where people can sign in, by links to our public address, which providers send them back to.
func (l logins) Providers(back string) []console.Provider {
	s := l.app.edge.Load().signIn
	if s == nil {
		return nil
	}
	var all []console.Provider
	for _, issuer := range s.verifier.Logins() {
		q := url.Values{"issuer": {issuer}, "back": {back}}
		all = append(all, console.Provider{Name: s.verifier.LoginName(issuer), URL: s.public + console.LoginPath + "?" + q.Encode()})
	}
	return all
}

// Begin returns a sign-in and where the browser goes.
func (l logins) Begin(ctx context.Context, issuer string) (identity.Login, string, error) {
	s := l.app.edge.Load().signIn
	if s == nil {
		return identity.Login{}, "", noProviders()
	}
	login := identity.NewLogin(issuer, s.public+console.CallbackPath)
	address, err := s.verifier.LoginURL(ctx, login)
	return login, address, err
}

// Finish returns the id of the person who has signed in, and is known from now on.
func (l logins) Finish(ctx context.Context, login identity.Login, answer url.Values) (string, error) {
	s := l.app.edge.Load().signIn
	if s == nil {
		return "", noProviders()
	}
	id, err := s.verifier.FinishLogin(ctx, login, answer)
	if err != nil {
		return "", err
	}
	person, err := s.verifier.SignedIn(ctx, id, "", nil)
	return person.ID, err
}

func noProviders() error {
	return fault.New(fault.NotFound, "people sign in with keys here").WithHint("add identity with login to the configuration")
}

// passPrefix begins what stands for a person who has signed in, on the way of a request through this process. No
// other process can make or read it.
const passPrefix = "tfp_"

// Pass stands for a person where a key could be.
func (l logins) Pass(person string) string {
	return passPrefix + base64.RawURLEncoding.EncodeToString(l.app.passes.Seal(nil, nil, []byte(person), nil))
}

// admitToken returns who sends a token of an identity provider, or has signed in at one.
func (a *App) admitToken(s *signIn) func(r *http.Request, token string) (access.Principal, error) {
	return func(r *http.Request, token string) (access.Principal, error) {
		pass, ok := strings.CutPrefix(token, passPrefix)
		if !ok {
			return s.admit(r, token)
		}
		var person []byte
		sealed, err := base64.RawURLEncoding.DecodeString(pass)
		if err == nil {
			person, err = a.passes.Open(nil, nil, sealed, nil)
		}
		if err != nil {
			return access.Principal{}, fault.New(fault.Unauthorized, "nobody has signed in with this").WithHint("sign in again")
		}
		return s.verifier.Principal(r.Context(), string(person), "", nil)
	}
}
