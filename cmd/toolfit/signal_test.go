//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hang starts a command that waits for its input, whatever it is told. It returns when the
// command reads: from then on signals are caught.
func hang(t *testing.T, name string) (cmd *exec.Cmd, said *bytes.Buffer, ended <-chan error) {
	t.Helper()
	said = &bytes.Buffer{}
	cmd = &exec.Cmd{Path: os.Args[0], Args: []string{name, "schema", "fit", "--dialect", "openai", "-"}, Stdout: said, Stderr: said}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, strings.Repeat(" ", 1<<20)); err != nil { // more than a pipe holds
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	return cmd, said, done
}

func TestASignalEndsACommandThatHangs(t *testing.T) {
	cmd, said, ended := hang(t, "toolfit-impatient")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "something hangs") {
		t.Errorf("%s: %s", cmd.ProcessState, said)
	}
}

func TestASecondSignalEndsACommandAtOnce(t *testing.T) {
	cmd, _, ended := hang(t, "toolfit")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		cmd.Process.Signal(syscall.SIGTERM) // the first is caught, and so may be those right behind it
		select {
		case <-tick.C:
			continue
		case <-ended:
		}
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
			t.Errorf("it ended with %s", cmd.ProcessState)
		}
		return
	}
}
