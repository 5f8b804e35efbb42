package fit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// inline writes a root that refers to other schemas as one object; what cannot be merged goes into
// allOf.
func inline(root *node) ([]byte, error) {
	p := &inliner{root: root, index: jsonschema.NewIndex(root, jsonschema.DraftOf(root)), props: map[string][]string{}}
	p.visit(root)
	out := []byte(`{`)
	for _, m := range root.Kids {
		if !slices.Contains([]string{"$ref", "allOf", "properties", "required", "type"}, m.Key) {
			out = append(appendMember(out, m), ',')
		}
	}
	if len(p.rest) > 0 {
		out = append(append(append(out, `"allOf":[`...), strings.Join(p.rest, ",")...), "],"...)
	}
	out = append(out, `"type":"object","properties":{`...)
	for k, name := range p.names {
		if k > 0 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, name), ':')
		if list := p.props[name]; len(list) == 1 {
			out = append(out, list[0]...)
		} else {
			out = append(append(append(out, `{"allOf":[`...), strings.Join(list, ",")...), "]}"...)
		}
	}
	required, err := json.Marshal(append([]string{}, p.required...))
	if err != nil {
		return nil, err
	}
	return append(append(append(out, `},"required":`...), required...), '}'), nil
}

func appendMember(dst []byte, m *node) []byte {
	return append(append(rawjson.AppendString(dst, m.Key), ':'), m.Raw()...)
}

// inliner gathers what the schemas behind a root say.
type inliner struct {
	root     *node
	index    *jsonschema.Index
	seen     []*node
	names    []string
	props    map[string][]string
	required []string
	rest     []string // of the other schemas, what is neither a property nor required
}

func (p *inliner) visit(n *node) {
	if n == nil || n.Kind != jsonschema.Object || slices.Contains(p.seen, n) {
		return
	}
	p.seen = append(p.seen, n)
	var rest []string
	for _, m := range n.Kids {
		switch m.Key {
		case "properties":
			for _, c := range m.Members() {
				if p.props[c.Key] == nil {
					p.names = append(p.names, c.Key)
				}
				p.props[c.Key] = append(p.props[c.Key], string(c.Raw()))
			}
		case "required":
			for _, name := range n.Strings("required") {
				if !slices.Contains(p.required, name) {
					p.required = append(p.required, name)
				}
			}
		case "$ref":
			p.visit(p.index.Lookup(m, m.Text).Node)
		case "allOf":
			for _, e := range m.Elements() {
				p.visit(e)
			}
		case "type", "title", "description", "additionalProperties", "$defs", "definitions", "$id", "$anchor":
		default:
			rest = append(rest, string(appendMember(nil, m)))
		}
	}
	if n != p.root && len(rest) > 0 {
		p.rest = append(p.rest, "{"+strings.Join(rest, ",")+"}")
	}
}
