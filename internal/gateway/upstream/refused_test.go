//go:build unix

package upstream

import (
	"errors"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// A server that does not know tools/list has no tools. One that does not know the greeting
// is none: what was listed before must not be taken for gone.
func TestAServerThatRefusesTheGreetingIsNotOneWithoutTools(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, badConfig("bad", "init unknown"))
	_, err := p.List(t.Context(), "bad")
	wantFault(t, err, fault.UpstreamProtocol, "server bad refused to start a session: ")
	_, err = callTool(t.Context(), p, "bad", "echo")
	if own := (*mcp.Error)(nil); errors.As(err, &own) {
		t.Errorf("told as the server's answer to the call: %v", err)
	}
}

func TestAProgramThatRepeatsItsInputIsTold(t *testing.T) {
	t.Parallel()
	p, _ := newPool(t, nil, config.Server{ID: "echo", Command: "cat", Timeout: 20 * time.Second, Start: 20 * time.Second, Idle: time.Hour})
	_, err := p.List(t.Context(), "echo")
	wantFault(t, err, fault.UpstreamProtocol, "server echo echoes what it is sent")
}
