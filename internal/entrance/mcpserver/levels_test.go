package mcpserver

import (
	"testing"

	"github.com/toolfit/toolfit/internal/mcp"
)

func TestServersAreToldTheLowestLevelThatAnyClientWants(t *testing.T) {
	l := levels{of: map[*mcp.Session]string{}}
	quiet, loud, other := &mcp.Session{}, &mcp.Session{}, &mcp.Session{}
	for i, step := range []struct{ got, want string }{
		{l.add(quiet, "error"), "error"},
		{l.add(loud, "debug"), "debug"},
		{l.add(other, "warning"), ""},
		{l.add(loud, "info"), "info"},
		{l.drop(quiet), ""}, // nothing has changed
		{l.drop(loud), "warning"},
		{l.drop(loud), ""},
		{l.drop(other), ""}, // nobody is left to want one
	} {
		if step.got != step.want {
			t.Errorf("step %d: %q, want %q", i, step.got, step.want)
		}
	}
}
