package recall

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/schema"
)

type node = jsonschema.Node

// object is JSON to be written: its keys are sorted, as callers have always received them.
type object = map[string]any

// apiSpec is a tool box's description of the API behind a tool.
type apiSpec struct {
	root   *node
	index  *jsonschema.Index
	params []apiParam
	body   *node // schema of the body; nil: there is none
	output *node // schema of a successful response; nil: unknown
}

type apiParam struct {
	name, in    string
	description string
	required    bool
	schema      *node // nil: unknown
}

func readSpec(in raw) (*apiSpec, error) {
	spec := &apiSpec{}
	if rawjson.IsNull(in) {
		return spec, nil
	}
	var err error
	spec.root, err = jsonschema.Parse(in)
	if err == nil && spec.root.Kind != jsonschema.Object {
		err = errors.New("the specification is not an object")
	}
	if err != nil {
		return nil, err
	}
	spec.index = jsonschema.NewIndex(spec.root, jsonschema.Draft2020)
	for _, item := range spec.root.Get("parameters").Elements() {
		p := spec.resolve(item)
		name := p.Str("name")
		in := p.Str("in")
		if name != "" && layerTexts[in] != "" {
			spec.params = append(spec.params, apiParam{name, in, p.Str("description"), p.Get("required").IsTrue(), schemaOf(p)})
		}
	}
	spec.body = spec.media(spec.resolve(spec.root.Get("request_body")), otherKind)
	spec.output = spec.media(spec.success(), anyKind)
	return spec, nil
}

// schemaOf returns the schema of a parameter or media type; nil if it is not an object.
func schemaOf(n *node) *node {
	if s := n.Get("schema"); s != nil && s.Kind == jsonschema.Object {
		return s
	}
	return nil
}

// success returns the response with status 200, or else the first other success.
func (a *apiSpec) success() (first *node) {
	for _, item := range a.root.Get("responses").Elements() {
		response := a.resolve(item)
		status := item.Get("status_code")
		if status == nil { // it stands beside a reference or behind it, as text or a number
			status = response.Get("status_code")
		}
		switch {
		case status == nil:
		case status.Text == "200":
			return response
		case first == nil && strings.HasPrefix(status.Text, "2"):
			first = response
		}
	}
	return first
}

// The ranks of media types: JSON is what callers send, and what they read best.
const (
	jsonKind  = iota // application/json
	likeJSON         // a kind of JSON
	anyKind          // whatever is asked for
	otherKind        // forms, text, bytes
)

func rank(kind string) int {
	switch {
	case kind == "application/json":
		return jsonKind
	case strings.Contains(kind, "json"):
		return likeJSON
	case kind == "*/*":
		return anyKind
	}
	return otherKind
}

// media is the schema of the best media type of a body or response; nil when none ranks well enough.
func (a *apiSpec) media(body *node, worst int) *node {
	kinds := slices.SortedFunc(slices.Values(body.Get("content").Members()), func(a, b *node) int {
		return cmp.Or(cmp.Compare(rank(a.Key), rank(b.Key)), strings.Compare(a.Key, b.Key))
	})
	for _, kind := range kinds {
		if s := schemaOf(a.resolve(kind)); s != nil && rank(kind.Key) <= worst {
			return s
		}
	}
	return nil
}

// input is all that a call takes: by place, and the body; with the schemas in it.
func (a *apiSpec) input() (out object, schemas []*node) {
	out = object{}
	for _, p := range a.params {
		in, _ := out["in "+p.in].(object)
		if in == nil {
			in = object{"type": "object", "properties": object{}}
			out["in "+p.in] = in
		}
		definition := raw(`{"type":"string"}`)
		if p.schema != nil {
			definition = p.schema.Raw()
			schemas = append(schemas, p.schema)
		}
		in["properties"].(object)[p.name] = definition
	}
	if a.body != nil {
		out["content"] = raw(a.body.Raw())
		schemas = append(schemas, a.body)
	}
	return out, schemas
}

// document is one schema with the properties and the definitions that they need. If it is too large,
// it goes less deep.
func (a *apiSpec) document(properties object, schemas []*node, opts *schema.Options) (out raw) {
	for hops := opts.Hops + 1; hops > 0; hops-- { // of one more than are followed, type and description are told
		doc := a.reached(schemas, hops)
		doc["type"] = "object"
		doc["properties"] = properties
		out, _ = json.Marshal(doc) // it was read from JSON
		if len(out) <= opts.MaxInput {
			break
		}
	}
	return out
}

// place is the layer of a fixed parameter. Of several parameters of one name the last counts.
func (a *apiSpec) place(name string) string {
	for _, p := range slices.Backward(a.params) {
		if p.name == name {
			return p.in
		}
	}
	return guess(name)
}

// guess is the layer of a parameter that nobody describes.
func guess(name string) string {
	lower := strings.ToLower(name)
	for _, start := range []string{"x-", "authorization", "content-type"} {
		if strings.HasPrefix(lower, start) {
			return "header"
		}
	}
	return "body"
}
