package config

// OAuth is how tokens for a server are got.
type OAuth struct {
	As           string // whose token is sent: gateway, user, client, exchange or assertion
	Issuer       string // of its authorization server; "": as the server says
	ClientID     string // "": a metadata document, or registered there
	ClientSecret string
	PrivateKey   string   // as PEM, in place of a secret
	Scopes       []string // none: as the server says
	Resource     string   // that tokens are asked for; OmitResource: it is not said; "": as the server says
	PKCE         string   // AssumePKCE, or ""
}

// Whose token is sent to a server.
const (
	AsGateway   = "gateway"   // one for all, for which an administrator signs in
	AsUser      = "user"      // each caller's own
	AsClient    = "client"    // the gateway's, by client credentials
	AsExchange  = "exchange"  // one in exchange for the caller's
	AsAssertion = "assertion" // one that the identity provider vouches for
)

const (
	OmitResource = "omit"   // for servers that refuse the parameter
	AssumePKCE   = "assume" // for servers that have PKCE and do not say so
)

// readOAuth reads how tokens are got.
func (s *Server) readOAuth(d *decoder, at place, n *node) {
	o := &OAuth{}
	s.OAuth = o
	before := len(d.problems)
	d.object(at, n, []field{
		{"as", oneOf(&o.As, AsGateway, AsUser, AsClient, AsExchange, AsAssertion)},
		{"issuer", textInto(&o.Issuer, checkIssuer)},
		{"clientId", textInto(&o.ClientID, checkFilled)},
		{"clientSecret", textInto(&o.ClientSecret, checkFilled)},
		{"privateKey", textInto(&o.PrivateKey, checkFilled)},
		{"scopes", someInto(&o.Scopes, checkWord)},
		{"resource", textInto(&o.Resource, checkFilled)},
		{"pkce", oneOf(&o.PKCE, AssumePKCE)},
	})
	d.secret(o.ClientSecret)
	d.secret(o.PrivateKey)
	switch {
	case d.raw, len(d.problems) > before:
	case o.As == "":
		d.fail(at, "has no as; say whose token is sent: gateway, user, client, exchange or assertion")
	case o.ClientSecret != "" && o.PrivateKey != "":
		d.fail(at, "has clientSecret and privateKey; keep one")
	case o.ClientID == "" && (o.ClientSecret != "" || o.PrivateKey != "" || o.As == AsClient || o.As == AsExchange || o.As == AsAssertion):
		d.fail(at, "needs clientId")
	}
}

// checkExchange wants to know at which of several identity providers a server's client is: its secret is sent there.
func (c *draft) checkExchange(d *decoder) {
	for i := range c.Servers {
		if o := c.Servers[i].OAuth; !d.raw && o != nil && o.IsVague(c.Identity) {
			d.fail(c.serversAt[i], "needs issuer in oauth: there are several identity providers, and its client is known to one")
		}
	}
}

// IsVague tells whether it is not clear at which of the identity providers tokens are exchanged.
func (o *OAuth) IsVague(providers []Identity) bool {
	return o.As == AsExchange && o.Issuer == "" && len(providers) > 1
}

// encode returns it as the file has it.
func (o *OAuth) encode() *node {
	f := newEntry()
	f.text("as", o.As)
	f.text("issuer", o.Issuer)
	f.text("clientId", o.ClientID)
	f.text("clientSecret", o.ClientSecret)
	f.text("privateKey", o.PrivateKey)
	f.texts("scopes", o.Scopes)
	f.text("resource", o.Resource)
	f.text("pkce", o.PKCE)
	return f.node
}
