package config

// Identity is an identity provider whose tokens let people and services in.
type Identity struct {
	Issuer     string         // exactly as its tokens say it
	Audiences  []string       // of its tokens; none: our own addresses
	Algorithms []string       // of its signatures; none: RS256, PS256, ES256, EdDSA
	Scope      string         // that a token needs; "": none
	Subject    string         // the claim that tells people apart; "": sub
	Groups     string         // the path of the claim with the groups; "": groups
	Introspect *Introspection // for tokens that are no JWTs; nil: these are refused
	Map        []Mapping      // who gets which rights; whoever fits none gets none
}

// Introspection is where a provider tells about opaque tokens (RFC 7662).
type Introspection struct {
	URL          string
	ClientID     string
	ClientSecret string
}

// Mapping gives rights to those who fit all of what is set.
type Mapping struct {
	Groups   []string // who is in one of these
	Subjects []string // who is one of these
	Client   string   // who uses this client
	Scope    string   // whose token has this scope
	Role     string   // "": caller
	Profile  string   // "": the default one
}
