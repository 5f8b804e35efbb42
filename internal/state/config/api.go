package config

import (
	"encoding/base64"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// API is an HTTP API whose operations are tools.
type API struct {
	Spec       string                // its OpenAPI or Swagger document: a file, relative to the configuration, an address, or itself, see Inline
	Base       string                // address of the API; "": as the document says
	Tags       []string              // only operations with one of these tags; none: all
	Paths      []string              // only paths that match one of these globs
	Methods    []string              // only these methods, in upper case
	Operations []string              // only operationIds that match one of these globs
	ReadOnly   bool                  // only operations that change nothing
	Layout     string                // how arguments are laid out: flat or layered
	Auth       map[string]Credential // by the name of the document's security scheme
	Variables  map[string]string     // of the document's server addresses
	Allow      []netip.Prefix        // private networks that may be dialed
}

// Credential is for one security scheme.
type Credential struct {
	Value        string // an API key, or a bearer token
	User         string // of basic authentication
	Password     string
	ClientID     string // of OAuth 2 client credentials
	ClientSecret string
	TokenURL     string   // "": as the document says
	Scopes       []string // none: as the document says
}

// Remote reports whether the document is read from an address, where others can change it.
func (a *API) Remote() bool { return isAddress(a.Spec) }

// inlinePrefix begins a description that is part of the configuration, in base64.
const inlinePrefix = "data:;base64,"

// InlineSpec is a description as part of the configuration.
func InlineSpec(document []byte) string {
	return inlinePrefix + base64.StdEncoding.EncodeToString(document)
}

// Inline is the description that is part of the configuration; false: it is elsewhere.
func (a *API) Inline() ([]byte, bool) {
	text, ok := strings.CutPrefix(a.Spec, inlinePrefix)
	if !ok {
		return nil, false
	}
	document, err := base64.StdEncoding.DecodeString(text)
	return document, err == nil
}

// NeedsTokenURL reports whether the credential is exchanged for a token at an address that the
// configuration does not specify.
func (c Credential) NeedsTokenURL() bool {
	return c.Value == "" && c.ClientID != "" && c.TokenURL == ""
}

// api reads one entry of apis.
func (d *decoder) api(at place, e entry) Server {
	s := defaultServer(tool.ServerID(e.Key), e.Line)
	s.API = &API{Layout: "flat"}
	s.Idle = -1 // there is nothing to close
	if e.Value.Kind == doctree.Nothing || d.complete(at, e.Value, s.apiFields()) {
		s.API.check(d, at)
		if s.OAuth != nil && s.API.Base == "" && !d.raw {
			d.fail(at, "needs base in addition to oauth: tokens are for that address, and sent nowhere else")
		}
	}
	if _, inline := s.API.Inline(); !d.raw && !inline && !isAddress(s.API.Spec) {
		s.API.Spec = joined(d.dir, s.API.Spec)
	}
	for _, address := range []string{s.Proxy, s.API.Spec, s.API.Base} {
		d.secretsIn(address)
	}
	return s
}

// check reports what is missing. A remote document could have credentials sent to any host, so
// the configuration must say where they go.
func (a *API) check(d *decoder, at place) {
	switch {
	case a.Spec == "":
		d.fail(at, "needs spec: a file or an address")
	case a.Remote() && len(a.Auth) > 0 && a.Base == "":
		d.fail(at, "needs base in addition to auth, since spec is an address: %s; add base: https://…, the API's address", remoteCredentials)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Auth)) {
		if a.Remote() && a.Auth[name].NeedsTokenURL() {
			d.fail(at, "auth.%s needs tokenUrl, since spec is an address: %s; add tokenUrl: https://…", name, remoteCredentials)
		}
	}
}

const remoteCredentials = "a remote description must not choose where credentials go"

func isAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

func (s *Server) apiFields() []field {
	fields := []field{
		{"spec", textInto(&s.API.Spec, checkSpec)},
		{"base", textInto(&s.API.Base, urlLike("https://example.com"))},
		{"tags", someInto(&s.API.Tags, checkFilled)},
		{"paths", someInto(&s.API.Paths, checkGlob)},
		{"methods", s.API.readMethods},
		{"operations", someInto(&s.API.Operations, checkGlob)},
		{"readOnly", boolInto(&s.API.ReadOnly)},
		{"layout", oneOf(&s.API.Layout, "flat", "layered")},
		{"auth", s.API.readAuth},
		{"headers", s.readHeaders()},
		{"oauth", s.readOAuth},
		{"variables", mapInto(&s.API.Variables, nil, nil, nil)},
		{"allow", networksInto(&s.API.Allow)},
	}
	shared := []string{"timeout", "timeouts", "detach", "approve", "utf8", "disabled", "refresh", "proxy", "concurrency", "queue", "breaker"}
	for _, f := range s.fields() {
		if slices.Contains(shared, f.key) {
			fields = append(fields, f)
		}
	}
	return fields
}

// checkSpec accepts a file, an HTTP address, or the description itself.
func checkSpec(s string) string {
	if _, inline := (&API{Spec: s}).Inline(); !inline && strings.HasPrefix(s, inlinePrefix) {
		return "is not base64; write the description again"
	}
	if u, err := url.Parse(s); strings.Contains(s, "://") && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "") {
		return "expected a file, or an address such as https://example.com/openapi.json"
	}
	return checkFilled(s)
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

func (a *API) readMethods(d *decoder, at place, n *node) {
	someInto(&a.Methods, func(s string) string { return checkChoice(strings.ToUpper(s), methods) })(d, at, n)
	for i, m := range a.Methods {
		a.Methods[i] = strings.ToUpper(m)
	}
}

// readAuth reads credentials by the name of their scheme. Text is a key or a token.
func (a *API) readAuth(d *decoder, at place, n *node) {
	a.Auth = map[string]Credential{}
	d.each(at, n, func(inner place, e entry) {
		var c Credential
		before := len(d.problems)
		if e.Value.Kind == doctree.Mapping {
			d.object(inner, e.Value, c.fields())
		} else {
			textInto(&c.Value, checkFilled)(d, inner, e.Value)
		}
		if len(d.problems) == before && c.Value == "" && c.User == "" && c.ClientID == "" {
			d.fail(inner, "needs value, or user and password, or clientId and clientSecret")
		}
		for _, secret := range []string{c.Value, c.Password, c.ClientSecret} {
			d.secret(secret)
		}
		d.secretsIn(c.TokenURL)
		a.Auth[e.Key] = c
	})
}

func (c *Credential) fields() []field {
	return []field{
		{"value", textInto(&c.Value, checkFilled)},
		{"user", textInto(&c.User, checkFilled)},
		{"password", textInto(&c.Password, nil)},
		{"clientId", textInto(&c.ClientID, checkFilled)},
		{"clientSecret", textInto(&c.ClientSecret, checkFilled)},
		{"tokenUrl", textInto(&c.TokenURL, urlLike("https://example.com"))},
		{"scopes", listInto(&c.Scopes, checkFilled)},
	}
}
