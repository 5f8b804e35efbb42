package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Request is the HTTP request of one call.
type Request struct {
	Method string
	URL    string      // absolute; send it as it is
	Header http.Header // with Accept, and Content-Type for a body; to add others, use SetHeader and Apply
	Body   []byte      // nil: none

	shownURL    string      // URL without secrets
	shownHeader http.Header // headers without secrets
}

// Request builds the request for the arguments of a call. They cannot change where it goes.
func (op *Operation) Request(args json.RawMessage) (*Request, error) {
	p := op.plan()
	at := op.at
	if at == nil {
		_, err := op.doc.base(p)
		return nil, err
	}
	v, err := p.read(args, op.doc.opts.Layout)
	if err != nil {
		return nil, err
	}
	path, err := p.pathOf(v)
	if err != nil {
		return nil, err
	}
	query, err := p.queryOf(v, at.RawQuery)
	if err != nil {
		return nil, err
	}
	r := &Request{Method: op.Method, Header: http.Header{"Accept": {p.accept}}}
	if err := p.setHeaders(r.Header, v); err != nil {
		return nil, err
	}
	shown := query
	if at.RawQuery != "" {
		shown, err = p.queryOf(v, withoutValues(at.RawQuery))
		if err != nil {
			return nil, err
		}
	}
	r.setURL(at, path, query, shown)
	if p.body != nil {
		if err := r.setBody(p.body, v); err != nil {
			return nil, err
		}
	}
	r.shownHeader = r.Header.Clone()
	return r, nil
}

func (r *Request) setURL(base *url.URL, path, query, shown string) {
	rest := base.Host + strings.TrimRight(base.EscapedPath(), "/") + path
	r.shownURL = base.Scheme + "://" + rest + asQuery(shown)
	r.URL = r.shownURL
	if base.User != nil {
		rest = base.User.String() + "@" + rest
	}
	if base.User != nil || query != shown {
		r.URL = base.Scheme + "://" + rest + asQuery(query)
	}
}

func asQuery(pairs string) string {
	if pairs == "" {
		return ""
	}
	return "?" + pairs
}

// withoutValues hides the values of a base URL's query, which may contain a key.
func withoutValues(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, _, found := strings.Cut(pair, "="); found {
			pairs[i] = name + "=<" + name + ">"
		} else {
			pairs[i] = "<base>"
		}
	}
	return strings.Join(pairs, "&")
}

// pathOf fills in the path. No value can add or remove a segment.
func (p *plan) pathOf(v *values) (string, error) {
	var b strings.Builder
	for _, part := range p.path {
		if part.param == nil {
			b.WriteString(part.text)
			continue
		}
		q := part.param
		at := v.params[part.param]
		text := q.text(at, q.escapeInPath)
		n := jsonschema.ParseAt(at.raw, "")
		if text == "" || n.Kind == jsonschema.String && n.Text == "" {
			return "", badArgument(at.pointer, "%s is empty: the path needs it", q.arg)
		}
		if hasDotSegments(n) {
			return "", badArgument(at.pointer, "%s may not be or contain the path part . or ..", q.arg)
		}
		b.WriteString(text)
	}
	if hasDots(b.String()) {
		return "", badArgument("", "the arguments together make a path part . or ..")
	}
	return b.String(), nil
}

func (q *param) escapeInPath(s string) string {
	if q.many {
		return percent(s, unreserved+"/")
	}
	return percent(s, unreserved)
}

// hasDotSegments reports whether a value contains "." or ".." segments once a server has decoded it.
func hasDotSegments(n *node) bool {
	if n.Kind == jsonschema.String {
		return hasDots(n.Text)
	}
	for _, kid := range n.Kids {
		if hasDotSegments(kid) || hasDots(kid.Key) {
			return true
		}
	}
	return false
}

// text serializes a parameter of a path or header.
func (q *param) text(v value, escape func(string) string) string {
	n := jsonschema.ParseAt(v.raw, "")
	if q.media != "" {
		return escape(q.content(n))
	}
	return styled(q.name, n, q.how, escape)
}

// content serializes a value in the media type of its parameter.
func (q *param) content(n *node) string {
	if q.kind == textMedia && n.Kind == jsonschema.String {
		return n.Text
	}
	return string(n.Append(nil))
}

// queryOf builds the query, starting with those of the base and the path.
func (p *plan) queryOf(v *values, base string) (string, error) {
	var out []string
	for _, fixed := range []string{base, p.query} {
		if fixed != "" {
			out = append(out, fixed)
		}
	}
	for _, q := range p.params {
		if at, ok := v.params[q]; ok && q.in == "query" {
			list, err := p.pairs(q, at, func(s string) string { return escape(s, q.how.reserved) })
			if err != nil {
				return "", err
			}
			out = append(out, list...)
		}
	}
	return strings.Join(out, "&"), nil
}

// pairs serializes a parameter of a query or cookie. An exploded object adds its own names,
// none of which may be that of a secret.
func (p *plan) pairs(q *param, v value, escape func(string) string) ([]string, error) {
	n := jsonschema.ParseAt(v.raw, "")
	if q.media != "" {
		return []string{percent(q.name, unreserved) + "=" + escape(q.content(n))}, nil
	}
	if q.how.explode && q.how.style != "deepObject" {
		for _, m := range n.Members() {
			if p.isSecret(m.Key, q.in) {
				return nil, badArgument(v.pointer+"/"+jsonschema.EscapeToken(m.Key), "%s is set by the configuration, not by arguments", m.Key)
			}
		}
	}
	list, ok := pairs(q.name, n, q.how, escape)
	if !ok {
		return nil, badArgument(v.pointer, "%s is too large to be written into a %s", q.arg, q.in)
	}
	return list, nil
}

// setHeaders sets the header and cookie parameters.
func (p *plan) setHeaders(h http.Header, v *values) error {
	for _, q := range p.params {
		at, ok := v.params[q]
		if !ok {
			continue
		}
		switch q.in {
		case "header":
			text := q.text(at, func(s string) string { return s })
			if strings.ContainsFunc(text, isControl) {
				return badArgument(at.pointer, "%s contains a control character, which no header may", q.arg)
			}
			h.Set(q.name, text)
		case "cookie":
			list, err := p.pairs(q, at, escapeCookie)
			if err != nil {
				return err
			}
			for _, pair := range list {
				addCookie(h, pair)
			}
		}
	}
	return nil
}
