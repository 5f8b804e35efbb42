//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own puts a program that is not started yet into its own process group.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

// Kill ends the whole group, if it still exists.
func Kill(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
