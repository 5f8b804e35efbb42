package recall

import (
	"context"
	"encoding/json"
)

// Query asks which tool an action type is bound to, for some instances.
type Query struct {
	Network    string            // kn_id
	ActionType string            // at_id
	Instances  []json.RawMessage // objects; empty: none are named
	Account    Account
}

// Action is an action type, bound to its tool.
type Action struct {
	Type       string // tool or mcp; "" when there is nothing to do
	Box, Tool  string // of a tool of type tool
	Server     string // mcp_id
	ServerTool string // the server's own name for its tool
	Operation  string // canonical name of one of our operations; replaces all other names
	Parameters json.RawMessage
	Ours       bool // configured here, so ontology-query cannot execute it
}

// action finds an action: the configuration wins over ontology-query. An unknown one is a 404.
func (s *Service) action(ctx context.Context, q Query) (Action, error) {
	for _, a := range s.recall.Actions {
		switch {
		case a.Network != q.Network || a.ActionType != q.ActionType:
		case a.Tool != "":
			return Action{Type: "tool", Operation: a.Tool, Parameters: a.Parameters, Ours: true}, nil
		default:
			return Action{Type: "mcp", Server: a.Server, ServerTool: a.ServerTool, Parameters: a.Parameters, Ours: true}, nil
		}
	}
	if s.query != nil {
		return s.query.Action(ctx, q)
	}
	return Action{}, notFound(actionNotFound, details{"kn_id": clipped(q.Network), "at_id": clipped(q.ActionType)})
}
