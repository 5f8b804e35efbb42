package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/state/identity"
)

// Where a sign-in at an identity provider begins, and where the provider sends the browser back to.
const (
	LoginPath    = "/sign-in/oidc"
	CallbackPath = "/sign-in/callback"
)

const (
	loginFor = 10 * time.Minute // that people may take at the provider
	maxBack  = 2000             // bytes of a path: a cookie holds no more than 4096
)

// Logins lets people sign in at identity providers.
type Logins interface {
	// Providers are where people can sign in, and then get to the path back.
	Providers(back string) []Provider
	// Begin returns the sign-in and where the browser goes.
	Begin(ctx context.Context, issuer string) (l identity.Login, address string, err error)
	// Finish returns the id of the person, from what the browser brings back.
	Finish(ctx context.Context, l identity.Login, answer url.Values) (person string, err error)
	// Pass stands for a person where a key could be, within this process.
	Pass(person string) string
	// SignedOut forgets what is kept of a person's sign-in.
	SignedOut(ctx context.Context, person string)
}

// Provider is where people can sign in.
type Provider struct {
	Name string
	URL  string // begins it
}

// pending is a sign-in, while the person is at the provider. The browser holds it, so that any replica can go on.
type pending struct {
	identity.Login
	Back  string
	Lang  locale.Language // which cookies of ours would tell, if they came with the provider's redirect
	Theme string
}

// beginLogin sends the browser to a provider. It is a link and no form: our policy lets no form end elsewhere.
func (c *Console) beginLogin(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	v.back = localPath(r.URL.Query().Get("back"))
	if len(v.back) > maxBack {
		v.back = "/"
	}
	l, address, err := c.Logins.Begin(r.Context(), r.URL.Query().Get("issuer"))
	if err != nil {
		c.refuseLogin(w, v, err)
		return
	}
	text, _ := json.Marshal(pending{l, v.back, v.lang, v.theme}) // texts only
	setLoginCookie(w, l, c.seals.login.close(r, string(text)), loginFor)
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusFound)
}

// finishLogin signs in who comes back from a provider. The cookie is not sent before a page of ours asks for
// another one, so that the answer is a page, which leads on by itself.
func (c *Console) finishLogin(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	v.back = "/"
	p, err := c.openLogin(r)
	person := ""
	if err == nil {
		v.back = p.Back
		v.lang = p.Lang
		v.theme = p.Theme
		person, err = c.Logins.Finish(r.Context(), p.Login, r.URL.Query())
	}
	if err != nil {
		c.refuseLogin(w, v, err)
		return
	}
	setLoginCookie(w, p.Login, "", -time.Second)
	c.setCookie(w, r, signInCookie, c.seals.person.close(r, person), signInFor)
	w.Header().Set("Refresh", "0; url="+c.at(v.back))
	c.write(w, v, http.StatusOK, "signed-in", "frame", c.frameOf(v, "signed-in", c.at(v.back)))
}

// openLogin returns the sign-in that was begun in this browser.
func (c *Console) openLogin(r *http.Request) (p pending, err error) {
	for _, secure := range []bool{true, false} {
		cookie, err := r.Cookie(loginCookie(secure))
		if err != nil {
			continue
		}
		err = json.Unmarshal([]byte(c.seals.login.open(r, cookie.Value)), &p)
		if err == nil && secure == isSecure(p.Login) {
			return p, nil
		}
	}
	return pending{}, fault.New(fault.BadRequest, "no sign-in was begun in this browser within the last 10 minutes").WithHint("sign in again")
}

// refuseLogin shows why somebody is not signed in, and how else to.
func (c *Console) refuseLogin(w http.ResponseWriter, v *visit, err error) {
	f := fault.As(err)
	c.Logger.Warn("sign-in refused", "error", f)
	c.showSignIn(w, v, signInPage{Fault: f})
}

// isSecure tells whether people use HTTPS: then the cookie has a name that nobody but us can set.
func isSecure(l identity.Login) bool { return strings.HasPrefix(l.Redirect, "https:") }

func loginCookie(secure bool) string {
	if secure {
		return "__Host-toolfit_login"
	}
	return "toolfit_login"
}

// setLoginCookie sets a cookie that comes back with the redirect of another site.
func setLoginCookie(w http.ResponseWriter, l identity.Login, value string, age time.Duration) {
	secure := isSecure(l)
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie(secure), Value: value, Path: "/", MaxAge: max(int(age/time.Second), -1),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure,
	})
}
