package procgroup

import "syscall"

// endWithUs ends the process when ours is killed, even if it ignores the end of its input.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
