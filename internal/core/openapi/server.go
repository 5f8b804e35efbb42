package openapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Server is a server of the API.
type Server struct {
	URL         string // may contain {variables}, and may be relative
	Description string
	Variables   []Variable
}

// Variable is a variable in a server's URL.
type Variable struct {
	Name    string
	Default string
	Enum    []string // allowed values; empty: any
}

// Expand returns the server's URL with the given values of variables, or their defaults.
func (s Server) Expand(values map[string]string) (string, error) {
	out := s.URL
	for _, v := range s.Variables {
		value, given := values[v.Name]
		if !given {
			value = v.Default
		} else if len(v.Enum) > 0 && !slices.Contains(v.Enum, value) {
			return "", fault.New(fault.BadConfig, "server %s: %s may not be %q", s.URL, v.Name, value).
				WithHint("use one of %s", strings.Join(v.Enum, ", "))
		}
		out = strings.ReplaceAll(out, "{"+v.Name+"}", value)
	}
	if i := strings.IndexByte(out, '{'); i >= 0 {
		return "", fault.New(fault.BadConfig, "server %s: no variable stands for %s", s.URL, out[i:])
	}
	return out, nil
}

// sameServer reports whether two operations obviously have the same server.
func (p *plan) sameServer(q *plan) bool {
	a := p.servers[0]
	b := q.servers[0]
	return p.own == q.own && a.URL == b.URL && len(a.Variables) == 0 && len(b.Variables) == 0
}

func serverList(n *node) (out []Server) {
	for _, at := range n.Elements() {
		s := Server{URL: at.Str("url"), Description: at.Str("description")}
		if s.URL == "" {
			continue
		}
		for _, v := range at.Get("variables").Members() {
			s.Variables = append(s.Variables, Variable{Name: v.Key, Default: plainText(v.Get("default")), Enum: plainTexts(v.Get("enum"))})
		}
		out = append(out, s)
	}
	return out
}

// plainText returns a scalar as text: YAML reads a port as a number.
func plainText(n *node) string {
	if n == nil || n.Kind == jsonschema.Array || n.Kind == jsonschema.Object || n.Kind == jsonschema.Null {
		return ""
	}
	return n.Text
}

func plainTexts(n *node) (out []string) {
	for _, kid := range n.Elements() {
		out = append(out, plainText(kid))
	}
	return out
}

// base is the URL prefix of an operation's requests. Options.Base replaces the document's
// servers, and URLs relative to those become relative to it. A server on another host that an
// operation or path names itself is another service and is used as it is.
func (d *Document) base(p *plan) (*url.URL, error) {
	if d.opts.Base != "" && !p.own {
		return address(d.opts.Base)
	}
	at, relative, err := d.locate(p.servers[0])
	if err != nil {
		return nil, err
	}
	if d.opts.Base == "" {
		return address(at.String())
	}
	base, err := address(d.opts.Base)
	if err != nil {
		return nil, err
	}
	for _, s := range d.servers {
		if from, _, err := d.locate(s); err == nil && (relative || origin.Same(from, at)) {
			return beside(base, from, at), nil
		}
	}
	return address(at.String())
}

// locate returns the URL of a server, and whether it was relative to the document.
func (d *Document) locate(s Server) (at *url.URL, relative bool, err error) {
	text, err := s.Expand(d.opts.Variables)
	if err != nil {
		return nil, false, err
	}
	at, err = url.Parse(text)
	if err != nil {
		return nil, false, noAddress(text)
	}
	relative = !at.IsAbs()
	if relative && d.opts.URL != "" {
		source, err := url.Parse(d.opts.URL)
		if err != nil {
			return nil, false, noAddress(d.opts.URL)
		}
		at = source.ResolveReference(at)
	}
	return at, relative, nil
}

// address parses a URL that requests can be sent to.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, noAddress(text)
	}
	u.Fragment = ""
	u.RawFragment = ""
	return u, nil
}

func noAddress(text string) error {
	return fault.New(fault.BadConfig, "%q is not an http or https address", text).WithHint("give the base address of the API")
}

// beside returns the URL whose relation to base is that of to to from: if https://a/v1 becomes
// https://a/v2, then https://b/x/v1 becomes https://b/x/v2.
func beside(base, from, to *url.URL) *url.URL {
	steps := func(u *url.URL) []string {
		return strings.FieldsFunc(u.EscapedPath(), func(r rune) bool { return r == '/' })
	}
	up := steps(from)
	down := steps(to)
	path := steps(base)
	for len(up) > 0 && len(down) > 0 && up[0] == down[0] {
		up = up[1:]
		down = down[1:]
	}
	path = append(path[:max(0, len(path)-len(up))], down...)
	out := *base
	out.Path = "/"
	out.RawPath = ""
	return out.JoinPath(path...)
}
