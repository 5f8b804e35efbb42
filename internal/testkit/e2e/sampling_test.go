package e2e

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 sampling is deprecated, and clients still have it

// sampling makes the client's model answer with a text.
func sampling(text string, options *mcp.ClientOptions) *mcp.ClientOptions {
	options.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: text}}, nil
	}
	return options
}
