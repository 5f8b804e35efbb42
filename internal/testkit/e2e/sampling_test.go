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

// sampled asks the client's model.
func sampled(ctx context.Context, session *mcp.ServerSession) (string, error) {
	said, err := session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10,
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "capital?"}}}})
	if err != nil {
		return "", err
	}
	text, _ := said.Content.(*mcp.TextContent)
	return text.Text, nil
}
