package testparts

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// AsNobody lets a command run as another user. Where that is not possible the test ends.
func AsNobody(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can start a program as another user")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
