//go:build unix && !linux

package upstream

import "syscall"

// endWithUs does nothing: only Linux can end a process with the one that started it.
func endWithUs(*syscall.SysProcAttr) {}
