package recall

import (
	"context"
	"encoding/json"

	"github.com/toolfit/toolfit/internal/state/config"
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
	Operation  string // canonical name of an operation of ours; instead of all other names
	Parameters json.RawMessage
	Ours       bool // it is known here, and ontology-query cannot execute it
}

// Actions knows action types. One that it does not know is a 404.
type Actions interface {
	Action(ctx context.Context, q Query) (Action, error)
}

// configured are the actions of the configuration.
type configured []config.RecallAction

// Action finds an action of the configuration.
func (c configured) Action(_ context.Context, q Query) (Action, error) {
	for _, a := range c {
		if a.Network != q.Network || a.ActionType != q.ActionType {
			continue
		}
		if a.Tool != "" {
			return Action{Type: "tool", Operation: a.Tool, Parameters: a.Parameters, Ours: true}, nil
		}
		return Action{Type: "mcp", Server: a.Server, ServerTool: a.ServerTool, Parameters: a.Parameters, Ours: true}, nil
	}
	return Action{}, notFound(actionNotFound, details{"kn_id": clipped(q.Network), "at_id": clipped(q.ActionType)})
}

// inTurn asks the configuration first: the file is the truth for what it names.
type inTurn struct {
	file configured
	then Actions
}

// Action finds an action in either.
func (t inTurn) Action(ctx context.Context, q Query) (Action, error) {
	if a, err := t.file.Action(ctx, q); err == nil {
		return a, nil
	}
	return t.then.Action(ctx, q)
}
