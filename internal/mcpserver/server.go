// Package mcpserver is the entrance for agents: it answers MCP requests from the catalogue,
// the spine and the servers. It adds nothing to a result and takes nothing away.
//
//	s := mcpserver.New(cat, caller, pool, &mcpserver.Options{Version: version})
//	front.Serve(w, r, s.Entry(principal, "default"))
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/call"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tool"
	"github.com/toolfit/toolfit/internal/upstream"
)

// Catalog is what lists are served from.
type Catalog interface {
	View(profile string) (*catalog.View, error)
	Ready(ctx context.Context, profile string)
}

// Caller makes tool calls.
type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
}

// Server makes the entries of MCP fronts.
type Server struct {
	tools         Catalog
	calls         Caller
	servers       *upstream.Pool
	subscriptions subscriptions
	levels        levels
	opts          Options
}

// Options change a Server. The zero value is usable.
type Options struct {
	Version string        // "" says "dev"
	Wait    time.Duration // how long the first list waits for servers never listed; 0: 20 s
}

// New makes a Server; nil options are the defaults.
func New(tools Catalog, calls Caller, servers *upstream.Pool, opts *Options) *Server {
	s := &Server{tools: tools, calls: calls, servers: servers}
	s.subscriptions.to, s.subscriptions.of = map[resource]*subscription{}, map[*mcp.Session]map[resource]bool{}
	s.levels.of = map[*mcp.Session]string{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Version == "" {
		s.opts.Version = "dev"
	}
	if s.opts.Wait == 0 {
		s.opts.Wait = 20 * time.Second
	}
	return s
}

// capabilities are those of every server that could be behind us: which ones have what may
// not be known yet when a client connects.
var capabilities = json.RawMessage(`{"tools":{"listChanged":true},"prompts":{"listChanged":true},` +
	`"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`)

// Entry is the door for one caller and profile.
func (s *Server) Entry(p access.Principal, profile string) mcp.Entry {
	v := &visitor{server: s, principal: p, profile: profile}
	return mcp.Entry{Owner: p.ID, Group: profile, Info: v.info, Handler: v}
}

// SessionEnded lets go of what was kept for a session. It may wait for servers.
func (s *Server) SessionEnded(ctx context.Context, session *mcp.Session) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s.servers.EndSession(session.ID)
	if level := s.levels.drop(session); level != "" {
		s.servers.SetLevel(ctx, level)
	}
	s.unsubscribeAll(ctx, session)
}

// visitor answers one caller in one profile.
type visitor struct {
	server    *Server
	principal access.Principal
	profile   string
}

// info is what initialize answers.
func (v *visitor) info() mcp.Info {
	info := mcp.Info{Name: "toolfit", Title: "toolfit", Version: v.server.opts.Version, Capabilities: capabilities}
	if view, err := v.server.tools.View(v.profile); err == nil {
		info.Instructions = view.Instructions
	}
	return info
}

// Serve answers one request.
func (v *visitor) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch req.Method {
	case "tools/call":
		return v.call(ctx, req)
	case "tools/list":
		return v.list(ctx, req, func(view *catalog.View) []byte { return view.List })
	case "prompts/list":
		return v.list(ctx, req, func(view *catalog.View) []byte { return view.PromptList })
	case "resources/list":
		return v.list(ctx, req, func(view *catalog.View) []byte { return view.ResourceList })
	case "resources/templates/list":
		return v.list(ctx, req, func(view *catalog.View) []byte { return view.TemplateList })
	case "prompts/get":
		return v.getPrompt(ctx, req)
	case "resources/read":
		return v.readResource(ctx, req)
	case "resources/subscribe":
		return v.subscribe(ctx, req)
	case "resources/unsubscribe":
		return v.unsubscribe(ctx, req)
	case "completion/complete":
		return v.complete(ctx, req)
	case "logging/setLevel":
		return v.setLevel(ctx, req)
	case "notifications/roots/list_changed":
		v.server.servers.Tell(sessionOf(req), req.Method, req.Params)
		return nil, nil
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// list answers from the rendered view. It is one page: cursors are never handed out.
func (v *visitor) list(ctx context.Context, req *mcp.Request, pick func(*catalog.View) []byte) (json.RawMessage, error) {
	if cursor, ok := rawjson.String(rawjson.Get(req.Params, "cursor")); ok && cursor != "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown cursor")
	}
	wait, cancel := context.WithTimeout(ctx, v.server.opts.Wait)
	defer cancel()
	v.server.tools.Ready(wait, v.profile)
	view, err := v.server.tools.View(v.profile)
	if err != nil {
		return nil, rpcError(err)
	}
	return pick(view), nil
}

func (v *visitor) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	params, err := call.ParseParams(req.Params)
	if err != nil {
		return nil, rpcError(err)
	}
	res, err := v.server.calls.Do(ctx, call.Request{
		Principal: v.principal, Profile: v.profile, MCPSession: sessionOf(req), Session: req.Session,
		Reader: call.Model, AsListed: true, Params: params, Client: req.Client,
	})
	if err == nil {
		req.Sent = res.Release
		return res.Raw, nil
	}
	if fault.Is(err, fault.UnknownTool) || fault.Is(err, fault.Forbidden) || fault.Is(err, fault.NotFound) {
		return nil, rpcError(err)
	}
	var rpc *mcp.Error
	if errors.As(err, &rpc) {
		return nil, rpc
	}
	var f *fault.Error
	if errors.As(err, &f) {
		return toolError(f), nil
	}
	return nil, err
}

func sessionOf(req *mcp.Request) string {
	if req.Session == nil {
		return ""
	}
	return req.Session.ID
}

// relay sends a request that is no tool call to the server it belongs to.
func (v *visitor) relay(ctx context.Context, req *mcp.Request, server tool.ServerID, params json.RawMessage) (json.RawMessage, error) {
	out, err := v.server.servers.Call(ctx, upstream.Call{
		Server: server, Method: req.Method, Params: params, Token: mcp.ProgressToken(params), Peer: req.Client, Session: sessionOf(req), Client: req.Session,
	})
	if err != nil {
		return nil, rpcError(err)
	}
	req.Sent = out.Release
	return out.Raw, nil
}

// toolError is a fault as a result that the model can read and act on: the sentence as
// text, the typed form beside it.
func toolError(f *fault.Error) json.RawMessage {
	typed, _ := json.Marshal(f) // strings and valid JSON only
	b := append([]byte(`{"content":[{"type":"text","text":`), rawjson.AppendString(nil, f.Error())...)
	b = append(b, `}],"isError":true,"_meta":{"toolfit/error":`...)
	return append(append(b, typed...), "}}"...)
}

// rpcError is a fault where there is no tool result to carry it.
func rpcError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	code := mcp.CodeInternal
	switch f.Code {
	case fault.BadRequest, fault.UnknownTool, fault.NotFound, fault.Forbidden:
		code = mcp.CodeInvalidParams
	}
	typed, _ := json.Marshal(f) // strings and valid JSON only
	return &mcp.Error{Code: code, Message: f.Error(), Data: typed}
}
