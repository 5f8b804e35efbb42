//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// BenchmarkCall is one call without a network: what the pool itself costs.
func BenchmarkCall(b *testing.B) {
	answer := json.RawMessage(okResult)
	serve := mcp.HandlerFunc(func(context.Context, *mcp.Request) (json.RawMessage, error) { return answer, nil })
	p := New(&Options{Builtins: map[string]Builtin{"in": func(config.Server) (mcp.Handler, error) { return serve, nil }}})
	b.Cleanup(p.Close)
	p.Apply([]config.Server{{ID: "s", Builtin: "in"}})
	call := Call{Server: "s", Tool: "t", Params: json.RawMessage(`{"name":"t","arguments":{}}`)}
	b.ReportAllocs()
	for b.Loop() {
		out, err := p.Call(b.Context(), call)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
	}
}
