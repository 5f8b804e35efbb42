package config

import (
	"net/netip"
	"slices"
	"strings"
)

// Identity is an identity provider whose tokens let people and services in.
type Identity struct {
	Issuer     string         // exactly as its tokens say it
	Audiences  []string       // of its tokens; none: our own addresses
	Algorithms []string       // of its signatures; none: RS256, PS256, ES256, EdDSA
	Scope      string         // that a token needs; "": none
	Subject    string         // the claim that tells people apart; "": sub
	Groups     string         // the path of the claim with the groups; "": groups
	Introspect *Introspection // for tokens that are no JWTs; nil: these are refused
	Login      *Login         // for people who sign in on a page; nil: nobody can
	Allow      []netip.Prefix // networks that are not public, and in which hosts may be that the provider names
	Map        []Mapping      // who gets which rights; whoever fits none gets none
}

// Introspection is where a provider tells about opaque tokens (RFC 7662).
type Introspection struct {
	URL          string
	ClientID     string
	ClientSecret string
}

// Login is how people sign in on a page.
type Login struct {
	Name         string // what people call the provider; "": its host
	ClientID     string
	ClientSecret string
	Scopes       []string // asked for; none: openid, profile, email
	Userinfo     []string // addresses that tell more claims, for providers whose ID tokens have too few, or which have none
}

// Mapping gives rights to those who fit all of what is set.
type Mapping struct {
	Groups   []string // who is in one of these
	Subjects []string // who is one of these
	Client   string   // who uses this client
	Scope    string   // whose token has this scope
	Role     string   // "": caller
	Profile  string   // "": the default one, or all of them if the role is not caller
}

// checkPublic wants an address of our own where tokens are taken: they are issued for it.
func (c *draft) checkPublic(d *decoder) {
	if len(c.Identity) == 0 || d.raw {
		return
	}
	if c.PublicURL == "" {
		d.fail(place{Line: 1}, "identity needs publicURL: the address under which clients reach the gateway, such as https://tools.example.com")
	} else if wrong := checkIssuer(c.PublicURL); wrong != "" {
		d.fail(place{Line: 1}, "publicURL: %s, because tokens are sent there", wrong)
	}
}

// algorithms are the signatures that can be accepted. None of them uses a shared secret.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// readIdentity reads the identity providers.
func (c *draft) readIdentity(d *decoder, at place, n *node) {
	d.items(at, n, func(inner place, item *node) {
		var i Identity
		whole := d.complete(inner, item, c.identityFields(&i))
		switch {
		case d.raw || !whole:
		case i.Issuer == "":
			d.fail(inner, "has no issuer; add it exactly as in the iss claim of its tokens, such as https://login.example.com")
		case slices.ContainsFunc(c.Identity, func(other Identity) bool { return other.Issuer == i.Issuer }):
			d.fail(inner, "is the second entry for %s; merge the two", i.Issuer)
		case len(i.Map) == 0:
			d.fail(inner, "lets nobody in; add map, such as map: [{groups: [eng], profile: default}]")
		case i.Login != nil && i.Scope == "" && slices.Contains(i.Audiences, i.Login.ClientID):
			d.fail(inner, "has the clientId of login in audiences, so that ID tokens would come in as access tokens; "+
				"add scope, which they lack, or use another client for login")
		}
		c.Identity = append(c.Identity, i)
	})
}

func (c *draft) identityFields(i *Identity) []field {
	return []field{
		{"issuer", textInto(&i.Issuer, checkIssuer)},
		{"audiences", someInto(&i.Audiences, checkFilled)},
		{"algorithms", someInto(&i.Algorithms, func(s string) string { return checkChoice(s, algorithms) })},
		{"scope", textInto(&i.Scope, checkWord)},
		{"subject", textInto(&i.Subject, checkFilled)},
		{"groups", textInto(&i.Groups, checkFilled)},
		{"introspect", i.readIntrospect},
		{"login", i.readLogin},
		{"allow", networksInto(&i.Allow)},
		{"map", func(d *decoder, at place, n *node) {
			d.items(at, n, func(inner place, item *node) {
				var m Mapping
				d.object(inner, item, c.mappingFields(&m))
				i.Map = append(i.Map, m)
			})
		}},
	}
}

func (i *Identity) readIntrospect(d *decoder, at place, n *node) {
	i.Introspect = &Introspection{}
	d.object(at, n, []field{
		{"url", textInto(&i.Introspect.URL, urlLike("https://login.example.com/introspect"))},
		{"clientId", textInto(&i.Introspect.ClientID, checkFilled)},
		{"clientSecret", textInto(&i.Introspect.ClientSecret, checkFilled)},
	})
	if !d.raw && (i.Introspect.URL == "" || i.Introspect.ClientID == "") {
		d.fail(at, "needs url and clientId")
	}
	d.secret(i.Introspect.ClientSecret)
}

func (i *Identity) readLogin(d *decoder, at place, n *node) {
	l := &Login{}
	i.Login = l
	d.object(at, n, []field{
		{"name", textInto(&l.Name, checkFilled)},
		{"clientId", textInto(&l.ClientID, checkFilled)},
		{"clientSecret", textInto(&l.ClientSecret, checkFilled)},
		{"scopes", someInto(&l.Scopes, checkWord)},
		{"userinfo", someInto(&l.Userinfo, checkHTTPS)},
	})
	switch {
	case d.raw:
	case l.ClientID == "":
		d.fail(at, "needs clientId")
	case len(l.Scopes) > 0 && !slices.Contains(l.Scopes, "openid") && len(l.Userinfo) == 0:
		d.fail(at, "needs openid in scopes, or userinfo: without either, nobody knows who signed in")
	}
	d.secret(l.ClientSecret)
}

func (c *draft) mappingFields(m *Mapping) []field {
	return []field{
		{"groups", someInto(&m.Groups, checkFilled)},
		{"subjects", someInto(&m.Subjects, checkFilled)},
		{"client", textInto(&m.Client, checkFilled)},
		{"scope", textInto(&m.Scope, checkWord)},
		{"role", oneOf(&m.Role, "caller", "viewer", "admin")},
		{"profile", c.profileInto(&m.Profile)},
	}
}

// checkIssuer wants the address of somebody whose word is taken.
func checkIssuer(s string) string {
	if wrong := checkHTTPS(s); wrong != "" {
		return wrong
	}
	if strings.ContainsAny(s, "?#") {
		return "expected an address with https and without a query"
	}
	return ""
}

// checkHTTPS wants https, except on this machine: whoever can change the answers of a provider can be anybody.
func checkHTTPS(s string) string {
	if wrong := urlLike("https://login.example.com")(s); wrong != "" {
		return wrong
	}
	for _, local := range []string{"http://127.0.0.1", "http://localhost", "http://[::1]"} {
		rest, ok := strings.CutPrefix(s, local)
		if ok && (rest == "" || rest[0] == ':' || rest[0] == '/') {
			return ""
		}
	}
	if !strings.HasPrefix(s, "https://") {
		return "expected an address with https"
	}
	return ""
}

func checkWord(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n") {
		return "expected one word"
	}
	return ""
}
