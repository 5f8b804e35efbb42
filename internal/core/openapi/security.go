package openapi

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// SchemeKind is a way to authenticate.
type SchemeKind string

// The kinds. The credential is the key for APIKey, user:password for Basic, and an access
// token for Bearer, OAuth2 and OpenID. Other is not supported.
const (
	APIKey SchemeKind = "apiKey"
	Basic  SchemeKind = "basic"
	Bearer SchemeKind = "bearer"
	OAuth2 SchemeKind = "oauth2"
	OpenID SchemeKind = "openIdConnect"
	Other  SchemeKind = "other"
)

// Scheme is a security scheme of the document.
type Scheme struct {
	Name     string // its name in the document
	Kind     SchemeKind
	In       string   // APIKey: header, query or cookie
	Param    string   // APIKey: name of the header, query parameter or cookie
	TokenURL string   // OAuth2: token URL for client credentials; "" if not supported
	OpenID   string   // OpenID: discovery URL
	Scopes   []string // OAuth2, OpenID: required scopes
}

// readSchemes reads the security schemes.
func (d *Document) readSchemes(bad *problems) {
	at := "/components/securitySchemes"
	if d.format == swagger2 {
		at = "/securityDefinitions"
	}
	p, ok := d.walk(at)
	if !ok {
		return
	}
	all := d.node(p)
	for _, kid := range all.Members() {
		n, err := d.follow(kid)
		if err != nil || n.Kind != jsonschema.Object {
			bad.add(kid.Pointer(), reason(err, "is not an object; ignored"))
			continue
		}
		s := readScheme(n)
		s.Name = kid.Key
		if s.Kind == Other {
			bad.add(kid.Pointer(), "this kind of authentication is not supported")
		}
		d.schemes = append(d.schemes, s)
	}
}

func readScheme(n *node) Scheme {
	switch n.Str("type") {
	case "apiKey":
		if in := n.Str("in"); n.Str("name") != "" && (in == "header" || in == "query" || in == "cookie") {
			return Scheme{Kind: APIKey, In: in, Param: n.Str("name")}
		}
	case "basic":
		return Scheme{Kind: Basic}
	case "http":
		switch strings.ToLower(n.Str("scheme")) {
		case "basic":
			return Scheme{Kind: Basic}
		case "bearer":
			return Scheme{Kind: Bearer}
		}
	case "oauth2":
		s := Scheme{Kind: OAuth2, TokenURL: n.Get("flows").Get("clientCredentials").Str("tokenUrl")}
		if n.Str("flow") == "application" {
			s.TokenURL = n.Str("tokenUrl")
		}
		return s
	case "openIdConnect":
		return Scheme{Kind: OpenID, OpenID: n.Str("openIdConnectUrl")}
	}
	return Scheme{Kind: Other}
}

// Schemes returns the security schemes of the document.
func (d *Document) Schemes() []Scheme { return d.schemes }

// readSecurity reads the security requirements of an operation, or else of the document. It
// reports whether the operation is explicitly public.
func (d *Document) readSecurity(op *node, bad *problems) (alternatives [][]Scheme, public bool) {
	list := op.Get("security")
	if list == nil {
		list = d.security
	} else if list.Kind == jsonschema.Array && len(list.Kids) == 0 {
		return nil, true
	}
	for _, need := range list.Elements() {
		schemes := []Scheme{}
		known := true
		for _, m := range need.Members() {
			at := slices.IndexFunc(d.schemes, func(s Scheme) bool { return s.Name == m.Key })
			if at < 0 {
				bad.add(need.Pointer(), "no security scheme is called "+m.Key+"; this alternative is ignored")
				known = false
				break
			}
			s := d.schemes[at]
			s.Scopes = need.Strings(m.Key)
			schemes = append(schemes, s)
		}
		if known {
			alternatives = append(alternatives, schemes)
		}
	}
	return alternatives, false
}

// isSecret reports whether a parameter is the key of a scheme.
func (d *Document) isSecret(name, in string) bool {
	return slices.ContainsFunc(d.schemes, func(s Scheme) bool {
		return s.Kind == APIKey && s.In == in && (s.Param == name || in == "header" && strings.EqualFold(s.Param, name))
	})
}

// Apply adds a credential to the request. Curl shows the scheme's name instead.
func (r *Request) Apply(s Scheme, credential string) error {
	if strings.ContainsFunc(credential, isControl) {
		return fault.New(fault.BadConfig, "the credential for %s contains a control character", s.Name)
	}
	switch s.Kind {
	case APIKey:
		if s.In != "query" && !isToken(s.Param) {
			return fault.New(fault.BadConfig, "the key of %s cannot be sent in a %s named %q", s.Name, s.In, s.Param)
		}
		r.place(s, credential, "<"+s.Name+">")
	case Basic:
		r.place(s, "Basic "+base64.StdEncoding.EncodeToString([]byte(credential)), "Basic <"+s.Name+">")
	case Bearer, OAuth2, OpenID:
		r.place(s, "Bearer "+credential, "Bearer <"+s.Name+">")
	default:
		return fault.New(fault.BadConfig, "the scheme %s is of a kind that is not supported", s.Name)
	}
	return nil
}

// SetHeader sets a configured header. Curl shows its name instead of the value.
func (r *Request) SetHeader(name, value string) {
	r.Header.Set(name, value)
	r.shownHeader.Set(name, "<"+name+">")
}

// place adds the value to the request, and shown to what Curl prints.
func (r *Request) place(s Scheme, value, shown string) {
	for i, v := range []string{value, shown} {
		target := &r.URL
		header := r.Header
		if i == 1 {
			target = &r.shownURL
			header = r.shownHeader
		}
		switch {
		case s.Kind == APIKey && s.In == "query":
			*target = addQuery(*target, url.QueryEscape(s.Param)+"="+escape(v, false))
		case s.Kind == APIKey && s.In == "cookie":
			addCookie(header, s.Param+"="+escape(v, false))
		case s.Kind == APIKey:
			header.Set(s.Param, v)
		default:
			header.Set("Authorization", v)
		}
	}
}

func addQuery(target, pair string) string {
	if strings.IndexByte(target, '?') >= 0 {
		return target + "&" + pair
	}
	return target + "?" + pair
}

func addCookie(h http.Header, pair string) {
	if old := h.Get("Cookie"); old != "" {
		pair = old + "; " + pair
	}
	h.Set("Cookie", pair)
}
