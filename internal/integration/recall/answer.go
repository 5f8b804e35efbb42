package recall

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// dynamicTool is a tool that is ready for function calling.
type dynamicTool struct {
	Name        string
	Description string
	Parameters  any
	Strict      bool // the provider can enforce the parameters
	URL         string
	Original    raw // nil: not known
	Output      raw // nil: not known
	Fixed       any
}

const strategy = "kn_action_recall"

// append writes the tool. Raw values are copied byte for byte.
func (t *dynamicTool) append(dst []byte) []byte {
	strict := raw(nil)
	if t.Strict {
		strict = raw("true")
	}
	dst = append(dst, '{')
	for _, m := range []struct {
		key   string
		value raw // nil: left out
	}{
		{"name", jsonOf(t.Name)}, {"description", jsonOf(t.Description)}, {"parameters", jsonOf(t.Parameters)}, {"strict", strict},
		{"api_url", jsonOf(t.URL)}, {"original_schema", t.Original}, {"output_schema", t.Output},
		{"fixed_params", jsonOf(t.Fixed)}, {"api_call_strategy", jsonOf(strategy)},
	} {
		if m.value != nil {
			dst = member(dst, m.key, m.value)
		}
	}
	return append(dst, '}')
}

// jsonOf encodes a value as JSON.
func jsonOf(v any) raw {
	if text, ok := v.(raw); ok {
		return text
	}
	out, _ := json.Marshal(v) // made of texts and of what was decoded from JSON
	return out
}

// fixedLayers are fixed parameters by place.
type fixedLayers struct {
	Header map[string]raw `json:"header"`
	Path   map[string]raw `json:"path"`
	Query  map[string]raw `json:"query"`
	Body   map[string]raw `json:"body"`
}

// getActionInfo returns the tool of an action.
func (s *Service) getActionInfo(r *http.Request, who caller) (answer, error) {
	q, err := s.readQuery(r)
	if err != nil {
		return answer{}, err
	}
	q.Account = who.account
	found, err := s.action(r.Context(), q)
	if err != nil {
		return answer{}, err
	}
	account := jsonOf(map[string]string{"x-account-id": who.account.ID, "x-account-type": who.account.Type})
	body := append(append([]byte(`{"headers":`), account...), `,"_dynamic_tools":[`...)
	if found.Type != "" {
		t, err := s.toolOf(r, who, found)
		if err != nil {
			return answer{}, err
		}
		if s.driven(found) {
			if err := s.drive(t, q, found, r); err != nil {
				return answer{}, err
			}
		}
		body = t.append(body)
	}
	return answer{body: append(body, "]}"...)}, nil
}

// toolOf returns the tool of an action.
func (s *Service) toolOf(r *http.Request, who caller, a Action) (*dynamicTool, error) {
	switch {
	case a.Operation != "":
		return s.operation(r, who, a)
	case a.Type == "tool":
		return s.boxed(r, a, who.account)
	}
	return s.served(r, who, a)
}

// boxed returns a tool of a tool box.
func (s *Service) boxed(r *http.Request, a Action, who Account) (*dynamicTool, error) {
	if s.remote == nil {
		return nil, notFound(toolNotFound, details{
			"box_id": clipped(a.Box), "tool_id": clipped(a.Tool), "reason": say("reason.noOperator")})
	}
	t, err := s.remote.boxTool(r.Context(), a.Box, a.Tool, who)
	if err != nil {
		return nil, err
	}
	spec, err := readSpec(t.Metadata.Spec)
	if err != nil {
		s.Metrics.converted("failed")
		return nil, &problem{status: http.StatusInternalServerError, code: convertFailed,
			details: details{"tool": clipped(t.Name), "reason": say("reason.spec")}, cause: err}
	}
	places, err := s.layered(t.Name, spec)
	if err != nil {
		return nil, err
	}
	if len(places) == 0 {
		places["body"] = object{"type": "object", "description": layerTexts["body"], "properties": object{}}
	}
	out := &dynamicTool{Name: cmp.Or(t.Name, a.Tool), Description: t.Description, URL: s.remote.boxProxy(a.Box, a.Tool)}
	out.Parameters = object{"type": "object", "properties": places}
	out.Original = sorted(t.Metadata.Spec)
	out.Output = s.output(t.Name, spec)
	out.Fixed = placed(a.Parameters, spec.place)
	return out, nil
}

// placed sorts fixed parameters into layers.
func placed(fixed raw, place func(string) string) fixedLayers {
	out := map[string]map[string]raw{"header": {}, "path": {}, "query": {}, "body": {}}
	for w := rawjson.Object(fixed); w.Next(); {
		out[place(string(w.Key))][string(w.Key)] = w.Value
	}
	return fixedLayers{out["header"], out["path"], out["query"], out["body"]}
}

// served returns a tool of an MCP server: ours, or one of agent-operator-integration.
func (s *Service) served(r *http.Request, who caller, a Action) (*dynamicTool, error) {
	out := &dynamicTool{Name: a.ServerTool, Fixed: a.Parameters}
	out.URL = s.self() + private + "/mcp/proxy/" + url.PathEscape(a.Server) + "/tools/" + url.PathEscape(a.ServerTool) + "/call"
	entry, err := s.shown(r.Context(), who, tool.Canonical(tool.ServerID(a.Server), a.ServerTool))
	if err != nil {
		return nil, err
	}
	var in, original, promised raw
	switch {
	case entry != nil:
		out.Description = entry.Description()
		in = entry.InputSchema()
		original = entry.Definition.InputSchema()
		promised = entry.Definition.OutputSchema()
	case s.remote != nil:
		t, err := s.remote.mcpTool(r.Context(), a.Server, a.ServerTool, who.account)
		if err != nil {
			return nil, err
		}
		out.Description = t.def.Description()
		in = t.def.InputSchema()
		promised = t.def.OutputSchema()
		original = in
	default:
		return nil, noInstance(a.Server)
	}
	out.Original = given(original)
	out.Output = s.promised(a.ServerTool, promised)
	f := plainForm
	if !s.driven(a) {
		f = form{s.bind(out, a), s.dialect()}
	}
	told, err := s.tell(a.ServerTool, in, f)
	if err != nil {
		return nil, err
	}
	out.Parameters = told.parameters
	out.Strict = told.strict
	return out, nil
}

// driven reports whether ontology-query executes the action, so that calls do not pass through
// us.
func (s *Service) driven(a Action) bool { return s.recall.Answer == "driver" && !a.Ours }

// given returns a schema, or nil if it is empty.
func given(in raw) raw {
	if rawjson.IsNull(in) {
		return nil
	}
	return in
}

// bind seals the fixed parameters into the URL if configured, and returns their names. Values may be
// credentials, so they are only shown if asked for.
func (s *Service) bind(t *dynamicTool, a Action) map[string]bool {
	names := keys(a.Parameters)
	if s.recall.Fixed != "bind" || len(names) == 0 {
		return nil
	}
	sealed, ok := s.seal.close(scope(a.Server, a.ServerTool), a.Parameters)
	if !ok {
		s.Logger.Warn("fixed parameters are too large to be bound, so the caller has to send them",
			"mcp_id", a.Server, "tool", a.ServerTool)
		return nil
	}
	t.URL += "?fixed=" + sealed
	if !s.recall.Echo {
		t.Fixed = raw("{}")
	}
	return names
}

// operation returns an operation of one of our own APIs, called through our REST API.
func (s *Service) operation(r *http.Request, who caller, a Action) (*dynamicTool, error) {
	entry, err := s.shown(r.Context(), who, tool.Name(a.Operation))
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, notFound(toolNotFound, details{"tool": clipped(a.Operation)})
	}
	out := &dynamicTool{Name: entry.Shown, Description: entry.Description(), Fixed: a.Parameters,
		Output: s.promised(entry.Shown, entry.Definition.OutputSchema())}
	out.URL = s.self() + "/api/v1/tools/" + url.PathEscape(entry.Shown) + "/call"
	out.Original = given(entry.Definition.InputSchema())
	parameters, err := s.convert(entry.Shown, entry.InputSchema())
	if err != nil {
		return nil, err
	}
	out.Parameters = parameters
	if layer := layersOf(parameters); layer != nil {
		out.Fixed = placed(a.Parameters, func(name string) string {
			if place, ok := layer[name]; ok {
				return place
			}
			return guess(name)
		})
	}
	return out, nil
}

// layersOf returns the layer of each parameter of a layered schema; nil for a flat one.
func layersOf(parameters raw) map[string]string {
	found := map[string]string{}
	layered := false
	for w := rawjson.Object(rawjson.Get(parameters, "properties")); w.Next(); {
		place := string(w.Key)
		if !slices.Contains(layers, place) || string(rawjson.Get(w.Value, "type")) != `"object"` {
			return nil
		}
		layered = true
		for name := range keys(rawjson.Get(w.Value, "properties")) {
			found[name] = place
		}
	}
	if !layered {
		return nil
	}
	return found
}
