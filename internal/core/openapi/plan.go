package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// plan describes how to build the request of an operation.
type plan struct {
	path     []pathPart
	query    string // query string in the path itself
	params   []*param
	body     *body
	servers  []Server
	own      bool // the servers are those of the operation or its path, not of the document
	security [][]Scheme
	accept   string
	output   output
	isSecret func(name, in string) bool // reports whether a scheme uses the name in that place
}

// pathPart is a piece of a path: fixed text or a parameter.
type pathPart struct {
	text  string
	param *param
}

// operation is an operation in OpenAPI 3 form, whatever the format of the document.
type operation struct {
	*node
	params    []*node // lists of the path and of the operation
	body      *node
	form      *body // a Swagger form, in place of body
	responses *node
	servers   []Server
	own       bool // the servers are those of the operation or its path, not of the document
}

// operation reads an operation.
func (d *Document) operation(e *entry) *operation {
	op := &operation{node: jsonschema.ParseAt(e.at.raw, e.at.pointer), servers: d.servers}
	op.params = []*node{nil, op.Get("parameters")}
	if e.item.parameters.raw != nil {
		op.params[0] = d.node(e.item.parameters)
	}
	op.responses = op.Get("responses")
	if d.format == swagger2 {
		d.fromSwagger(op)
		return op
	}
	op.body = op.Get("requestBody")
	list := serverList(op.Get("servers"))
	if len(list) == 0 && e.item.servers.raw != nil {
		list = serverList(d.node(e.item.servers))
	}
	if len(list) > 0 {
		op.servers = list
		op.own = true
	}
	return op
}

// plan reads an operation; nil if no valid request can be built.
func (d *Document) plan(e *entry, op *operation, bad *problems) *plan {
	p := &plan{isSecret: d.isSecret, servers: op.servers, own: op.own}
	var public bool
	p.security, public = d.readSecurity(op.node, bad)
	params, ok := d.readParams(op.params, bad)
	if !ok {
		return nil
	}
	if !public {
		params = slices.DeleteFunc(params, func(p *param) bool { return p.in != "path" && d.isSecret(p.name, p.in) })
	}
	p.params = params
	if !p.readPath(e, bad) {
		return nil
	}
	p.body = op.form
	if op.body != nil {
		p.body, ok = d.readBody(op.body, bad)
		if !ok {
			return nil
		}
	}
	p.arrange(d.opts.Layout)
	d.readResponses(p, op.responses, bad)
	return p
}

// readPath splits the path and finds the parameter of each placeholder.
func (p *plan) readPath(e *entry, bad *problems) bool {
	path, _, _ := strings.Cut(e.path, "#")
	path, p.query, _ = strings.Cut(path, "?")
	used := map[*param]bool{}
	for rest := path; rest != ""; {
		text, after, found := strings.Cut(rest, "{")
		if text != "" {
			p.path = append(p.path, pathPart{text: escapePath(text)})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		if !closed || name == "" {
			bad.add(e.at.pointer, "the path "+e.path+" has an unmatched brace; the operation is left out")
			return false
		}
		at := p.pathParam(name)
		if at == nil {
			bad.add(e.at.pointer, "the path has {"+name+"} and no parameter for it; a string is assumed")
			at = &param{name: name, in: "path", required: true, how: encoding{style: "simple"}}
			p.params = append(p.params, at)
		}
		used[at] = true
		p.path = append(p.path, pathPart{param: at})
		rest = after
	}
	if hasDots(path) {
		bad.add(e.at.pointer, "the path "+e.path+" contains . or ..; the operation is left out")
		return false
	}
	p.params = slices.DeleteFunc(p.params, func(q *param) bool {
		lost := q.in == "path" && !used[q]
		if lost {
			bad.add(e.at.pointer, "the path has no {"+q.name+"}; the parameter is left out")
		}
		return lost
	})
	return true
}

// pathParam finds the parameter of a placeholder; values of {+name} may contain slashes.
func (p *plan) pathParam(name string) *param {
	for _, q := range p.params {
		if q.in == "path" && (q.name == name || "+"+q.name == name) {
			q.many = q.name != name
			return q
		}
	}
	return nil
}

// arrange names the arguments. In the flat layout, names that occur in several places get the
// place as a suffix.
func (p *plan) arrange(layout Layout) {
	b := p.body
	if b != nil {
		b.arg = "body"
		b.spread = layout == Flat && b.fields != nil
	}
	type slot struct {
		name, in string
		arg      *string
	}
	var slots []slot
	for _, q := range p.params {
		slots = append(slots, slot{q.name, q.in, &q.arg})
	}
	switch {
	case b != nil && b.spread:
		for _, f := range b.fields {
			slots = append(slots, slot{f.name, "body", &f.arg})
		}
	case b != nil:
		slots = append(slots, slot{"body", "body", &b.arg})
	}
	count := map[string]int{}
	for _, s := range slots {
		count[s.name]++
	}
	taken := map[string]bool{}
	for _, s := range slots {
		*s.arg = s.name
		if layout == Flat && count[s.name] > 1 {
			for *s.arg += "__" + s.in; count[*s.arg] > 0 || taken[*s.arg]; {
				*s.arg += "__" + s.in // the name is taken as well
			}
		}
		taken[*s.arg] = true
	}
}
