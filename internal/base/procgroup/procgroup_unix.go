//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own puts the program, before it is started, into a group of its own, so that all it starts
// can be ended with it.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

// Kill ends the whole group. It may be gone already.
func Kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
