package identity

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Identity is who a token is about, and what it is for.
type Identity struct {
	access.Identity
	Name     string // for people; decides nothing
	Service  bool   // a program on its own behalf
	Audience []string

	idToken string    // of a sign-in on a page; "": there was none
	idUntil time.Time // when it expires

	issuer    *issuer
	opaque    bool
	principal access.Principal
	denied    error // why it has no rights; nil: it has
	ungrouped bool  // because its groups are not known
}

// IDPrefix begins the id of everybody who comes with a token.
const IDPrefix = "u_"

// ID names the person or service, the same in every token.
func (id *Identity) ID() string {
	kind := "user"
	if id.Service {
		kind = "service"
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + id.Issuer + "\x00" + id.Subject))
	return IDPrefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// readSubject finds out whom the token is about: without a person it is the program itself.
func (id *Identity) readSubject(c claims) error {
	switch name := id.issuer.subject; {
	case id.Subject == "" && c[name] != nil:
		return failed("subject", "%s is empty or no text", name) // a program's token it is not: all people would be one
	case id.Subject == "" && name != "sub":
		return failed("subject", "there is no %s", name)
	}
	id.Service = id.Subject == "" || id.Subject == id.Client || c.text("idtyp") == "app"
	if id.Subject == "" {
		id.Subject = id.Client
	}
	if id.Subject == "" {
		return failed("subject", "it has neither sub nor a client")
	}
	return nil
}

// checkAudience refuses tokens for others.
func (id *Identity) checkAudience(resource string) error {
	for _, aud := range id.Audience {
		if id.issuer.accepts(aud, resource) {
			return nil
		}
	}
	if len(id.Audience) == 0 {
		return failed("audience", "it has no aud, so it may be for anybody")
	}
	return failed("audience", "it is for %.300s, not for %s; audiences can name others", strings.Join(id.Audience, ", "), resource)
}

// accepts tells whether tokens for the audience are good for the resource. A final slash is forgiven, and
// nothing else.
func (i *issuer) accepts(aud, resource string) bool {
	aud = strings.TrimSuffix(aud, "/")
	if len(i.cfg.Audiences) > 0 {
		return slices.ContainsFunc(i.cfg.Audiences, func(one string) bool { return aud == strings.TrimSuffix(one, "/") })
	}
	return aud != "" && (aud == strings.TrimSuffix(resource, "/") || aud == i.v.base)
}

// lacksScope is the error for a token without the scope that it needs.
type lacksScope string

func (s lacksScope) Error() string { return "the token lacks the scope " + string(s) }

// LacksScope tells whether a token with more scopes would do.
func LacksScope(err error) bool {
	var s lacksScope
	return errors.As(err, &s)
}

func (id *Identity) checkScope() error {
	if s := id.issuer.cfg.Scope; s != "" && !slices.Contains(id.Scopes, s) {
		return fault.New(fault.Forbidden, "%w", lacksScope(s)).WithHint("sign in again and allow it")
	}
	return nil
}

// principal is what the first mapping that fits gives.
func (i *issuer) principal(id *Identity, r *Report) (access.Principal, error) {
	for n := range i.cfg.Map {
		m := &i.cfg.Map[n]
		if lack := lacks(m, id); lack != "" {
			r.skipped(n, m, lack)
			continue
		}
		who := access.Principal{
			ID: id.ID(), Name: id.shown(), Kind: access.KindUser, Role: access.Role(m.Role), Profile: m.Profile, Token: &id.Identity,
		}
		if id.Service {
			who.Kind = access.KindService
		}
		if who.Role == "" {
			who.Role = access.Caller
		}
		if who.Profile == "" {
			who.Profile = config.DefaultProfile
			if who.Role != access.Caller {
				who.Profile = access.AnyProfile
			}
		}
		r.passed("rights", "by map[%d]: role %s, profile %s", n, who.Role, who.Profile)
		return who, nil
	}
	return access.Principal{}, fault.New(fault.Forbidden, "%s is signed in, but no mapping gives rights here", id.shown()).
		WithHint("ask an administrator to add one to map of the identity provider in the configuration")
}

func (id *Identity) shown() string {
	if id.Name != "" {
		return id.Name
	}
	return id.Subject
}

// lacks is the first of what the mapping sets that does not hold; "": all of it holds.
func lacks(m *config.Mapping, id *Identity) string {
	switch {
	case len(m.Groups) > 0 && !slices.ContainsFunc(m.Groups, func(g string) bool { return slices.Contains(id.Groups, g) }):
		return "groups"
	case len(m.Subjects) > 0 && !slices.Contains(m.Subjects, id.Subject):
		return "subjects"
	case m.Client != "" && m.Client != id.Client:
		return "client"
	case m.Scope != "" && !slices.Contains(id.Scopes, m.Scope):
		return "scope"
	}
	return ""
}
