package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Broker is the gateway as an authorization server of its own, for clients that the identity provider does not know.
type Broker struct {
	Clients      []string // patterns of the addresses by which clients name themselves; see MatchClient
	Registration bool     // clients may register themselves as well
}

// AuthorizationServers are where clients get tokens for us. With the broker, those providers are left out that it signs
// people in at: they know no clients.
func (c *Config) AuthorizationServers() (all []string) {
	if c.Broker != nil {
		all = append(all, strings.TrimRight(c.PublicURL, "/"))
	}
	for i := range c.Identity {
		if c.Broker == nil || c.Identity[i].Login == nil {
			all = append(all, c.Identity[i].Issuer)
		}
	}
	return all
}

func (c *draft) readBroker(d *decoder, at place, n *node) {
	c.Broker = &Broker{}
	c.brokerAt = at
	fields := []field{
		{"clients", someInto(&c.Broker.Clients, checkClient)},
		{"registration", boolInto(&c.Broker.Registration)},
	}
	if d.complete(at, n, fields) && len(c.Broker.Clients) == 0 && !c.Broker.Registration {
		d.fail(at, `lets no client in; add clients, such as clients: ["https://claude.ai/**"]`)
	}
}

// checkBroker wants a provider at which people sign in. That there is a publicURL, identity wants already.
func (c *draft) checkBroker(d *decoder) {
	if c.Broker == nil || d.raw {
		return
	}
	if !slices.ContainsFunc(c.Identity, func(i Identity) bool { return i.Login != nil }) {
		d.fail(c.brokerAt, "needs an identity provider at which people sign in; add login to an entry of identity")
	}
}

// checkClient wants https, except on this machine, and a host that is mostly spelled out.
func checkClient(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || checkIssuer(s) != "" || u.User != nil || u.Path == "" || strings.ContainsAny(s, "?#"):
		return "expected a pattern of addresses with https and a path, such as https://claude.ai/**"
	case strings.Contains(strings.TrimPrefix(u.Host, "*."), "*"):
		return "has * within the host; it can only begin it, such as https://*.example.com/**"
	}
	return ""
}

// MatchClient tells whether an address fits one of the patterns, in which * is anything without a slash, and ** is
// anything.
func (b *Broker) MatchClient(address string) bool {
	return slices.ContainsFunc(b.Clients, func(pattern string) bool {
		text := strings.NewReplacer(`\*\*`, `.*`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(pattern))
		return regexp.MustCompile(`^` + text + `$`).MatchString(address)
	})
}
