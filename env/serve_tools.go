package env

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// agentKey is the member of _meta that names the agent of a request.
const agentKey = "toolfit/agent"

// own returns the tools, apart from the protocol's, that both the agent of the options and the one
// of the request may use.
func (s *Server) own(ctx context.Context, req *mcp.Request) (tools []Tool, err error) {
	defer recovered(&err)
	named, _ := rawjson.String(rawjson.Get(req.Params, "_meta", agentKey))
	tools, err = ownTools(ctx, s.env)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	tools = slices.Concat(tools, s.tools)
	s.mu.RUnlock()
	return s.opts.allowed(ctx, tools, s.opts.Agent, named)
}

func (s *Server) listTools(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	if err := refuseCursor(req); err != nil {
		return nil, err
	}
	own, err := s.own(ctx, req)
	if err != nil {
		return nil, s.clientError(err)
	}
	seen := map[string]bool{}
	shown := []json.RawMessage{}
	showTasks := speaksTasks(req)
	add := func(t Tool) error {
		if seen[t.Name] {
			return fmt.Errorf("there are two tools with the name %s", t.Name)
		}
		seen[t.Name] = true
		raw, err := t.Definition()
		if err == nil && showTasks && t.Task != "" {
			raw = mcp.With(raw, "execution", []byte(`{"taskSupport":"`+string(t.Task)+`"}`))
		}
		shown = append(shown, raw)
		return err
	}
	for _, t := range s.protocol {
		if s.opts.lists(t.Name) {
			err = add(t)
		}
		seen[t.Name] = true
	}
	for _, t := range own {
		if err == nil {
			err = add(t)
		}
	}
	if err != nil {
		return nil, s.clientError(err)
	}
	return rawjson.Marshal(map[string]any{"tools": shown})
}

// refuseCursor rejects cursors, as there is only one page.
func refuseCursor(req *mcp.Request) error {
	if cursor, ok := rawjson.String(rawjson.Get(req.Params, "cursor")); ok && cursor != "" {
		return mcp.Errorf(mcp.CodeInvalidParams, "unknown cursor")
	}
	return nil
}

func (s *Server) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	name, ok := rawjson.String(rawjson.Get(req.Params, "name"))
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs params.name")
	}
	args := bytes.Clone(rawjson.Get(req.Params, "arguments"))
	if t := named(s.protocol, name); t != nil {
		raw, err := t.Result(ctx, args)
		return s.told(name, raw, err)
	}
	own, err := s.own(ctx, req)
	if err != nil {
		return nil, s.clientError(err)
	}
	t := cmp.Or(named(own, name), named(own, twin(name))) // the twin: of an attached environment
	if t == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %.100q", name)
	}
	return s.callOwn(ctx, req, *t, args)
}

// callOwn calls a tool that is not the protocol's.
func (s *Server) callOwn(ctx context.Context, req *mcp.Request, t Tool, args json.RawMessage) (json.RawMessage, error) {
	p, err := partsOf(t)
	if err != nil {
		return nil, s.clientError(err)
	}
	ttl, err := s.taskTime(req, t)
	if err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, conversationKey{}, &open{req: req})
	args, err = p.prepare(ctx, args)
	if err == nil && ttl > 0 {
		return s.startTask(ctx, req, ttl, func(ctx context.Context) (any, error) { return p.run(ctx, args) })
	}
	var v any
	if err == nil {
		v, err = p.run(ctx, args)
	}
	var asks *unanswered
	if errors.As(err, &asks) {
		return asks.result()
	}
	raw, err := outcome(ctx, v, err)
	raw, err = s.told(t.Name, raw, err)
	if err == nil && ttl > 0 && req.Meta == nil { // a legacy client can read nothing but a task
		return s.startTask(ctx, req, ttl, func(context.Context) (any, error) { return RawResult(raw), nil })
	}
	return raw, err
}

// told returns a tool's result with its error, which is only logged.
func (s *Server) told(name string, raw json.RawMessage, err error) (json.RawMessage, error) {
	if raw == nil {
		return nil, err
	}
	if errors.Is(err, ErrPanicked) {
		s.opts.Logger.Error("tool panicked", "tool", name, "error", err)
	}
	return raw, nil
}

// named returns the tool with the name, or nil.
func named(tools []Tool, name string) *Tool {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}
