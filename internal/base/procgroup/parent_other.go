//go:build unix && !linux

package procgroup

import "syscall"

// endWithUs does nothing: only Linux can end a process with the one that started it.
func endWithUs(*syscall.SysProcAttr) {}
