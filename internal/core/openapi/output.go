package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// output is the documented response of an operation.
type output struct {
	json   bool             // the body of a successful response is JSON
	schema *node            // schema of that body; nil if unknown
	wrap   bool             // not an object: wrapped under "result"
	types  jsonschema.Types // possible types of the wrapped value
}

// wrapped is the member that holds a result that is not an object.
const wrapped = "result"

// readResponses finds the successful response and the Accept header.
func (d *Document) readResponses(p *plan, responses *node, bad *problems) {
	p.accept = "*/*"
	for _, at := range successes(responses) {
		n, err := d.follow(at)
		if err != nil {
			bad.add(at.Pointer(), err.Error())
			continue
		}
		content := n.Get("content").Members()
		if len(content) == 0 {
			continue
		}
		if p.accept == "*/*" {
			p.accept = acceptOf(content)
		}
		media := pickMedia(content)
		if d.kindOf(media) != jsonMedia || at.Key == "default" {
			continue
		}
		schema := media.Get("schema")
		if p.output.json && !sameText(p.output.schema, schema) {
			p.output = output{json: true} // several responses: no schema holds for all
			return
		}
		p.output.json = true
		p.output.schema = schema
	}
	d.readOutput(&p.output)
}

func sameText(a, b *node) bool { return a != nil && b != nil && a.Text == b.Text }

// readOutput decides how the result is declared: an object as it is, other values wrapped,
// unknown ones not at all.
func (d *Document) readOutput(o *output) {
	if o.schema == nil {
		return
	}
	steps := maxParts
	switch types := d.types(o.schema, &steps); {
	case types == 0:
		o.schema = nil
	case types&^(jsonschema.TObject|jsonschema.TNull) != 0:
		o.wrap = true
		o.types = types
	}
}

// successes returns the 2xx responses, lowest first, or else the default one.
func successes(responses *node) (out []*node) {
	for _, kid := range responses.Members() {
		if len(kid.Key) == 3 && kid.Key[0] == '2' {
			out = append(out, kid)
		}
	}
	slices.SortFunc(out, func(a, b *node) int { return strings.Compare(a.Key, b.Key) })
	if fallback := responses.Get("default"); len(out) == 0 && fallback != nil {
		out = append(out, fallback)
	}
	return out
}

// acceptOf returns the Accept header: JSON if available, else all types.
func acceptOf(content []*node) string {
	best := pickMedia(content)
	if kindOfType(best.Key) == jsonMedia {
		return mediaType(best.Key)
	}
	var types []string
	for _, media := range content {
		if t := mediaType(media.Key); t != "" && !strings.ContainsFunc(t, isControl) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return "*/*"
	}
	return strings.Join(types, ", ")
}
