package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// builtin is a server inside our own process.
type builtin struct {
	server  tool.ServerID
	hooks   hooks
	handler mcp.Handler
	done    chan struct{}
	once    sync.Once
}

func newBuiltin(server tool.ServerID, h hooks, handler mcp.Handler) *builtin {
	return &builtin{server: server, hooks: h, handler: handler, done: make(chan struct{})}
}

func (s *server) startBuiltin(h hooks) (conn, error) {
	start := s.pool.opts.Builtins[s.cfg.Builtin]
	if start == nil {
		return nil, fault.New(fault.BadConfig, "server %s names a builtin %q that does not exist", s.cfg.ID, s.cfg.Builtin).
			WithHint("there are: %s", strings.Join(slices.Sorted(maps.Keys(s.pool.opts.Builtins)), ", "))
	}
	handler, err := start(s.cfg)
	if err != nil {
		return nil, err
	}
	return newBuiltin(s.cfg.ID, h, handler), nil
}

func (b *builtin) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	if out.method == helloMethod {
		hello := `{"protocolVersion":"` + mcp.Latest + `","capabilities":{"tools":{}},"serverInfo":{"name":"builtin","version":"1"}}`
		return json.RawMessage(hello), nil
	}
	result, err := b.handler.Serve(ctx, &mcp.Request{
		ID: json.RawMessage("1"), Method: out.method, Params: out.params, Caller: out.caller, Client: patient{out.peer, out.clock, b.server},
	})
	if err != nil {
		return nil, err
	}
	return b.hooks.valid(b.server, result)
}

func (b *builtin) notify(string, json.RawMessage) {}

func (b *builtin) closed() <-chan struct{} { return b.done }

func (b *builtin) close() {
	b.once.Do(func() {
		close(b.done)
		if h, ok := b.handler.(interface{ Close() }); ok {
			h.Close()
		}
	})
}

// patient is the caller of a built-in server: while it is asked something, the call's deadline is suspended.
type patient struct {
	mcp.Peer
	clock  *deadline
	server tool.ServerID
}

func (p patient) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	p.clock.asked()
	defer p.clock.answered()
	return p.Peer.Ask(ctx, method, signed(p.server, method, params))
}
