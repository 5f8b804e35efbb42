package broker

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/store"
)

// newText is a text that nobody can guess.
func newText() string { return strings.ToLower(rand.Text()) }

// newToken makes a token. The text goes to the client, the row to the store.
func newToken(beginning string, kind store.TokenKind, expires time.Time) (text string, row store.GrantToken) {
	text = beginning + newText()
	return text, store.GrantToken{Hash: hashed(text), Kind: kind, ExpiresAt: expires}
}

func hashed(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// oauthError is an answer to a client.
type oauthError struct{ code, why string }

func (e *oauthError) Error() string { return e.why }

func refuse(code, why string) error { return &oauthError{code, why} }

// refused answers a client with an error.
func (b *Broker) refused(w http.ResponseWriter, r *http.Request, err error) {
	wrong, ok := err.(*oauthError)
	status := http.StatusBadRequest
	if !ok {
		f := fault.As(err)
		if f.Hides() {
			b.Logger.Error("request not served", "path", r.URL.Path, "error", f)
		}
		wrong = &oauthError{codeOf(err), f.Message}
		status = f.Code.Status()
	}
	w.Header().Set("Cache-Control", "no-store")
	inbound.WriteJSON(w, status, map[string]string{"error": wrong.code, "error_description": plain(wrong.why)})
}

// readForm reads what a client posts. Nothing may be there twice, and nobody proves itself with a secret here.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxQuery)
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
		return nil, refuse(invalidRequest, "the parameters must be a form in the body, of at most 8 KB")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, refuse(invalidRequest, name+" is there twice")
		}
	}
	if r.Header.Get("Authorization") != "" || r.PostForm.Has("client_secret") || r.PostForm.Has("client_assertion") {
		return nil, refuse(invalidClient, "clients have no secrets here: send client_id in the body, and nothing else")
	}
	return r.PostForm, nil
}

// serveToken exchanges a code or a refresh token for new tokens.
func (b *Broker) serveToken(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		b.refused(w, r, err)
		return
	}
	var answer map[string]any
	switch form.Get("grant_type") {
	case "authorization_code":
		answer, err = b.exchange(r, form, form.Get("code"), codePrefix)
	case "refresh_token":
		answer, err = b.exchange(r, form, form.Get("refresh_token"), refreshPrefix)
	default:
		err = refuse("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
	}
	if err != nil {
		b.refused(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	inbound.WriteJSON(w, http.StatusOK, answer)
}

var errGrant = refuse(invalidGrant, "it is wrong, expired or used already: sign in again")

// exchange gives new tokens for an old one. One that names a grant and is not good ends that grant: somebody has used
// it before, or has got hold of it.
func (b *Broker) exchange(r *http.Request, form url.Values, text, prefix string) (map[string]any, error) {
	ctx := r.Context()
	rest, ok := strings.CutPrefix(text, prefix)
	id, _, cut := strings.Cut(rest, "_")
	if !ok || !cut {
		return nil, errGrant
	}
	g, err := b.Store.Grant(ctx, id)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = errGrant
		}
		return nil, err
	}
	if form.Get("client_id") != g.Client || prefix == codePrefix && !proves(form, &g) {
		return nil, b.end(r, &g, errGrant)
	}
	if resource := strings.TrimSuffix(form.Get("resource"), "/"); resource != "" && resource != g.Resource {
		return nil, refuse(invalidTarget, "another resource was granted")
	}
	if err := b.check(r, &g); err != nil {
		return nil, err
	}
	old := store.GrantToken{Hash: hashed(text), Kind: store.RefreshToken}
	spent := b.Now().Add(graceTime)
	if prefix == codePrefix {
		old.Kind = store.CodeToken
		spent = time.Time{} // at once
		g.ExpiresAt = b.Now().Add(grantTime)
	}
	expires := b.Now().Add(accessTime)
	if g.ExpiresAt.Before(expires) {
		expires = g.ExpiresAt
	}
	accessToken, accessRow := newToken(accessPrefix, store.AccessToken, expires)
	refresh, refreshRow := newToken(refreshPrefix+g.ID+"_", store.RefreshToken, g.ExpiresAt)
	ok, err = b.Store.ExchangeToken(ctx, id, old, spent, g.ExpiresAt, accessRow, refreshRow)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, b.end(r, &g, errGrant)
	}
	answer := map[string]any{
		"access_token": accessToken, "token_type": "Bearer", "expires_in": int(expires.Sub(b.Now()).Seconds()), "refresh_token": refresh,
	}
	if len(g.Scopes) > 0 {
		answer["scope"] = strings.Join(g.Scopes, " ")
	}
	return answer, nil
}

// proves tells whether who brings a code is who asked for it (PKCE).
func proves(form url.Values, g *store.Grant) bool {
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	given := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(given), []byte(g.Challenge)) == 1 &&
		(!form.Has("redirect_uri") || form.Get("redirect_uri") == g.Redirect)
}

// check refuses to go on with a grant whose person or client may not come in any more.
func (b *Broker) check(r *http.Request, g *store.Grant) error {
	_, err := b.principal(r.Context(), g)
	if fault.Is(err, fault.Unauthorized) || fault.Is(err, fault.Forbidden) {
		b.Logger.Warn("a grant is not renewed", "client", g.Client, "person", g.Person, "error", err)
		return refuse(invalidGrant, fault.As(err).Message)
	}
	return err
}

// end ends a grant and returns the error, or why it could not be ended.
func (b *Broker) end(r *http.Request, g *store.Grant, why error) error {
	b.Logger.Warn("a sign-in is ended: a code or token of it was used again, or by somebody else", "client", g.Client, "person", g.Person)
	defer b.Forget()
	if err := b.Store.EndGrant(r.Context(), g.ID); err != nil {
		return err
	}
	return why
}

// revoke ends the grant of a token (RFC 7009), whichever of its tokens it is. An unknown one is fine, and so is whoever
// holds the token, unless it claims to be another client.
func (b *Broker) revoke(w http.ResponseWriter, r *http.Request) {
	form, err := readForm(w, r)
	if err != nil {
		b.refused(w, r, err)
		return
	}
	g, _, err := b.Store.GrantOf(r.Context(), hashed(form.Get("token")))
	if err == nil {
		if id := form.Get("client_id"); id != "" && id != g.Client {
			err = refuse(invalidClient, "the token is another client's")
		} else {
			err = b.Store.EndGrant(r.Context(), g.ID)
			b.Forget()
		}
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		b.refused(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}
