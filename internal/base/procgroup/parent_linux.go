package procgroup

import "syscall"

// endWithUs asks the system to end the process when ours is killed: a server that does not
// look at the end of its input would stay behind.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
