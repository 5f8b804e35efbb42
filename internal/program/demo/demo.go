// Package demo has two MCP servers and an HTTP API for trying toolfit without installing
// anything: "cloud", the CloudBase server with a fake cloud, whose answers are as large as the
// real ones; "shop", a small store with reads, a write, and slow, failing and huge tools; and
// the HTTP API "parcels". All live in memory and give the same bytes for the same calls in every
// process. They never use the disk or the network.
//
//	res, err := demo.Cloud(nil).Serve(ctx, &mcp.Request{
//		Method: "tools/call",
//		Params: json.RawMessage(`{"name":"envQuery","arguments":{"action":"list"}}`),
//		Client: mcp.Deaf,
//	})
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/mcp"
)

// run is what a tool does. It returns the value of the answer; a string is answered as text
// only. An arguments.Error reaches the model as a tool error, others are protocol errors.
type run func(ctx context.Context, in *args, req *mcp.Request) (any, error)

type server struct {
	list  json.RawMessage // result of tools/list
	tools map[string]run
}

// newServer makes a server from a list of tools, which is embedded and so must be valid.
func newServer(list []byte, tools map[string]run) *server {
	var compact bytes.Buffer
	if err := json.Compact(&compact, list); err != nil {
		panic(fmt.Sprintf("demo: %v", err))
	}
	return &server{compact.Bytes(), tools}
}

// Serve answers ping, tools/list and tools/call.
func (s *server) Serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	switch req.Method {
	case "ping":
		return json.RawMessage(`{}`), nil
	case "tools/list":
		return bytes.Clone(s.list), nil
	case "tools/call":
		return s.call(ctx, req)
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %q", req.Method)
}

func (s *server) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs an object with name and arguments")
	}
	tool, ok := s.tools[params.Name]
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %q", params.Name)
	}
	v, err := tool(ctx, readArgs(params.Arguments), req)
	var problem arguments.Error
	switch {
	case errors.As(err, &problem):
		return encode(result{Content: textOf(string(problem)), IsError: true})
	case err != nil:
		return nil, err
	}
	if text, only := v.(string); only {
		return encode(result{Content: textOf(text)})
	}
	return answer(v)
}

// problemf is a problem with the arguments.
func problemf(format string, args ...any) error { return arguments.Error(fmt.Sprintf(format, args...)) }

type result struct {
	Content           []block         `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textOf(s string) []block { return []block{{Type: "text", Text: s}} }

// answer is v twice, as most servers do: as pretty-printed text and as structured content.
func answer(v any) (json.RawMessage, error) {
	compact, err := encode(v)
	if err != nil {
		return nil, err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent answer: %w", err)
	}
	return encode(result{Content: textOf(pretty.String()), StructuredContent: compact})
}

// encode writes compact JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
