package recall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The layers of a tool's parameters and their descriptions, which are the same in every language
// because answers are compared byte for byte.
var (
	layers     = []string{"header", "path", "query", "body"}
	layerTexts = map[string]string{
		"header": "通过请求头传递的参数", "path": "填入请求路径的参数", "query": "附加在查询字符串中的参数", "body": "请求体的内容",
	}
)

// layered returns the tool's parameters by place, without references.
func (s *Service) layered(name string, spec *apiSpec) (map[string]object, error) {
	properties, schemas := spec.input()
	flat, err := s.convert(name, spec.document(properties, schemas, s.options))
	if err != nil {
		return nil, err
	}
	in := propertiesOf(flat)
	out := map[string]object{}
	needs := map[string][]string{}
	for _, p := range spec.params {
		layer, _ := in["in "+p.in].(object)
		all, _ := layer["properties"].(object)
		resolved, _ := all[p.name].(object)
		put(out, p.in, p.name, definition(resolved, p.description))
		if p.required {
			needs[p.in] = append(needs[p.in], p.name)
		}
	}
	for place, names := range needs {
		require(out[place], names)
	}
	if content, ok := in["content"].(object); ok {
		putBody(out, merged(content))
	}
	return out, nil
}

// output returns the tool's output schema without references, or nil.
func (s *Service) output(name string, spec *apiSpec) raw {
	if spec.output == nil {
		return nil
	}
	flat := s.promised(name, spec.document(object{"output": raw(spec.output.Raw())}, []*node{spec.output}, s.options))
	if out, _ := propertiesOf(flat)["output"].(object); shaped(out) {
		return jsonOf(out)
	}
	return nil
}

// decoded decodes an object that was checked before; nil for anything else.
func decoded(in raw) (out object) {
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber() // keeps large integers exact
	d.Decode(&out)
	return out
}

// propertiesOf returns the properties of a converted schema.
func propertiesOf(in raw) object {
	out, _ := decoded(in)["properties"].(object)
	return out
}

// sorted sorts the keys of an object; nil if it is empty.
func sorted(in raw) raw {
	out := decoded(in)
	if len(out) == 0 {
		return nil
	}
	return jsonOf(out)
}

// putBody adds the properties of the body, or the body itself if it is more than a plain
// object.
func putBody(out map[string]object, content object) {
	fields, _ := content["properties"].(object)
	for field, value := range fields {
		resolved, _ := value.(object)
		put(out, "body", field, definition(resolved, ""))
	}
	body := out["body"]
	switch {
	case body != nil:
		list, _ := content["required"].([]any)
		var names []string
		for _, item := range list {
			if text, ok := item.(string); ok {
				names = append(names, text)
			}
		}
		require(body, names)
		copyUnions(body, content)
	case missing(content):
		out["body"] = object{"description": layerTexts["body"] + " " + missingMark}
	case shaped(content):
		content["description"] = layerTexts["body"]
		out["body"] = content
	}
}

// missingMark ends the description of a placeholder for a missing definition.
const missingMark = "(schema missing)"

// missing reports whether a schema is the placeholder for a missing definition.
func missing(in object) bool {
	text, _ := in["description"].(string)
	return in["type"] == nil && strings.HasSuffix(text, missingMark)
}

// put adds a property to a layer.
func put(out map[string]object, place, name string, definition object) {
	if out[place] == nil {
		out[place] = object{"type": "object", "description": layerTexts[place], "properties": object{}}
	}
	out[place]["properties"].(object)[name] = definition
}

// require adds required names to a layer, without duplicates.
func require(layer object, names []string) {
	all, _ := layer["required"].([]string)
	known := map[string]bool{}
	for _, name := range all {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			all = append(all, name)
		}
	}
	if len(all) > 0 {
		layer["required"] = all
	}
}

// definition keeps the parts of a property that callers have always received. A union says
// more than a type.
func definition(in object, text string) object {
	in = merged(in)
	out := object{}
	copyUnions(out, in)
	enum, listed := in["enum"].([]any)
	if kind := typeOf(in); kind != nil {
		out["type"] = kind
	} else if len(out) == 0 && !missing(in) && (!listed || slices.ContainsFunc(enum, func(v any) bool { _, ok := v.(string); return ok })) {
		out["type"] = "string"
	}
	if own, _ := in["description"].(string); text == "" {
		text = own
	}
	if text != "" {
		out["description"] = text
	}
	if listed {
		out["enum"] = enum
	}
	if properties, ok := in["properties"].(object); ok {
		out["type"] = "object"
		out["properties"] = properties
	}
	if items, ok := in["items"].(object); ok && out["type"] == "array" {
		out["items"] = items
	}
	return out
}
