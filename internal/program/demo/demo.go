// Package demo holds two MCP servers with which everything can be tried without
// installing anything: "cloud", the server for CloudBase against a fake of its cloud, whose
// answers are as fat as the real ones, and "shop", a small store with reads, a write, slow,
// failing and huge tools; and "parcels", an HTTP API beside them, with its description. All
// live in memory and answer the same bytes to the same calls in every process. They never
// touch the disk or the network, and they keep nothing after the process ends.
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

// entry is one tool: its definition as listed, and what a call of it does. A refusal that
// run returns reaches the model as a tool error; any other error is one of the protocol.
type entry struct {
	definition string
	run        func(ctx context.Context, args json.RawMessage, req *mcp.Request) (json.RawMessage, error)
}

// server answers for a table of tools.
type server struct {
	list  json.RawMessage // the whole result of tools/list
	tools map[string]entry
}

// newServer reads the table. The definitions are constants of this package, so a wrong
// one is a mistake in the program and panics.
func newServer(entries []entry) *server {
	s := &server{tools: make(map[string]entry, len(entries))}
	var list bytes.Buffer
	list.WriteString(`{"tools":[`)
	for i, e := range entries {
		var head struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal([]byte(e.definition), &head); err != nil {
			panic(fmt.Sprintf("demo: read definition %d: %v", i, err))
		}
		if i > 0 {
			list.WriteByte(',')
		}
		if err := json.Compact(&list, []byte(e.definition)); err != nil {
			panic(fmt.Sprintf("demo: compact definition of %s: %v", head.Name, err))
		}
		s.tools[head.Name] = e
	}
	list.WriteString(`]}`)
	s.list = list.Bytes()
	return s
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
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "method %q is not known here", req.Method)
}

// call runs one tool and turns what it refuses into a tool error.
func (s *server) call(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "tools/call needs an object with name and arguments")
	}
	e, ok := s.tools[params.Name]
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %q", params.Name)
	}
	res, err := e.run(ctx, params.Arguments, req)
	var no refusal
	if errors.As(err, &no) {
		return encode(result{Content: textOf(string(no)), IsError: true})
	}
	return res, err
}

type refusal = arguments.Error

func refusef(format string, args ...any) error {
	return refusal(fmt.Sprintf(format, args...))
}

// result is the answer of tools/call.
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

// answer gives v twice, as most servers do: pretty-printed text and structured content.
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

// encode writes compact JSON without the escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
