package recall

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/schema"
)

// object is decoded JSON. It is written with its keys in order, as callers have always got it.
type object = map[string]any

// apiSpec is what a tool box says of the API behind a tool.
type apiSpec struct {
	whole  object
	params []apiParam
	body   object // schema of the body; nil: there is none
	output object // schema of what a call that worked answers; nil: not told
}

type apiParam struct {
	name, in    string
	description string
	required    bool
	schema      any
}

// readSpec reads an api_spec. It is decoded for this answer alone, so nobody else's copy
// can be changed.
func readSpec(in raw) (*apiSpec, error) {
	spec := &apiSpec{whole: object{}}
	if len(in) == 0 || string(in) == "null" {
		return spec, nil
	}
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber() // big integers stay what they are
	if err := d.Decode(&spec.whole); err != nil {
		return nil, err
	}
	list, _ := spec.whole["parameters"].([]any)
	for _, item := range list {
		p := spec.meant(item)
		name, _ := p["name"].(string)
		in, _ := p["in"].(string)
		if name == "" || layerTexts[in] == "" {
			continue
		}
		text, _ := p["description"].(string)
		required, _ := p["required"].(bool)
		spec.params = append(spec.params, apiParam{name, in, text, required, p["schema"]})
	}
	content, _ := spec.meant(spec.whole["request_body"])["content"].(object)
	spec.body = spec.media(content, otherKind)
	spec.output = spec.answered()
	return spec, nil
}

// answered is the schema of the answer of a call that worked: that of 200, else of the
// first other success.
func (a *apiSpec) answered() object {
	list, _ := a.whole["responses"].([]any)
	var first object
	for _, item := range list {
		entry, _ := item.(object)
		response := a.meant(item)
		status := fmt.Sprint(cmp.Or(entry["status_code"], response["status_code"])) // beside a reference or behind it, as text or a number
		if status == "200" {
			first = response
			break
		}
		if first == nil && strings.HasPrefix(status, "2") {
			first = response
		}
	}
	content, _ := first["content"].(object)
	return a.media(content, anyKind)
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

// media is the schema of the best media type that is not beyond a rank; nil: there is none.
func (a *apiSpec) media(content object, worst int) object {
	kinds := make([]string, 0, len(content))
	for kind := range content {
		if rank(kind) <= worst {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if a, b := rank(a), rank(b); a != b {
			return a - b
		}
		return strings.Compare(a, b)
	})
	for _, kind := range kinds {
		if schema, ok := a.meant(content[kind])["schema"].(object); ok {
			return schema
		}
	}
	return nil
}

// input is all that a call takes: by place, and the body.
func (a *apiSpec) input() object {
	out := object{}
	for _, p := range a.params {
		in, _ := out["in "+p.in].(object)
		if in == nil {
			in = object{"type": "object", "properties": object{}}
			out["in "+p.in] = in
		}
		definition := p.schema
		if _, ok := definition.(object); !ok {
			definition = object{"type": "string"}
		}
		in["properties"].(object)[p.name] = definition
	}
	if a.body != nil {
		out["content"] = a.body
	}
	return out
}

// document is one schema for several, with the definitions that they need, so that
// references are followed by the rules of the dialect wherever they stand. Where it would
// be larger than the limit, it goes less deep.
func (a *apiSpec) document(schemas object, opts *schema.Options) (out raw) {
	for hops := opts.Hops + 1; hops > 0; hops-- { // of one more than are followed, type and description are told
		doc := a.reached(schemas, hops)
		doc["type"], doc["properties"] = "object", schemas
		out, _ = json.Marshal(doc) // it was decoded from JSON
		if len(out) <= opts.MaxInput {
			break
		}
	}
	return out
}

// place says in which layer a fixed parameter goes. Of several parameters of one name the
// last counts, as it always did.
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
