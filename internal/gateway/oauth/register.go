package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
)

// How a client proves at the token endpoint who it is.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKey   = "private_key_jwt"
)

// Registration is how an authorization server knows us.
type Registration struct {
	ClientID string    `json:"client_id"`
	Secret   string    `json:"secret,omitempty"`
	Method   string    `json:"method"`
	Expires  time.Time `json:"expires,omitzero"` // of the secret; zero: never
}

// Pinned returns the client that the configuration names; nil if it names none.
func (c *Client) Pinned(f *Found) *Registration {
	if c.cfg.ClientID == "" {
		return nil
	}
	r := &Registration{ClientID: c.cfg.ClientID, Secret: c.cfg.ClientSecret, Method: methodNone}
	switch {
	case c.cfg.PrivateKey != "":
		r.Method = methodKey
	case r.Secret == "":
	case len(f.Methods) > 0 && !slices.Contains(f.Methods, methodBasic) && slices.Contains(f.Methods, methodPost):
		r.Method = methodPost
	default:
		r.Method = methodBasic
	}
	return r
}

// TakesDocument tells whether our metadata document can be our client id: the authorization server fetches it, so
// that it must be able to reach it.
func (f *Found) TakesDocument(document string) bool {
	return f.Document && strings.HasPrefix(document, "https://") && (len(f.Methods) == 0 || slices.Contains(f.Methods, methodNone))
}

// Document is what an authorization server reads about us at the address that is our client id.
func Document(id string, redirects []string) map[string]any {
	return map[string]any{
		"client_id": id, "client_name": clientName, "redirect_uris": redirects, "grant_types": grants, "response_types": []string{"code"},
		"token_endpoint_auth_method": methodNone,
	}
}

const clientName = "toolfit"

var grants = []string{"authorization_code", "refresh_token"}

// RegisterAt registers us as a client (RFC 7591).
func (c *Client) RegisterAt(ctx context.Context, f *Found, redirect string) (*Registration, error) {
	if f.Register == "" {
		return nil, c.byHand(c.unusable("%s does not register clients by itself", f.Issuer), redirect)
	}
	want := map[string]any{
		"client_name": clientName, "redirect_uris": []string{redirect}, "grant_types": grants, "response_types": []string{"code"},
		"token_endpoint_auth_method": c.method(f), "application_type": applicationType(redirect),
	}
	if len(f.Scopes) > 0 {
		want["scope"] = strings.Join(f.Scopes, " ")
	}
	if f.Device != "" {
		want["grant_types"] = append(slices.Clone(grants), deviceGrant)
	}
	raw, err := json.Marshal(want)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Register, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	status, body, err := c.do(req)
	if err != nil {
		return nil, c.away(f, "asked to register a client", err)
	}
	return c.registered(f, status, body, redirect)
}

// byHand says what a person has to register.
func (c *Client) byHand(err *fault.Error, redirect string) *fault.Error {
	return err.WithHint("register toolfit there with the redirect URI %s, and add to %s: oauth: {as: %s, clientId: …, clientSecret: …}",
		redirect, c.id, c.cfg.As)
}

func (c *Client) registered(f *Found, status int, body []byte, redirect string) (*Registration, error) {
	var answer struct {
		ClientID string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Expires  int64  `json:"client_secret_expires_at"`
		Method   string `json:"token_endpoint_auth_method"`
		Error    string `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	if status/100 != 2 || err != nil || answer.ClientID == "" {
		return nil, c.byHand(c.unusable("%s refused to register a client (HTTP %d %s)", f.Issuer, status, shownCode(answer.Error)), redirect)
	}
	r := &Registration{ClientID: answer.ClientID, Secret: answer.Secret, Method: answer.Method}
	if answer.Expires > 0 {
		r.Expires = time.Unix(answer.Expires, 0)
	}
	switch {
	case r.Method == methodBasic, r.Method == methodPost:
	case r.Secret == "":
		r.Method = methodNone
	case r.Method != methodNone:
		r.Method = methodBasic // what holds where nothing is said
	}
	return r, nil
}

// method is how we would like to prove who we are.
func (c *Client) method(f *Found) string {
	for _, m := range []string{methodNone, methodBasic, methodPost} {
		if slices.Contains(f.Methods, m) {
			return m
		}
	}
	return methodBasic
}

// applicationType is what a redirect URI on this machine belongs to, or any other.
func applicationType(redirect string) string {
	if u, err := url.Parse(redirect); err == nil && guard.IsLoopback(u.Hostname()) {
		return "native"
	}
	return "web"
}

// away is the error while the authorization server cannot be reached.
func (c *Client) away(f *Found, what string, err error) *fault.Error {
	return fault.New(fault.UpstreamDown, "the authorization server %s of %s was %s: %w", f.Issuer, c.id, what, fault.Plain(err)).
		WithHint("try again later")
}
