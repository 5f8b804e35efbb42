package upstream

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/toolfit/toolfit/internal/mcp"
)

// builtin is a server inside our own process.
type builtin struct {
	handler mcp.Handler
	done    chan struct{}
	once    sync.Once
}

func newBuiltin(h mcp.Handler) *builtin { return &builtin{handler: h, done: make(chan struct{})} }

func (b *builtin) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	if out.method == "initialize" {
		return json.RawMessage(`{"protocolVersion":"` + mcp.Latest + `","capabilities":{"tools":{}},"serverInfo":{"name":"builtin","version":"1"}}`), nil
	}
	return b.handler.Serve(ctx, &mcp.Request{ID: json.RawMessage("1"), Method: out.method, Params: out.params, Client: out.peer})
}

func (b *builtin) notify(string, json.RawMessage) {}

func (b *builtin) closed() <-chan struct{} { return b.done }

func (b *builtin) close() { b.once.Do(func() { close(b.done) }) }
