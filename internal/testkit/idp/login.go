package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Login is how people sign in at the provider, as the client toolfit with the secret s+3: whoever comes is alice.
// The functions change what it says; nil changes nothing.
type Login struct {
	Page     bool                                 // people are asked on a page, by a button
	Metadata map[string]any                       // replaces what it says about itself; nil values are left out
	Person   map[string]any                       // more claims of the ID token
	Userinfo map[string]string                    // answers to those with an access token, by path
	Answer   func(url.Values)                     // what the browser brings back
	IDToken  func(claims map[string]any)          // before it is signed
	Signed   func(token string) string            // after that
	Token    func(map[string]any)                 // the answer to a code
	Exchange func(form url.Values) map[string]any // answers those who exchange tokens; nil: with invalid_grant
	Instead  func(w http.ResponseWriter)          // answers in place of the token endpoint
	codes    map[string]url.Values                // requests of codes that were not used yet
	Asked    []url.Values                         // every request for a token
}

func (p *Provider) about() map[string]any {
	all := map[string]any{
		"issuer": p.Issuer, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
	}
	maps.Copy(all, p.Login.Metadata)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// authorize sends the browser back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != "toolfit" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "a wrong request: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	if p.Login.Page && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><title>Provider</title><form method="post"><button>I am alice</button></form>`))
		return
	}
	code := rand.Text()
	if p.Login.codes == nil {
		p.Login.codes = map[string]url.Values{}
	}
	p.Login.codes[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.Issuer}}
	if p.Login.Answer != nil {
		p.Login.Answer(answer)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther)
}

// token gives an ID token for a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	p.Login.Asked = append(p.Login.Asked, r.PostForm)
	if p.Login.Instead != nil {
		p.Login.Instead(w)
		return
	}
	if strings.HasSuffix(r.PostFormValue("grant_type"), ":token-exchange") && p.Login.Exchange != nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(p.Login.Exchange(r.PostForm))
		return
	}
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id = r.PostFormValue("client_id")
		secret = url.QueryEscape(r.PostFormValue("client_secret"))
	}
	asked, ok := p.Login.codes[r.PostFormValue("code")]
	delete(p.Login.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	var wrong string
	switch {
	case id != "toolfit" || secret != "s%2B3":
		wrong = "invalid_client"
	case !ok || asked.Get("redirect_uri") != r.PostFormValue("redirect_uri"),
		asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]):
		wrong = "invalid_grant"
	}
	w.Header().Set("Content-Type", "application/json")
	if wrong != "" {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"error": wrong, "error_description": "<b>text of the provider</b>"})
		return
	}
	answer := map[string]any{"access_token": "of-alice", "token_type": "Bearer", "expires_in": 3600}
	if strings.Contains(asked.Get("scope"), "openid") {
		answer["id_token"] = p.idToken(asked.Get("nonce"))
	}
	if p.Login.Token != nil {
		p.Login.Token(answer)
	}
	json.NewEncoder(w).Encode(answer)
}

func (p *Provider) idToken(nonce string) string {
	claims := p.Claims("aud", "toolfit", "azp", nil, "scope", nil, "nonce", nonce, "at_hash", "x")
	maps.Copy(claims, p.Login.Person)
	if p.Login.IDToken != nil {
		p.Login.IDToken(claims)
	}
	signed := p.Token(p.t, claims)
	if p.Login.Signed != nil {
		return p.Login.Signed(signed)
	}
	return signed
}

// userinfo answers those with an access token.
func (p *Provider) userinfo(w http.ResponseWriter, r *http.Request) {
	said, ok := p.Login.Userinfo[r.URL.Path]
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Header.Get("Authorization") != "Bearer of-alice":
		http.Error(w, "who are you?", http.StatusUnauthorized)
	default:
		w.Write([]byte(said))
	}
}
