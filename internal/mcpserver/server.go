// Package mcpserver is the entrance for agents: it answers MCP requests from the catalogue
// and the spine. It adds nothing to a result and takes nothing away.
//
//	s := mcpserver.New(cat, caller, &mcpserver.Options{Version: version})
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
)

// Catalog is what lists are served from.
type Catalog interface {
	View(profile string) (*catalog.View, error)
	Ready(ctx context.Context)
}

// Caller makes calls.
type Caller interface {
	Do(ctx context.Context, req call.Request) (*call.Result, error)
}

// Server makes the entries of MCP fronts.
type Server struct {
	tools Catalog
	calls Caller
	opts  Options
}

// Options change a Server. The zero value is usable.
type Options struct {
	Version string        // "" says "dev"
	Wait    time.Duration // how long the first list waits for servers never listed; 0: 20 s
}

// New makes a Server; nil options are the defaults.
func New(tools Catalog, calls Caller, opts *Options) *Server {
	s := &Server{tools: tools, calls: calls}
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

var capabilities = json.RawMessage(`{"tools":{"listChanged":true}}`)

// Entry is the door for one caller and profile.
func (s *Server) Entry(p access.Principal, profile string) mcp.Entry {
	return mcp.Entry{
		Owner: p.ID, Group: profile,
		Info:    mcp.Info{Name: "toolfit", Title: "toolfit", Version: s.opts.Version, Capabilities: capabilities},
		Handler: &visitor{server: s, principal: p, profile: profile},
	}
}

// visitor answers one caller in one profile.
type visitor struct {
	server    *Server
	principal access.Principal
	profile   string
}

// Serve answers one request.
func (v *visitor) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch req.Method {
	case "tools/call":
		return v.call(ctx, req)
	case "tools/list":
		return v.list(ctx, req)
	case "notifications/roots/list_changed", "notifications/progress":
		return nil, nil
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// list answers from the rendered view. It is one page: cursors are never handed out.
func (v *visitor) list(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if cursor, ok := rawjson.String(rawjson.Get(req.Params, "cursor")); ok && cursor != "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown cursor")
	}
	wait, cancel := context.WithTimeout(ctx, v.server.opts.Wait)
	defer cancel()
	v.server.tools.Ready(wait)
	view, err := v.server.tools.View(v.profile)
	if err != nil {
		return nil, rpcError(err)
	}
	return view.List, nil
}

func (v *visitor) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	params, err := call.ParseParams(req.Params)
	if err != nil {
		return nil, rpcError(err)
	}
	session := ""
	if req.Session != nil {
		session = req.Session.ID
	}
	res, err := v.server.calls.Do(ctx, call.Request{
		Principal: v.principal, Profile: v.profile, MCPSession: session, Reader: call.Model, Params: params, Client: req.Client,
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

// toolError is a fault as a result that the model can read and act on: the sentence as
// text, the typed form beside it.
func toolError(f *fault.Error) json.RawMessage {
	typed, _ := json.Marshal(f) // strings and valid JSON only
	b := append([]byte(`{"content":[{"type":"text","text":`), rawjson.AppendString(nil, f.Error())...)
	b = append(b, `}],"isError":true,"_meta":{"toolfit/error":`...)
	return append(append(b, typed...), "}}"...)
}

// rpcError is a fault of the request itself.
func rpcError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	typed, _ := json.Marshal(f) // strings and valid JSON only
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: f.Error(), Data: typed}
}
