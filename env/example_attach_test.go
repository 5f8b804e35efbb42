package env_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/env"
)

// sdkHost lets an environment be attached to a server of the official Go SDK.
type sdkHost struct{ server *mcp.Server }

func (h sdkHost) AddTool(t env.Tool) error {
	raw, err := t.Definition()
	if err != nil {
		return err
	}
	var def mcp.Tool
	if err := json.Unmarshal(raw, &def); err != nil {
		return err
	}
	h.server.AddTool(&def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw, err := t.Result(ctx, req.Params.Arguments)
		if raw == nil {
			return nil, err
		}
		res := &mcp.CallToolResult{}
		return res, json.Unmarshal(raw, res)
	})
	return nil
}

func (h sdkHost) AddPrompt(p env.Prompt) error {
	raw, err := p.Definition()
	if err != nil {
		return err
	}
	var def mcp.Prompt
	if err := json.Unmarshal(raw, &def); err != nil {
		return err
	}
	h.server.AddPrompt(&def, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		raw, err := p.Result(ctx, req.Params.Arguments)
		if err != nil {
			return nil, err
		}
		res := &mcp.GetPromptResult{}
		return res, json.Unmarshal(raw, res)
	})
	return nil
}

func ExampleAttach() {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "mine", Version: "1"}, nil)
	if err := env.Attach(ctx, sdkHost{server}, &library{}, &env.Options{Names: env.NamesUnderscore}); err != nil {
		fmt.Println(err)
		return
	}
	ours, theirs := mcp.NewInMemoryTransports()
	go server.Run(ctx, theirs)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, ours, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	tools, err := client.ListTools(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools.Tools[:4] {
		fmt.Println(t.Name)
	}
	prompt, err := client.GetPrompt(ctx, &mcp.GetPromptParams{Name: env.SystemPrompt})
	fmt.Println(len(prompt.Messages), err)
	refused, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "env_get_agent", Arguments: map[string]any{"id": "nobody"}})
	fmt.Println(refused.IsError, err)
	// Output:
	// env_create_session
	// env_delete_session
	// env_get_agent
	// env_get_description
	// 1 <nil>
	// true <nil>
}
