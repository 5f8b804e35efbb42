package mcpserver

import (
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// getSkill asks the server that the URI names, whether it lists the skill or not.
func (v *visitor) getSkill(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	view, err := v.view()
	if err != nil {
		return nil, rpcError(err)
	}
	uri, at, err := member(req.Params, "uri")
	if err != nil {
		return nil, err
	}
	server, err := view.SkillServer(uri)
	if err != nil {
		return nil, rpcError(err)
	}
	original := view.Original(uri)
	if err := v.permit(catalog.PolicySkill(server), catalog.URIArgs(original)); err != nil {
		return nil, err
	}
	out, err := v.relay(ctx, req, server, rename(req.Params, at, original))
	if err != nil || out.Kind == upstream.InputRequired {
		return out, err
	}
	here, changed, err := view.GotSkill(uri, out.Raw)
	if err != nil {
		out.Release()
		return nil, rpcError(err)
	}
	if changed && v.server.opts.Changed != nil {
		v.server.opts.Changed(server)
	}
	out.Set(here)
	return out, nil
}

// readDirectory lists what is in a directory of a server that can do so.
func (v *visitor) readDirectory(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	out, err := v.read(ctx, req, "resources")
	var rpc *mcp.Error
	if errors.As(err, &rpc) && rpc.Code == mcp.CodeNoResource {
		err = &mcp.Error{Code: mcp.CodeInvalidParams, Message: rpc.Message, Data: dataOf(rpc)}
	}
	return out, err
}
