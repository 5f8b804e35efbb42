package env

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Server is an environment as an MCP server, for all revisions of the protocol. It is an
// http.Handler; Run serves it over pipes.
type Server struct {
	env      Environment // nil when everything is written by hand
	opts     *Options
	protocol []Tool // under both names
	sessions *mcp.Sessions
	front    *mcp.Front
	tasks    *tasks

	mu      sync.RWMutex
	tools   []Tool // in addition to the environment's own
	prompts []Prompt
}

// NewServer makes a server of an environment. Options win over what is derived. Without an
// environment the options are all there is; without both it is a bare MCP server, for Attach.
func NewServer(e Environment, opts *Options) (*Server, error) {
	o, err := Derive(e, Meta{}, opts)
	var tools []Tool
	if err == nil && (e != nil || opts != nil) {
		tools, err = o.protocolTools()
	}
	if err != nil {
		return nil, fmt.Errorf("new environment server: %w", err)
	}
	running := newTasks(o.TaskTTL)
	sessions := mcp.NewSessions(&mcp.SessionsOptions{Ended: running.endOf})
	return &Server{
		env: e, opts: o, protocol: tools, sessions: sessions, tasks: running,
		front: mcp.NewFront(sessions, &mcp.FrontOptions{Logger: o.Logger}),
	}, nil
}

// Close ends all connections and cancels all tasks.
func (s *Server) Close() {
	s.sessions.Close()
	s.tasks.close()
}

// Run serves one client over pipes, such as standard input and output, until the input or ctx ends.
func (s *Server) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	return mcp.ServeStdio(ctx, in, out, s.sessions, s.entry(), &mcp.StdioOptions{Logger: s.opts.Logger})
}

// ServeHTTP serves MCP over Streamable HTTP, at any path. A server that listens on loopback accepts
// only local names and Options.Hosts: otherwise any web page could reach it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.opts.checkOrigin(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	s.front.Serve(w, r, s.entry())
}

// AddTool adds a tool to those of the environment.
func (s *Server) AddTool(t Tool) error {
	if err := checkTool(t); err != nil {
		return err
	}
	if _, err := partsOf(t); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if named(s.tools, t.Name) != nil || named(s.protocol, t.Name) != nil {
		return fmt.Errorf("there is a tool %s already", t.Name)
	}
	s.tools = append(slices.Clip(s.tools), t)
	s.sessions.Broadcast("", "notifications/tools/list_changed", nil)
	return nil
}

// AddPrompt adds a prompt to those of the environment.
func (s *Server) AddPrompt(p Prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(slices.Clip(s.prompts), p)
	if err := checkPrompts(all); err != nil {
		return err
	}
	s.prompts = all
	s.sessions.Broadcast("", "notifications/prompts/list_changed", nil)
	return nil
}

// Changed tells clients that tools and prompts have changed.
func (s *Server) Changed() {
	s.sessions.Broadcast("", "notifications/tools/list_changed", nil)
	s.sessions.Broadcast("", "notifications/prompts/list_changed", nil)
}

func (s *Server) entry() mcp.Entry { return mcp.Entry{Info: s.info, Handler: mcp.HandlerFunc(s.serve)} }

func (s *Server) info() mcp.Info {
	m := s.opts.Meta
	return mcp.Info{
		Name: cmp.Or(m.ID, "base-env"), Title: cmp.Or(m.DisplayName, "Base Environment"), Version: cmp.Or(m.Version, "0"),
		Capabilities: json.RawMessage(`{"tools":{"listChanged":true},"prompts":{"listChanged":true}}`),
		Tasks:        true,
	}
}

// serve answers a request in the client's revision of the protocol.
func (s *Server) serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	raw, err := s.answer(ctx, req)
	if err != nil || req.Meta == nil || req.Method == "subscriptions/listen" {
		return raw, err
	}
	if strings.HasSuffix(req.Method, "/list") {
		raw = mcp.With(mcp.With(raw, "cacheScope", []byte(`"private"`)), "ttlMs", []byte("0"))
	}
	if rawjson.Get(raw, "_meta") == nil {
		raw = mcp.With(raw, "_meta", append(append([]byte(`{"`+mcp.MetaServer+`":`), s.info().Implementation()...), '}'))
	}
	return complete(raw), nil
}

// complete adds the type of a modern result that has none.
func complete(raw json.RawMessage) json.RawMessage {
	if raw == nil || mcp.ResultType(raw) != "" {
		return raw
	}
	return mcp.With(raw, "resultType", []byte(`"complete"`))
}

func (s *Server) answer(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if !utf8.Valid(req.Params) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "params: the text is not UTF-8")
	}
	switch req.Method {
	case "tools/list":
		return s.listTools(ctx, req)
	case "prompts/list":
		return s.listPrompts(ctx, req)
	case "tools/call":
		return s.call(ctx, req)
	case "prompts/get":
		return s.getPrompt(ctx, req)
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list":
		return s.serveTasks(ctx, req)
	case "subscriptions/listen":
		return req.Listen(ctx, func(session *mcp.Session, f mcp.Filter) mcp.Filter {
			return mcp.Filter{Tasks: s.tasks.listen(session, f.Tasks), Lists: slices.DeleteFunc(slices.Clone(f.Lists), func(name string) bool { return name == "resources" })}
		})
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// clientError returns an error for a client; panics are only logged.
func (s *Server) clientError(err error) error {
	var broken *panicError
	var none *NotFoundError
	var wrong *argumentsError
	switch {
	case errors.As(err, &broken):
		s.opts.Logger.Error("environment panicked", "error", err)
		return mcp.Errorf(mcp.CodeInternal, "internal error")
	case errors.As(err, &none) || errors.As(err, &wrong):
		return mcp.Errorf(mcp.CodeInvalidParams, "%v", err)
	}
	return mcp.Errorf(mcp.CodeInternal, "%v", err)
}
