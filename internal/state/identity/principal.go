package identity

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"slices"
	"strings"

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

	issuer    *issuer
	opaque    bool
	principal access.Principal
	denied    error // why it has no rights; nil: it has
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
		return failed("subject", "there is none")
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
	return failed("audience", "%.300q, but %s is asked for", id.Audience, resource)
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

// errScope is in the error for a token whose scopes do not suffice.
var errScope = errors.New("insufficient scope")

// LacksScope tells whether a token with more scopes would do.
func LacksScope(err error) bool { return errors.Is(err, errScope) }

func (id *Identity) checkScope() error {
	if s := id.issuer.cfg.Scope; s != "" && !slices.Contains(id.Scopes, s) {
		return fault.New(fault.Forbidden, "the token lacks the scope %s: %w", s, errScope).WithHint("sign in again, and allow it")
	}
	return nil
}

// principal is what the first mapping that fits gives.
func (i *issuer) principal(id *Identity, r *Report) (access.Principal, error) {
	for n := range i.cfg.Map {
		m := &i.cfg.Map[n]
		if !fits(m, id) {
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
		r.passed("rights", "map[%d]: %s, profile %s", n, who.Role, who.Profile)
		return who, nil
	}
	return access.Principal{}, fault.New(fault.Forbidden, "%s is signed in, but is given no rights here", id.shown()).
		WithHint("ask an administrator to add a mapping to identity in the configuration")
}

func (id *Identity) shown() string {
	if id.Name != "" {
		return id.Name
	}
	return id.Subject
}

// fits tells whether all of what the mapping sets holds.
func fits(m *config.Mapping, id *Identity) bool {
	inGroup := len(m.Groups) == 0 || slices.ContainsFunc(m.Groups, func(g string) bool { return slices.Contains(id.Groups, g) })
	return inGroup && (len(m.Subjects) == 0 || slices.Contains(m.Subjects, id.Subject)) &&
		(m.Client == "" || m.Client == id.Client) && (m.Scope == "" || slices.Contains(id.Scopes, m.Scope))
}
