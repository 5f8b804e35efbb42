package openapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/fault"
)

// Server is where an operation can be reached.
type Server struct {
	URL         string // may hold {variables}, and may be relative
	Description string
	Variables   []Variable
}

// Variable is a part of a server's URL that can be chosen.
type Variable struct {
	Name    string
	Default string
	Enum    []string // the values it may have; empty: any
}

// Expand is the server's URL with the given values of variables, else their defaults.
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

// readServers reads the servers of an operation: its own, else its path's, else the document's.
func (d *Document) readServers(op *node, item *pathItem) []Server {
	root := place{raw: d.raw}
	if d.format == swagger2 {
		return []Server{d.swaggerServer(op, root)}
	}
	if list := serverList(op.get("servers")); len(list) > 0 {
		return list
	}
	ofDocument, _ := d.child(root, "servers")
	for _, at := range []place{item.servers, ofDocument} {
		if at.raw != nil {
			if list := serverList(d.node(at)); len(list) > 0 {
				return list
			}
		}
	}
	return []Server{{URL: "/"}}
}

func serverList(n *node) (out []Server) {
	for i := range n.list() {
		at := &n.kids[i]
		s := Server{URL: at.str("url"), Description: at.str("description")}
		if s.URL == "" {
			continue
		}
		for j := range at.get("variables").members() {
			v := &at.get("variables").kids[j]
			s.Variables = append(s.Variables, Variable{Name: v.key, Default: plainText(v.get("default")), Enum: plainTexts(v.get("enum"))})
		}
		out = append(out, s)
	}
	return out
}

// plainText is a scalar as people would write it: YAML makes a port a number.
func plainText(n *node) string {
	if n == nil || n.kind == arrayKind || n.kind == objectKind || n.kind == nullKind {
		return ""
	}
	return n.text
}

func plainTexts(n *node) (out []string) {
	for i := range n.list() {
		out = append(out, plainText(&n.kids[i]))
	}
	return out
}

func (d *Document) swaggerServer(op *node, root place) Server {
	text := func(key string) string {
		p, ok := d.child(root, key)
		if !ok {
			return ""
		}
		return plainText(d.node(p))
	}
	base := "/" + strings.Trim(text("basePath"), "/")
	host := text("host")
	if host == "" {
		return Server{URL: base}
	}
	schemes := op.strings("schemes")
	if p, ok := d.child(root, "schemes"); ok && len(schemes) == 0 {
		schemes = plainTexts(d.node(p))
	}
	scheme := "https"
	if len(schemes) > 0 && !slices.Contains(schemes, "https") && slices.Contains(schemes, "http") {
		scheme = "http"
	}
	return Server{URL: scheme + "://" + host + base}
}

// base is the URL that a request of the operation begins with.
func (p *plan) base(given string, opts Options) (*url.URL, error) {
	from := given
	if given == "" {
		var err error
		if from, err = p.servers[0].Expand(opts.Variables); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(from)
	if err == nil && given == "" && opts.URL != "" && !u.IsAbs() {
		var source *url.URL
		if source, err = url.Parse(opts.URL); err == nil {
			u = source.ResolveReference(u)
		}
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.New(fault.BadConfig, "%q is no http or https address", from).WithHint("give the base address of the API")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}
