package recall

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// The layers of the parameters of a type=tool tool, and what models are told of them. The
// bytes of these answers are compared, so the texts are the same in any language.
var (
	layers     = []string{"header", "path", "query", "body"}
	layerTexts = map[string]string{
		"header": "HTTP Header 参数", "path": "URL Path 参数", "query": "URL Query 参数", "body": "Request Body 参数",
	}
)

// object is decoded JSON. It is written with its keys in order, as callers have always got it.
type object = map[string]any

// apiSpec is what a tool box says of the API behind a tool.
type apiSpec struct {
	whole  object
	params []apiParam
	body   raw // schema of the JSON body; nil: there is none
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
		p, _ := item.(object)
		name, _ := p["name"].(string)
		in, _ := p["in"].(string)
		if name == "" || layerTexts[in] == "" {
			continue
		}
		text, _ := p["description"].(string)
		required, _ := p["required"].(bool)
		spec.params = append(spec.params, apiParam{name, in, text, required, p["schema"]})
	}
	request, _ := spec.whole["request_body"].(object)
	content, _ := request["content"].(object)
	spec.body = bodySchema(content)
	return spec, nil
}

// bodySchema is the schema of the body: of the JSON one, or of the first of another kind.
func bodySchema(content object) raw {
	kinds := make([]string, 0, len(content))
	for kind := range content {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if a, b := rank(a), rank(b); a != b {
			return a - b
		}
		return strings.Compare(a, b)
	})
	for _, kind := range kinds {
		media, _ := content[kind].(object)
		if schema, ok := media["schema"].(object); ok {
			out, _ := json.Marshal(schema)
			return out
		}
	}
	return nil
}

func rank(kind string) int {
	switch {
	case kind == "application/json":
		return 0
	case strings.Contains(kind, "json"):
		return 1
	}
	return 2
}

// document is one schema for all places, so that references are followed by the rules of
// the dialect wherever they stand.
func (a *apiSpec) document() raw {
	byPlace := object{}
	for _, p := range a.params {
		in, _ := byPlace[p.in].(object)
		if in == nil {
			in = object{}
			byPlace[p.in] = in
		}
		if _, ok := p.schema.(object); ok {
			in[p.name] = p.schema
		} else {
			in[p.name] = object{"type": "string"}
		}
	}
	properties := object{}
	for place, in := range byPlace {
		properties["in "+place] = object{"type": "object", "properties": in}
	}
	if a.body != nil {
		properties["content"] = a.body
	}
	doc := object{"type": "object", "properties": properties}
	if components, ok := a.whole["components"].(object); ok {
		doc["components"] = components
	}
	out, _ := json.Marshal(doc) // it was decoded from JSON
	return out
}

// layered is the tool's parameters by place, without references.
func (s *Service) layered(name string, spec *apiSpec) (map[string]object, error) {
	flat, err := s.convert(name, spec.document())
	if err != nil {
		return nil, err
	}
	var doc struct {
		Properties map[string]object `json:"properties"`
	}
	d := json.NewDecoder(bytes.NewReader(flat))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, &problem{status: http.StatusInternalServerError, code: convertFailed, cause: err}
	}
	out := map[string]object{}
	required := map[string][]string{}
	for _, p := range spec.params {
		all, _ := doc.Properties["in "+p.in]["properties"].(object)
		resolved, _ := all[p.name].(object)
		put(out, p.in, p.name, definition(resolved, p.description))
		if p.required {
			required[p.in] = append(required[p.in], p.name)
		}
	}
	content := doc.Properties["content"]
	fields, _ := content["properties"].(object)
	for field, value := range fields {
		resolved, _ := value.(object)
		put(out, "body", field, definition(resolved, ""))
	}
	list, _ := content["required"].([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			required["body"] = append(required["body"], text)
		}
	}
	for place, names := range required {
		if out[place] != nil {
			out[place]["required"] = names
		}
	}
	if spec.body != nil && out["body"] == nil && (content["type"] != "object" || hasUnion(content)) {
		if missing(content) {
			content = object{"description": layerTexts["body"] + " " + missingMark}
		} else {
			content["description"] = layerTexts["body"]
		}
		out["body"] = content // a body that is not merely its properties goes out as it is
	}
	return out, nil
}

// missingMark ends the description of what stands for a definition that does not exist.
const missingMark = "(schema missing)"

// missing tells whether a schema stands for a definition that does not exist. It accepts anything.
func missing(in object) bool {
	text, _ := in["description"].(string)
	return len(in) == 1 && strings.HasSuffix(text, missingMark)
}

func hasUnion(in object) bool { return in["anyOf"] != nil || in["oneOf"] != nil || in["allOf"] != nil }

// put adds a property to a layer.
func put(out map[string]object, place, name string, definition object) {
	if out[place] == nil {
		out[place] = object{"type": "object", "description": layerTexts[place], "properties": object{}}
	}
	out[place]["properties"].(object)[name] = definition
}

// definition keeps of a property what callers have always got of it. A union says more
// than a type could.
func definition(in object, text string) object {
	out := object{}
	for _, union := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := in[union].([]any); ok && in["type"] == nil {
			out[union] = list
		}
	}
	if kind, _ := in["type"].(string); kind != "" {
		out["type"] = kind
	} else if len(out) == 0 && !missing(in) {
		out["type"] = "string"
	}
	if own, _ := in["description"].(string); text == "" {
		text = own
	}
	if text != "" {
		out["description"] = text
	}
	if enum, ok := in["enum"].([]any); ok {
		out["enum"] = enum
	}
	if properties, ok := in["properties"].(object); ok {
		out["type"], out["properties"] = "object", properties
	}
	if items, ok := in["items"].(object); ok && out["type"] == "array" {
		out["items"] = items
	}
	return out
}

// place says in which layer a fixed parameter goes.
func (a *apiSpec) place(name string) string {
	for _, p := range a.params {
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
