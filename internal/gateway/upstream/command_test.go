//go:build unix

package upstream

import (
	"fmt"
	"os"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
)

func TestRelativeCommandStarts(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"here", "sub/there"} {
		if err := os.Symlink(program, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range []string{"command: ./here", "command: ./here, cwd: .", "command: ./there, cwd: sub", "command: sub/there"} {
		text := fmt.Sprintf("mcpServers:\n  s: {%s, env: {%s: plain, GORACE: atexit_sleep_ms=0}}\n", way, modeVariable)
		cfg, err := config.Parse("toolfit.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := newPool(t, nil, cfg.Servers...)
		if _, err := p.List(t.Context(), "s"); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}
