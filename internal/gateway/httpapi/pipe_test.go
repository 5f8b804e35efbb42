//go:build unix

package httpapi

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestAPipeInPlaceOfADescriptionIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "api.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	a := newWorld(t).api(t, func(s *config.Server) { s.API.Spec = pipe })
	if _, err := a.Serve(t.Context(), &mcp.Request{Method: "tools/list"}); !fault.Is(err, fault.BadConfig) {
		t.Errorf("got %v", err)
	}
}
