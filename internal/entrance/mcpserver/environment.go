package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// agentKey is the member of _meta in which a request names the agent that it is made for.
const agentKey = "toolfit/agent"

// EnvironmentEntry is the entry of one caller to a profile as an environment. Callers who may only read get its read-only protocol tools.
func (s *Server) EnvironmentEntry(p access.Principal, profile string) mcp.Entry {
	return s.entry(&visitor{server: s, principal: p, profile: profile, environment: true})
}

// view is what the caller sees now.
func (v *visitor) view() (*catalog.View, error) {
	return v.shown(v.server.tools.View(v.profile))
}

// shown is what the visitor sees of its profile's view.
func (v *visitor) shown(view *catalog.View, err error) (*catalog.View, error) {
	if err == nil && v.environment {
		view = view.Environment(v.principal.MayCall())
	}
	return view, err
}

// agentMay tells which tools the named agent may use; nil: all. Outside environments the name only goes into the record.
func (v *visitor) agentMay(agent string) (func(*catalog.Entry) bool, error) {
	if !v.environment || agent == "" || v.server.opts.May == nil {
		return nil, nil
	}
	may, err := v.server.opts.May(v.profile, agent)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%v", err)
	}
	return may, nil
}

// listTools lists the tools, of those that the agent may use which the request names.
func (v *visitor) listTools(ctx context.Context, req *mcp.Request, era mcp.Era) (json.RawMessage, error) {
	var agent string
	if v.environment {
		agent, _ = rawjson.String(rawjson.Get(req.Params, "_meta", agentKey))
	}
	may, err := v.agentMay(agent)
	if err != nil {
		return nil, err
	}
	return v.list(ctx, req, era, catalog.ToolKind, may)
}

// refusal is an error as the result of a tool. Tools of the environment protocol have a form of their own for it.
func (v *visitor) refusal(name string, f *fault.Error) json.RawMessage {
	raw := toolError(f)
	if !strings.HasPrefix(name, "env") {
		return raw
	}
	view, err := v.view()
	if err != nil {
		return raw
	}
	if e, err := view.Find(name); err != nil || !e.Environment {
		return raw
	}
	text := append(rawjson.AppendString([]byte(`{"error":`), f.Error()), '}')
	block := rawjson.AppendString([]byte(`[{"type":"text","text":`), string(text))
	return mcp.With(mcp.Without(raw, "content"), "content", append(block, "}]"...))
}
