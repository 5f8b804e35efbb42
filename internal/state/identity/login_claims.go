package identity

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// maxIDToken is more than access tokens have: it does not travel in a header, and may name many groups.
const maxIDToken = 64 << 10

// idToken checks the ID token as access tokens are checked, but for whom it is for: us, and this sign-in.
func (i *issuer) idToken(ctx context.Context, l Login, token *oauth2.Token) (claims, error) {
	text, _ := token.Extra("id_token").(string)
	switch {
	case text == "":
		return nil, errors.New("there is none")
	case len(text) > maxIDToken:
		return nil, failed("size", "longer than %d bytes", maxIDToken)
	}
	signed, err := jose.ParseSignedCompact(text, known)
	if err != nil {
		return nil, failed("form", "it is not a JWT with a known kind of signature")
	}
	c, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return nil, failed("form", "%v", err)
	}
	if iss := c.text("iss"); iss != i.cfg.Issuer {
		return nil, failed("issuer", "it is from %.200q", iss)
	}
	if err := i.checkHeader(&signed.Signatures[0].Protected, nil); err != nil {
		return nil, err
	}
	if err := i.checkSignature(ctx, signed, nil); err != nil {
		return nil, err
	}
	if _, err := checkTimes(c, i.v.now()); err != nil {
		return nil, err
	}
	audience := c.texts("aud")
	us := i.cfg.Login.ClientID
	azp, given := c["azp"], c.text("azp")
	switch {
	case !slices.Contains(audience, us):
		return nil, failed("audience", "it is for %.300q, not for this client", audience)
	case (azp != nil || len(audience) > 1) && given != us:
		return nil, failed("azp", "it is for %.200q, not for this client", given)
	case subtle.ConstantTimeCompare([]byte(c.text("nonce")), []byte(l.Nonce)) != 1:
		return nil, failed("nonce", "it is for another sign-in")
	}
	return c, nil
}

// addUserinfo adds the claims that the configured addresses answer with: the first an object of claims, of
// which none replaces one of the ID token; each further one a claim, named like the end of its path.
func (i *issuer) addUserinfo(ctx context.Context, c claims, token *oauth2.Token) error {
	signed := maps.Clone(c)
	for n, address := range i.cfg.Login.Userinfo {
		raw, err := i.userinfo(ctx, address, token)
		if err != nil {
			return i.away("%s was asked who signed in: %v", address, fault.Plain(err))
		}
		if n > 0 {
			c[lastSegment(address)] = raw
			continue
		}
		about, err := parseClaims(raw)
		if err != nil {
			return i.away("%s was asked who signed in: the answer is not an object", address)
		}
		if signed.text("sub") != "" && about.text("sub") != signed.text("sub") {
			return i.notSignedIn("%s tells about somebody else", address)
		}
		maps.Copy(c, about)
	}
	maps.Copy(c, signed)
	return nil
}

func (i *issuer) userinfo(ctx context.Context, address string, token *oauth2.Token) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	raw, _, err := i.do(req)
	if err == nil && !json.Valid(raw) {
		err = errors.New("the answer is no JSON")
	}
	return raw, err
}

func lastSegment(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return path.Base(u.Path)
}

// signedIn is who the claims of a sign-in are about: a person, for whom no program acts.
func (i *issuer) signedIn(c claims) (*Identity, error) {
	id := &Identity{Name: c.name(), issuer: i}
	id.Issuer = i.cfg.Issuer
	id.Subject = c.subject(i.subject)
	if id.Subject == "" {
		return nil, failed("subject", "there is no %s", i.subject)
	}
	id.readRights(c, nil)
	return id, nil
}
