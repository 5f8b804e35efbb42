package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// ourOwn are the beginnings of the protocol's own methods, of which no server gets one that we do not know.
var ourOwn = []string{
	"completion", "elicitation", "initialize", "logging", "notifications", "ping", "prompts", "resources", "roots", "sampling", "server",
	"subscriptions", "tasks", "tools",
}

// isExtension tells whether a method is one that only an extension can have.
func isExtension(method string) bool {
	area, _, _ := strings.Cut(method, "/")
	return !slices.Contains(ourOwn, area)
}

// extension passes on a request of an extension that we do not know to the server that it is for: the owner of the resource that
// it names, under the server's own URI, else the only one of the profile's servers with such extensions.
func (v *visitor) extension(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
	unknown := fmt.Sprintf("unknown method %.100s", req.Method)
	view, err := v.shown(v.server.tools.Listed(ctx, v.profile))
	if err != nil || !v.principal.MayCall() {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s", unknown)
	}
	args := req.Params
	if rawjson.IsNull(args) {
		args = []byte("{}")
	}
	_, servers := view.Extensions()
	if uri, at, err := member(args, "uri"); err == nil {
		if owner, err := view.Owner(uri); err == nil && slices.Contains(servers, owner) {
			servers = []tool.ServerID{owner}
			args = rename(args, at, view.Original(uri))
		}
	}
	switch len(servers) {
	case 0:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s", unknown)
	case 1:
	default:
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s: it could be for any of the servers %s; use a profile with one of them",
			unknown, joined(servers))
	}
	about := catalog.UnknownTool(servers[0], req.Method)
	about.Kind = "method"
	if err := v.permit(about, args); err != nil {
		return nil, err
	}
	return v.relay(ctx, req, servers[0], args)
}

func joined(servers []tool.ServerID) string {
	names := make([]string, len(servers))
	for i, id := range servers {
		names[i] = string(id)
	}
	return strings.Join(names, ", ")
}
