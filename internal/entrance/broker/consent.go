package broker

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

// ask shows a person who wants what. It is asked at every sign-in: an answer of before says nothing about who asks now,
// and a client whose grant goes on needs no sign-in.
func (b *Broker) ask(w http.ResponseWriter, r *http.Request, p *pages) {
	req, c, err := b.readRequest(r)
	if err != nil {
		b.fail(w, r, p, err)
		return
	}
	v := view{Host: c.host(), Name: c.Name, Redirect: shownHost(req.Redirect), Local: isLocal(req.Redirect), Resource: req.Resource}
	for _, issuer := range b.People.Logins() {
		v.Logins = append(v.Logins, login{issuer, b.People.LoginName(issuer)})
	}
	p.show(w, r, http.StatusOK, "consent.html", v)
}

// pending is a sign-in between the click and the return from the provider.
type pending struct {
	Login   identity.Login
	Request request
}

// answer takes the person's answer. The request is in the address, as it was when they were asked.
func (b *Broker) answer(w http.ResponseWriter, r *http.Request, p *pages) {
	if err := b.checkClick(r); err != nil {
		b.fail(w, r, p, err)
		return
	}
	req, _, err := b.readRequest(r)
	if err != nil {
		b.fail(w, r, p, err)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxQuery)
	if r.PostFormValue("refuse") != "" {
		refused := url.Values{"error": {accessDenied}, "error_description": {"the person has refused"}}
		p.show(w, r, http.StatusOK, "next.html", view{Next: template.URL(b.back(req, refused)), Redirect: shownHost(req.Redirect)})
		return
	}
	if err := b.Limit(r); err != nil {
		b.fail(w, r, p, err)
		return
	}
	issuer := r.PostFormValue("issuer")
	next, err := b.begin(w, r, pending{identity.NewLogin(issuer, b.Issuer+callbackPath), req})
	if err != nil {
		b.fail(w, r, p, err)
		return
	}
	p.show(w, r, http.StatusOK, "next.html", view{Next: template.URL(next), Redirect: b.People.LoginName(issuer)})
}

// checkClick refuses forms that a page of somebody else has sent.
func (b *Broker) checkClick(r *http.Request) error {
	if from := r.Header["Origin"]; len(from) != 1 || from[0] != b.origin {
		return fault.New(fault.Forbidden, "the answer does not come from the page of this gateway").
			WithHint("go back to the application, and sign in again")
	}
	return nil
}

// begin stores a sign-in, and returns where the browser goes. What was stored only this browser can open, and only with
// the answer of the provider: the key is in its cookie and in the state.
func (b *Broker) begin(w http.ResponseWriter, r *http.Request, p pending) (string, error) {
	next, err := b.People.LoginURL(r.Context(), p.Login)
	if err != nil {
		return "", err
	}
	browser := b.browser(r)
	if browser == "" {
		browser = rand.Text()
	}
	plain, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	key := browser + "." + p.Login.State
	hash := sha256.Sum256([]byte(key))
	sealed := access.NewCipher(sealPurpose, []byte(key)).Seal(nil, nil, plain, nil)
	if err := b.Store.SaveLogin(r.Context(), hash[:], sealed, b.Now().Add(loginTime)); err != nil {
		return "", err
	}
	http.SetCookie(w, &http.Cookie{
		Name: b.cookieName(), Value: browser, Path: "/", MaxAge: int(loginTime / time.Second),
		HttpOnly: true, Secure: !isLoopback(b.Issuer), SameSite: http.SameSiteLaxMode,
	})
	return next, nil
}

const sealPurpose = "sign-in through the broker"

// cookieName is that of the cookie by which we know a browser while it is at the provider.
func (b *Broker) cookieName() string {
	if isLoopback(b.Issuer) {
		return "toolfit_oauth"
	}
	return "__Host-toolfit_oauth"
}

// browser is what the browser's cookie says; "" if it has none.
func (b *Broker) browser(r *http.Request) string {
	cookie, err := r.Cookie(b.cookieName())
	if err != nil || len(cookie.Value) > 100 {
		return ""
	}
	return cookie.Value
}

// comeBack receives the browser from the provider and sends it on to the client.
func (b *Broker) comeBack(w http.ResponseWriter, r *http.Request, p *pages) {
	signIn, err := b.takeUp(r)
	if err != nil {
		b.fail(w, r, p, err)
		return
	}
	code, err := b.grant(r, signIn)
	answer := url.Values{"code": {code}}
	if err != nil {
		f := fault.As(err)
		b.Logger.Warn("nobody was signed in", "client", signIn.Request.Client, "error", f)
		answer = url.Values{"error": {codeOf(err)}, "error_description": {plain(f.Message)}}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, b.back(signIn.Request, answer), http.StatusFound)
}

// takeUp returns the sign-in that was begun in this browser, once.
func (b *Broker) takeUp(r *http.Request) (*pending, error) {
	key := b.browser(r) + "." + r.URL.Query().Get("state")
	hash := sha256.Sum256([]byte(key))
	sealed, err := b.Store.TakeLogin(r.Context(), hash[:])
	if err != nil {
		return nil, err
	}
	text, err := access.NewCipher(sealPurpose, []byte(key)).Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, err
	}
	var p pending
	return &p, json.Unmarshal(text, &p)
}

// grant finds out who has signed in, and stores what they have granted. It returns the code for it.
func (b *Broker) grant(r *http.Request, p *pending) (code string, err error) {
	if !b.allows(p.Request.Client) {
		return "", fault.New(fault.Forbidden, "the application may no longer sign people in here")
	}
	id, err := b.People.FinishLogin(r.Context(), p.Login, r.URL.Query())
	if err != nil {
		return "", err
	}
	who, err := b.People.SignedIn(r.Context(), id, p.Request.Client, b.Scopes)
	if err != nil {
		return "", err
	}
	g := store.Grant{
		ID: newText(), Person: who.ID, Client: p.Request.Client, Redirect: p.Request.Redirect, Resource: p.Request.Resource,
		Scopes: b.Scopes, Challenge: p.Request.Challenge, ExpiresAt: b.Now().Add(codeTime),
	}
	if isRegistered(g.Client) {
		if err := b.Store.KeepClient(r.Context(), g.Client, b.Now().Add(usedClientTime)); err != nil {
			return "", err
		}
	}
	code, row := newToken(codePrefix+g.ID+"_", store.CodeToken, g.ExpiresAt)
	return code, b.Store.CreateGrant(r.Context(), g, row)
}

// back is where the client gets its answer, which says who gives it (RFC 9207).
func (b *Broker) back(req request, answer url.Values) string {
	answer.Set("iss", b.Issuer)
	if req.State != "" {
		answer.Set("state", req.State)
	}
	return withAnswer(req.Redirect, answer)
}
