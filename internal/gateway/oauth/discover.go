package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Found is what a sign-in at a server's authorization server needs to know.
type Found struct {
	Resource  string   `json:"resource,omitempty"` // what tokens are asked for; "": it is not said
	Scopes    []string `json:"scopes,omitempty"`   // that are asked for
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorize,omitempty"`
	Token     string   `json:"token"`
	Register  string   `json:"register,omitempty"`
	Revoke    string   `json:"revoke,omitempty"`
	Device    string   `json:"device,omitempty"`
	Methods   []string `json:"methods,omitempty"`  // how clients authenticate; none: it does not say
	Offline   bool     `json:"offline,omitempty"`  // offline_access can be asked for
	Document  bool     `json:"document,omitempty"` // it takes a metadata document as a client's id
	SaysWho   bool     `json:"says_who,omitempty"` // its answers name it (RFC 9207)

	guessed bool // nothing was found: it is where older servers have it
}

// resourceMetadata is what a server says about itself (RFC 9728).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`

	failed error // nothing was found, and it may be otherwise soon
}

// serverMetadata is what an authorization server says about itself (RFC 8414).
type serverMetadata struct {
	Issuer    string   `json:"issuer"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	Register  string   `json:"registration_endpoint"`
	Revoke    string   `json:"revocation_endpoint"`
	Device    string   `json:"device_authorization_endpoint"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"`
	PKCE      []string `json:"code_challenge_methods_supported"`
	Scopes    []string `json:"scopes_supported"`
	Document  bool     `json:"client_id_metadata_document_supported"`
	SaysWho   bool     `json:"authorization_response_iss_parameter_supported"`

	guessed bool
}

// Discover finds out where and how to sign in to a server, from the challenge with which it has refused a request.
// What the configuration says comes first.
func (c *Client) Discover(ctx context.Context, header http.Header) (*Found, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	challenges := bearer(header)
	about, err := c.resource(ctx, challenges)
	if err != nil {
		return nil, err
	}
	meta, err := c.server(ctx, about)
	if err != nil {
		return nil, err
	}
	found := &Found{
		Resource: about.Resource, Issuer: meta.Issuer, Authorize: meta.Authorize, Token: meta.Token, Register: meta.Register,
		Revoke: meta.Revoke, Device: meta.Device, Methods: meta.Methods, Document: meta.Document, SaysWho: meta.SaysWho,
		Offline: slices.Contains(meta.Scopes, "offline_access"), Scopes: c.scopes(challenges, about),
		guessed: meta.guessed,
	}
	switch c.cfg.Resource {
	case "":
	case config.OmitResource:
		found.Resource = ""
	default:
		found.Resource = c.cfg.Resource
	}
	return found, c.check(found, meta)
}

// check refuses addresses that a browser or a secret must not be sent to, and servers without PKCE.
func (c *Client) check(f *Found, meta *serverMetadata) error {
	for name, address := range map[string]*string{
		"authorization_endpoint": &f.Authorize, "token_endpoint": &f.Token, "registration_endpoint": &f.Register,
		"revocation_endpoint": &f.Revoke, "device_authorization_endpoint": &f.Device,
	} {
		if *address != "" && !c.acceptable(*address) {
			return c.unusable("%s of %s is %.200q, which is not https", name, f.Issuer, *address)
		}
	}
	switch {
	case f.Token == "":
		return c.unusable("%s names no token_endpoint", f.Issuer)
	case f.Authorize != "" && !slices.Contains(meta.PKCE, "S256") && c.cfg.PKCE != config.AssumePKCE:
		return c.unusable("%s does not say that it has PKCE with S256", f.Issuer).
			WithHint("if it has, add to %s: oauth: {as: %s, pkce: assume}", c.id, c.cfg.As)
	}
	return nil
}

// scopes are those of the configuration, else those that the server demands, else all that it knows.
func (c *Client) scopes(challenges []challenge, about *resourceMetadata) []string {
	if len(c.cfg.Scopes) > 0 {
		return c.cfg.Scopes
	}
	for _, one := range challenges {
		if s := scopesIn(one.params["scope"]); len(s) > 0 {
			return s
		}
	}
	return scopesIn(strings.Join(about.Scopes, " "))
}

// resource finds what the server says about itself. Nothing is an answer too: older servers say nothing.
func (c *Client) resource(ctx context.Context, challenges []challenge) (*resourceMetadata, error) {
	var places []string
	for _, one := range challenges {
		if at := one.params["resource_metadata"]; at != "" && c.acceptable(at) && len(places) < maxPlaces {
			places = append(places, at)
		}
	}
	const known = "/.well-known/oauth-protected-resource"
	root := origin.Of(c.url)
	if path := strings.TrimSuffix(c.url.EscapedPath(), "/"); path != "" {
		places = append(places, root+known+path)
	}
	places = append(places, root+known)
	var failed error
	for _, at := range places {
		var about resourceMetadata
		if err := c.getJSON(ctx, at, &about); err != nil {
			if passes(err) {
				failed = err
			}
			continue
		}
		if about.Resource == "" {
			about.Resource = c.url.String()
		}
		if !c.covers(about.Resource) {
			return nil, c.unusable("its metadata at %s is about another server, %.200q", at, about.Resource)
		}
		return &about, nil
	}
	if ctx.Err() != nil {
		return nil, c.unusable("it takes too long to say where")
	}
	return &resourceMetadata{failed: failed}, nil
}

// passes tells whether an answer may be another soon, so that nothing follows from it.
func passes(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) && refused.Passes()
}

// covers tells whether tokens for the resource are for our server: it has the same origin, and its path is the
// same or a parent.
func (c *Client) covers(resource string) bool {
	u, err := url.Parse(resource)
	if err != nil || !origin.Same(u, c.url) || u.User != nil || u.Fragment != "" {
		return false
	}
	if u.RawQuery != "" && u.RawQuery != c.url.RawQuery {
		return false
	}
	parent := strings.TrimSuffix(u.EscapedPath(), "/") + "/"
	return strings.HasPrefix(strings.TrimSuffix(c.url.EscapedPath(), "/")+"/", parent)
}

// server finds the first authorization server that can be used.
func (c *Client) server(ctx context.Context, about *resourceMetadata) (*serverMetadata, error) {
	issuers := slices.Clone(about.Servers[:min(len(about.Servers), maxPlaces)])
	switch {
	case c.cfg.Issuer == "":
	case c.cfg.ClientID != "": // what it says itself comes first: the client's secret must not go where the server wants it
		issuers = slices.Insert(issuers, 0, c.cfg.Issuer)
	default:
		issuers = append(issuers, c.cfg.Issuer)
	}
	legacy := len(issuers) == 0 // before 2025-06-18 a server was its own authorization server
	if legacy {
		issuers = []string{origin.Of(c.url)}
	}
	var why error
	for _, issuer := range issuers {
		meta, err := c.metadata(ctx, issuer, legacy)
		if err == nil {
			return meta, nil
		}
		if why == nil || fault.Is(err, fault.LoginRequired) || passes(err) && !fault.Is(why, fault.LoginRequired) {
			why = err
		}
	}
	if legacy && about.failed != nil && !fault.Is(why, fault.LoginRequired) {
		why = about.failed
	}
	if passes(why) {
		return nil, c.away(&Found{Issuer: strings.Join(issuers, ", ")}, "asked for its metadata", why)
	}
	if legacy && !fault.Is(why, fault.LoginRequired) && ctx.Err() == nil {
		root := issuers[0]
		return &serverMetadata{
			Issuer: root, Authorize: root + "/authorize", Token: root + "/token", Register: root + "/register", PKCE: []string{"S256"},
			guessed: true,
		}, nil
	}
	if fault.Is(why, fault.LoginRequired) {
		return nil, why
	}
	err := c.unusable("no metadata was found of %s: %v", strings.Join(issuers, ", "), fault.Plain(why))
	if fault.Is(why, fault.Forbidden) {
		err = err.WithHint("if it is in your own network, add to %s: oauth: {issuer: %q}", c.id, issuers[0])
	}
	return nil, err
}

// metadata reads what the authorization server says about itself, from the first of the usual places that answers.
// A server that calls itself otherwise is refused: it could be handed the codes of another. The configuration can
// name it. A server that is its own authorization server may call itself anything on its origin.
func (c *Client) metadata(ctx context.Context, issuer string, legacy bool) (*serverMetadata, error) {
	if !c.acceptable(issuer) {
		return nil, c.unusable("its authorization server %.200q is not https", issuer)
	}
	var last error
	asked := issuer
	for _, at := range wellKnown(issuer) {
		var meta serverMetadata
		if err := c.getJSON(ctx, at, &meta); err != nil {
			if !passes(last) {
				last = err
			}
			continue
		}
		if pin := c.cfg.Issuer; pin != "" {
			issuer = pin
		}
		itself, err := url.Parse(meta.Issuer)
		ownPath := legacy && err == nil && itself.User == nil && origin.Same(itself, c.url)
		if strings.TrimSuffix(meta.Issuer, "/") != strings.TrimSuffix(issuer, "/") && !ownPath {
			err := c.unusable("the authorization server %s calls itself %.200q", issuer, meta.Issuer)
			if c.acceptable(meta.Issuer) {
				err = err.WithHint("if you trust that one, add to %s: oauth: {as: %s, issuer: %q}", c.id, c.cfg.As, meta.Issuer)
			}
			return nil, err
		}
		if c.cfg.Issuer != "" && asked != c.cfg.Issuer && !c.mayProve(&meta) {
			return nil, c.unusable("%s names a token_endpoint that is not at %s, and would get the secret of its client", asked, c.cfg.Issuer)
		}
		return &meta, nil
	}
	return nil, last
}

// mayProve tells whether the client of the configuration may prove who it is at an endpoint that another server than its
// issuer has named for it: the secret is for that issuer alone.
func (c *Client) mayProve(meta *serverMetadata) bool {
	if c.cfg.ClientSecret == "" && c.cfg.PrivateKey == "" {
		return true
	}
	pinned, err := url.Parse(c.cfg.Issuer)
	if err != nil {
		return false
	}
	for _, address := range []string{meta.Token, meta.Revoke, meta.Device} {
		to, err := url.Parse(address)
		if address != "" && (err != nil || !origin.Same(to, pinned)) {
			return false
		}
	}
	return true
}

// wellKnown are the places of an authorization server's metadata.
func wellKnown(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	const oauth = "/.well-known/oauth-authorization-server"
	const oidc = "/.well-known/openid-configuration"
	root := origin.Of(u)
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return []string{root + oauth, root + oidc}
	}
	return []string{root + oauth + path, root + oidc + path, root + path + oidc}
}
