package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
)

func TestAClockThatIsFarOffIsAProblem(t *testing.T) {
	d := &doctor{Options: Options{Now: func() time.Time { return time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC) }}}
	if d.clock(time.Time{}); d.findings[0].Status != Problem {
		t.Errorf("got %+v", d.findings)
	}
}

func TestDoctorKnowsWhereCommonCommandsComeFrom(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for command, want := range map[string]string{"npx": "Node.js", "uvx": "uv", "docker": "Docker", "other": "install it"} {
		if message, hint := missing(config.Server{ID: "s", Command: command}); message == "" || !strings.Contains(hint, want) {
			t.Errorf("%s: %q, %q", command, message, hint)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	npx := filepath.Join(os.Getenv("PATH"), "npx")
	if err := os.WriteFile(npx, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if message, hint := missing(config.Server{ID: "s", Command: "npx"}); message != "npx exists, but node does not" || hint == "" {
		t.Errorf("npx without node: %q, %q", message, hint)
	}
}
