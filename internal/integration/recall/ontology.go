package recall

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// raw is JSON as it came.
type raw = json.RawMessage

// ontology is the service that knows the actions of knowledge networks.
type ontology struct{ remote }

// path returns the path of an action type.
func (o *ontology) path(q Query) string {
	return "/api/ontology-query/in/v1/knowledge-networks/" + url.PathEscape(q.Network) + "/action-types/" + url.PathEscape(q.ActionType)
}

// execute returns the URL that runs the action.
func (o *ontology) execute(q Query) string { return o.base + o.path(q) + "/execute" }

// Action fetches the actions of the instances. The first one counts.
func (o *ontology) Action(ctx context.Context, q Query) (Action, error) {
	body := append(instances([]byte(`{"_instance_identities":`), q.Instances), '}')
	answer, err := o.ask(ctx, question{method: http.MethodPost, path: o.path(q), body: body, override: http.MethodGet, account: q.Account},
		actionNotFound)
	if err != nil {
		return Action{}, err
	}
	var a struct {
		Source *struct {
			Type string `json:"type"`
			Box  idText `json:"box_id"`
			Tool idText `json:"tool_id"`
			MCP  idText `json:"mcp_id"`
			Name idText `json:"tool_name"`
		} `json:"action_source"`
		Actions []struct {
			Parameters raw `json:"parameters"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return Action{}, broken(o.name, say("reason.form"), err)
	}
	if a.Source == nil || len(a.Actions) == 0 {
		return Action{}, nil
	}
	found := Action{Type: a.Source.Type, Parameters: a.Actions[0].Parameters}
	found.Box = string(a.Source.Box)
	found.Tool = string(a.Source.Tool)
	found.Server = string(a.Source.MCP)
	found.ServerTool = string(a.Source.Name)
	if rawjson.IsNull(found.Parameters) {
		found.Parameters = raw("{}")
	}
	if kind := kindOf(found.Parameters); kind != "object" {
		return Action{}, broken(o.name, say("reason.kind", "actions[0].parameters", "object", kind), nil)
	}
	return found, found.check(o.name)
}

// idText is an ID, which some services write as a number.
type idText string

// UnmarshalJSON reads text, a number or null.
func (t *idText) UnmarshalJSON(in []byte) error {
	if kindOf(in) == "number" {
		*t = idText(in)
		return nil
	}
	return json.Unmarshal(in, (*string)(t))
}

// check checks that an action names everything its type needs.
func (a *Action) check(service string) error {
	missing := ""
	switch {
	case a.Type != "tool" && a.Type != "mcp":
		p := wrong("action_source.type", "source", clipped(a.Type))
		p.code = unsupportedType
		return p
	case a.Type == "tool" && a.Box == "":
		missing = "box_id"
	case a.Type == "tool" && a.Tool == "":
		missing = "tool_id"
	case a.Type == "mcp" && a.Server == "":
		missing = "mcp_id"
	case a.Type == "mcp" && a.ServerTool == "":
		missing = "tool_name"
	default:
		return nil
	}
	return &problem{status: http.StatusBadGateway, code: sourceIncomplete, details: details{
		"service": service, "field": "action_source." + missing, "expected": say("expect.sourceID", a.Type)}}
}

// instances appends a list.
func instances(dst []byte, list []raw) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	return append(dst, ']')
}
