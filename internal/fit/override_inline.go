package fit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// inline writes a root that refers to other schemas as one object: their properties and
// required names together, what else they say as allOf.
func inline(t *tape) ([]byte, error) {
	p := &inliner{t: t, places: newPlaces(t, draftOf(t))}
	p.visit(0)
	out := []byte(`{`)
	for m := t.first(0); m >= 0; m = t.after(m) {
		if name := t.name(m); name != "$ref" && name != "allOf" && name != "properties" && name != "required" && name != "type" {
			out = append(append(append(append(out, t.data[t.tokens[m].key:t.tokens[m].keyEnd]...), ':'), t.raw(m)...), ',')
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

// inliner gathers what the schemas behind a root say.
type inliner struct {
	t        *tape
	places   *places
	seen     []int32
	names    []string
	props    map[string][]string
	required []string
	rest     []string // of the other schemas, what is neither a property nor required
}

func (p *inliner) visit(i int32) {
	if slices.Contains(p.seen, i) || p.t.tokens[i].kind != isObject {
		return
	}
	p.seen = append(p.seen, i)
	if p.props == nil {
		p.props = map[string][]string{}
	}
	var rest []string
	for m := p.t.first(i); m >= 0; m = p.t.after(m) {
		switch name := p.t.name(m); name {
		case "properties":
			for c := p.t.first(m); c >= 0 && p.t.tokens[m].kind == isObject; c = p.t.after(c) {
				key := p.t.name(c)
				if p.props[key] == nil {
					p.names = append(p.names, key)
				}
				p.props[key] = append(p.props[key], string(p.t.raw(c)))
			}
		case "required":
			for e := p.t.first(m); e >= 0; e = p.t.after(e) {
				if !slices.Contains(p.required, p.t.text(e)) {
					p.required = append(p.required, p.t.text(e))
				}
			}
		case "$ref":
			if at, ok := p.places.lookup(m, p.t.text(m)); ok {
				p.visit(at)
			}
		case "allOf":
			for e := p.t.first(m); e >= 0; e = p.t.after(e) {
				p.visit(e)
			}
		case "type", "title", "description", "additionalProperties", "$defs", "definitions", "$id", "$anchor":
		default:
			rest = append(rest, string(p.t.data[p.t.tokens[m].key:p.t.tokens[m].end]))
		}
	}
	if i != 0 && len(rest) > 0 {
		p.rest = append(p.rest, "{"+strings.Join(rest, ",")+"}")
	}
}
