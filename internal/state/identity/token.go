package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Step is one check of a token, or one thing that was found in it.
type Step struct {
	Name    string
	Said    string // what was found
	Skipped bool   // a mapping that does not fit
	Err     error  // why the token is refused; nil: it passed
}

// Report is what Explain has found out, in the order of the checks.
type Report struct {
	Steps []Step
	Who   access.Principal // zero: refused
}

// Refuse notes why the token is refused.
func (r *Report) Refuse(step string, err error) {
	r.Steps = append(r.Steps, Step{Name: step, Err: err})
	r.Who = access.Principal{}
}

// passed notes that the token has passed a check.
func (r *Report) passed(name, said string, args ...any) {
	if r != nil {
		r.Steps = append(r.Steps, Step{Name: name, Said: fmt.Sprintf(said, args...)})
	}
}

// skipped notes that a mapping does not fit, because of what it says about groups, subjects, client or scope.
func (r *Report) skipped(n int, m *config.Mapping, lack string) {
	if r == nil {
		return
	}
	needs := map[string]string{
		"groups": "one of the groups " + strings.Join(m.Groups, ", "), "subjects": "one of the subjects " + strings.Join(m.Subjects, ", "),
		"client": "the client " + m.Client, "scope": "the scope " + m.Scope,
	}
	r.Steps = append(r.Steps, Step{Name: fmt.Sprintf("map[%d]", n), Said: "does not fit: it needs " + needs[lack], Skipped: true})
}

// Explain checks a token for a profile, "" is its own, and tells what each check has found. Nothing of it is remembered.
func (v *Verifier) Explain(ctx context.Context, token, profile string) *Report {
	resource := v.base
	if profile != "" {
		resource += "/" + url.PathEscape(profile)
	}
	r := &Report{}
	id, err := v.check(ctx, token, r)
	step := "provider"
	if err == nil {
		err = id.checkAudience(resource)
		step = "audience"
		if err == nil {
			r.passed("audience", "%s", strings.Join(id.Audience, ", "))
			err = id.checkScope()
			step = "scope"
		}
	}
	if err == nil {
		r.passed("scope", "%s", strings.Join(id.Scopes, " "))
		err = id.denied
		step = "rights"
	}
	if err == nil && profile != "" {
		_, err = id.principal.ProfileFor(profile)
		step = "profile"
	}
	var failed *failedCheck
	if errors.As(err, &failed) {
		step = failed.step
		err = errors.New(failed.said)
	}
	if err != nil {
		r.Refuse(step, err)
	} else {
		r.Who = id.principal
	}
	return r
}

// failedCheck says which check a token failed.
type failedCheck struct {
	step string
	said string
}

func (f *failedCheck) Error() string { return f.step + ": " + f.said }

func failed(step, said string, args ...any) error {
	return &failedCheck{step, fmt.Sprintf(said, args...)}
}

// isOpaque tells whether a token means something to its provider alone.
func isOpaque(token string) bool { return strings.Count(token, ".") != 2 }

// check checks everything but what the token is for.
func (v *Verifier) check(ctx context.Context, token string, r *Report) (*Identity, error) {
	switch {
	case len(token) > maxToken:
		return nil, failed("size", "longer than %d bytes", maxToken)
	case isOpaque(token):
		return v.introspect(ctx, token, r)
	}
	signed, err := jose.ParseSignedCompact(token, known)
	if err != nil {
		return nil, failed("form", "it cannot be read as a signed JWT: %s", strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	c, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return nil, failed("form", "%v", err)
	}
	iss := v.issuer(c.text("iss"))
	if iss == nil {
		return nil, failed("issuer", "%.200q is not the issuer of a provider in identity", c.text("iss"))
	}
	r.passed("issuer", "%s", iss.cfg.Issuer)
	if err := iss.checkHeader(&signed.Signatures[0].Protected, r); err != nil {
		return nil, err
	}
	if err := iss.checkSignature(ctx, signed, r); err != nil {
		return nil, err
	}
	return iss.identify(c, v.now(), r)
}

// known are the algorithms that can be configured. None of them uses a shared secret.
var known = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// checkHeader checks what the token says about itself. Keys and addresses of keys in it are ignored.
func (i *issuer) checkHeader(h *jose.Header, r *Report) error {
	if !slices.Contains(i.algorithms, jose.SignatureAlgorithm(h.Algorithm)) {
		return failed("algorithm", "%q is not one of algorithms", h.Algorithm)
	}
	if h.ExtraHeaders["crit"] != nil {
		return failed("header", "it demands extensions (crit)")
	}
	typ, _ := h.ExtraHeaders[jose.HeaderType].(string)
	switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
	case "", "jwt", "at+jwt":
	default:
		return failed("type", "%.100q is not an access token", typ)
	}
	if _, ok := h.ExtraHeaders[jose.HeaderType].(string); !ok && h.ExtraHeaders[jose.HeaderType] != nil {
		return failed("type", "it is not text")
	}
	r.passed("algorithm", "%s", h.Algorithm)
	return nil
}

func (i *issuer) checkSignature(ctx context.Context, signed *jose.JSONWebSignature, r *Report) error {
	h := &signed.Signatures[0].Protected
	key, err := i.keys.find(ctx, h.KeyID, jose.SignatureAlgorithm(h.Algorithm))
	if err != nil {
		return err
	}
	if _, err := signed.Verify(key.Key); err != nil {
		return failed("signature", "it was not made with the key %.100q", h.KeyID)
	}
	r.passed("signature", "made with the key %q", key.KeyID)
	return nil
}

// checkTimes returns when claims that are valid now expire.
func checkTimes(c claims, now time.Time) (time.Time, error) {
	expires, err := c.time("exp")
	switch {
	case err != nil:
		return expires, failed("expiry", "%v", err)
	case expires.IsZero():
		return expires, failed("expiry", "it has no exp, and would never expire")
	case !now.Before(expires.Add(skew)):
		return expires, failed("expiry", "it expired %s ago", now.Sub(expires).Round(time.Second))
	}
	for _, name := range []string{"nbf", "iat"} {
		at, err := c.time(name)
		if err != nil {
			return expires, failed(name, "%v", err)
		}
		if now.Add(skew).Before(at) {
			return expires, failed(name, "it is valid in %s only; is the clock of this machine right?", at.Sub(now).Round(time.Second))
		}
	}
	return expires, nil
}

// identify checks the claims and returns who they are about.
func (i *issuer) identify(c claims, now time.Time, r *Report) (*Identity, error) {
	expires, err := checkTimes(c, now)
	if err != nil {
		return nil, err
	}
	r.passed("expiry", "in %s", expires.Sub(now).Round(time.Second))
	if c["at_hash"] != nil || c["c_hash"] != nil || strings.EqualFold(c.text("typ"), "ID") {
		return nil, failed("type", "it is an ID token, which only says who signed in; an access token is needed")
	}
	id := &Identity{Name: c.name(), Audience: c.texts("aud"), issuer: i}
	id.Identity = access.Identity{
		Issuer: i.cfg.Issuer, Subject: c.subject(i.subject), Client: c.client(), Scopes: c.scopes(), Expires: expires.Add(skew),
	}
	if err := id.readSubject(c); err != nil {
		return nil, err
	}
	kind := "a person"
	if id.Service {
		kind = "a service"
	}
	r.passed("subject", "%s, %s", id.Subject, kind)
	if id.Client != "" {
		r.passed("client", "%s", id.Client)
	}
	id.readRights(c, r)
	return id, nil
}

// readRights finds out the groups and what they give.
func (id *Identity) readRights(c claims, r *Report) {
	id.Groups, id.denied = c.groups(id.issuer.groups)
	if id.denied != nil {
		id.ungrouped = true
		return
	}
	switch {
	case r == nil:
	case len(id.Groups) > 0:
		r.passed("groups", "%s", strings.Join(id.Groups, ", "))
	default:
		r.passed("groups", "none in %s; the claims are %.500s", id.issuer.groups, strings.Join(slices.Sorted(maps.Keys(c)), ", "))
	}
	id.principal, id.denied = id.issuer.principal(id, r)
}

// claims are what a token says.
type claims map[string]json.RawMessage

func parseClaims(raw []byte) (claims, error) {
	var c claims
	if err := json.Unmarshal(raw, &c); err != nil || c == nil {
		return nil, errors.New("the claims are not a JSON object")
	}
	return c, nil
}
