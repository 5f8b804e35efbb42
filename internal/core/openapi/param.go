package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// param is a parameter of an operation.
type param struct {
	name, in   string
	arg        string // argument name in the flat layout
	required   bool
	many       bool   // slashes in a path value separate segments, as in {+name}
	media      string // media type for parameters with content; "": by style
	kind       mediaKind
	how        encoding
	schema     *node // nil: anything
	describe   string
	deprecated bool
}

// encoding is how a value is serialized.
type encoding struct {
	style    string
	explode  bool
	reserved bool   // keep URL delimiters unescaped
	media    string // media type of a form part; "": by value
	given    bool   // specified in the document, not the default
}

// styles are the styles allowed in each place, default first.
var styles = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "deepObject", "tabDelimited"},
	"header": {"simple"},
	"cookie": {"form"},
}

// ownHeader are the headers that no argument may set. The first three are named by the
// standard.
var ownHeader = map[string]bool{
	"Accept": true, "Content-Type": true, "Authorization": true,
	"Host": true, "Cookie": true, "Content-Length": true, "Transfer-Encoding": true,
	"Connection": true, "Upgrade": true, "Te": true, "Trailer": true, "Keep-Alive": true, "Proxy-Authorization": true, "Expect": true,
}

// readParams reads the parameters of the path and of the operation, which override those of
// the path. It returns false if it is unclear what to send.
func (d *Document) readParams(lists []*node, bad *problems) (params []*param, ok bool) {
	at := map[string]int{}
	for _, list := range lists {
		if list != nil && list.Kind != jsonschema.Array {
			bad.add(list.Pointer(), "is not a list; ignored")
		}
		for _, site := range list.Elements() {
			n, err := d.follow(site)
			if err != nil {
				bad.add(site.Pointer(), err.Error()+"; the operation is left out")
				return nil, false
			}
			p := d.readParam(n, site, bad)
			if p == nil {
				continue
			}
			if i, known := at[p.key()]; known {
				params[i] = p
				continue
			}
			at[p.key()] = len(params)
			params = append(params, p)
		}
	}
	return params, true
}

// key identifies a parameter: header names are case-insensitive.
func (p *param) key() string {
	if p.in == "header" {
		return "header " + strings.ToLower(p.name)
	}
	return p.in + " " + p.name
}

// readParam reads one parameter; nil if it cannot be sent.
func (d *Document) readParam(n, at *node, bad *problems) *param {
	p := &param{
		name:       n.Str("name"),
		in:         n.Str("in"),
		required:   n.Get("required").IsTrue(),
		schema:     n.Get("schema"),
		describe:   n.Str("description"),
		deprecated: n.Get("deprecated").IsTrue(),
	}
	header := http.CanonicalHeaderKey(p.name)
	switch {
	case p.name == "" || styles[p.in] == nil:
		bad.add(at.Pointer(), "has no name, or an unknown location; ignored")
		return nil
	case p.in == "header" && (header == "Accept" || header == "Content-Type" || header == "Authorization"):
		return nil
	case p.in == "header" && (ownHeader[header] || !isToken(p.name)), p.in == "cookie" && !isToken(p.name):
		bad.add(at.Pointer(), "arguments cannot set this "+p.in+"; ignored")
		return nil
	}
	if p.in == "path" && !p.required {
		bad.add(at.Pointer(), "is in the path, so it is required")
		p.required = true
	}
	if content := n.Get("content").Members(); len(content) > 0 {
		media := pickMedia(content)
		p.media = media.Key
		p.kind = d.kindOf(media)
		p.schema = media.Get("schema")
		return p
	}
	p.how = readEncoding(n, p.in, bad)
	return p
}

// readEncoding reads style, explode and allowReserved with the defaults of the place.
func readEncoding(n *node, in string, bad *problems) encoding {
	e := encoding{style: n.Str("style"), reserved: n.Get("allowReserved").IsTrue() && in == "query", given: true}
	if !slices.Contains(styles[in], e.style) {
		if e.style != "" {
			bad.add(n.Get("style").Pointer(), "is not a style for this location; "+styles[in][0]+" is used")
		}
		e.style = styles[in][0]
	}
	e.explode = e.style == "form"
	if flag := n.Get("explode"); flag != nil {
		e.explode = n.Get("explode").IsTrue()
	}
	return e
}

// isToken reports whether a name is a valid header name.
func isToken(s string) bool {
	const special = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') && strings.IndexByte(special, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
