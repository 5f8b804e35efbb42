package recall

import (
	"maps"
	"net/http"
	"slices"
)

// drive writes a tool as a request to ontology-query, which executes the action itself.
func (s *Service) drive(t *dynamicTool, q Query, a Action, r *http.Request) error {
	dynamic, err := unlayered(t.Parameters)
	if err != nil {
		return err
	}
	lang := s.language(r)
	t.URL = s.query.execute(q)
	t.Parameters = object{"type": "object", "properties": object{
		"dynamic_params":       dynamic,
		"_instance_identities": object{"type": "array", "description": lang.Text("driver.instances"), "items": object{"type": "object"}},
	}}
	t.Fixed = struct {
		Dynamic   raw `json:"dynamic_params"`
		Instances raw `json:"_instance_identities"`
	}{a.Parameters, instances(nil, q.Instances)}
	return nil
}

// unlayered merges the layers of a tool's parameters.
func unlayered(parameters any) (any, error) {
	layered, ok := parameters.(object)
	if !ok { // those of an MCP server are flat already
		return parameters, nil
	}
	from := map[string]string{}
	properties := object{}
	var required []string
	places := layered["properties"].(map[string]object)
	for _, place := range layers {
		layer := places[place]
		fields, _ := layer["properties"].(object)
		if layer != nil && fields == nil { // a body that is not an object keeps its name
			fields = object{place: layer}
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if other, taken := from[name]; taken {
				return nil, &problem{status: http.StatusInternalServerError, code: parameterClash, details: details{
					"field": clipped(name), "layers": []string{other, place}}}
			}
			from[name] = place
			properties[name] = fields[name]
		}
		names, _ := layer["required"].([]string)
		required = append(required, names...)
	}
	out := object{"type": "object", "properties": properties}
	if places["body"]["properties"] != nil {
		copyUnions(out, places["body"]) // their branches refer to properties that are now flat
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out, nil
}
