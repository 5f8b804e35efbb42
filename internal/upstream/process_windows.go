package upstream

import (
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps console signals for us from reaching the process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup ends the process and its children. Windows has no signal that asks first.
func killGroup(cmd *exec.Cmd, force bool) {
	if !force {
		return
	}
	exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}
