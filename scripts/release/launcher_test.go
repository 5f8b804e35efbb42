package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestTheLauncherPassesSignalsOnAndEndsAsTheProgramDoes, with a program that says what it gets.
func TestTheLauncherPassesSignalsOnAndEndsAsTheProgramDoes(t *testing.T) {
	testparts.NeedProgram(t, "node", "it runs the launcher")
	system, cpu := nodeName(platform{runtime.GOOS, runtime.GOARCH})
	dir := t.TempDir()
	const program = `#!/usr/bin/env node
process.on("SIGHUP", () => console.log("hangup"));
process.on("SIGTERM", () => process.exit(7));
setInterval(() => {}, 1000);
console.log("ready");
`
	for name, text := range map[string]string{
		"package.json": `{"optionalDependencies": {}}`, "bin/toolfit.js": string(launcher),
		"node_modules/@toolfit/" + system + "-" + cpu + "/bin/toolfit": program,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "bin/toolfit.js"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, step := range []struct {
		said string
		send syscall.Signal
	}{{"ready", syscall.SIGHUP}, {"hangup", syscall.SIGTERM}} {
		if !lines.Scan() || lines.Text() != step.said {
			t.Fatalf("got %q, want %q", lines.Text(), step.said)
		}
		cmd.Process.Signal(step.send)
	}
	if cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("it ends with %v, the program with 7", cmd.ProcessState)
	}
}
