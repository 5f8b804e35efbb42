package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServer is a server of the Go SDK over Streamable HTTP, with one tool.
func sdkServer(t *testing.T) (*mcp.Server, string) {
	t.Helper()
	up := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	add(up, "first")
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return up }, nil))
	t.Cleanup(func() {
		srv.CloseClientConnections() // the gateway's stream is still open
		srv.Close()
	})
	return up, srv.URL
}

func add(up *mcp.Server, name string) {
	mcp.AddTool(up, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
}
