package jqworker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// limitMemory limits the address space to its current size plus more: the runtime reserves much that
// it never uses.
func limitMemory(more int64) error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(statm)[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("read /proc/self/statm: %w", err)
	}
	debug.SetGCPercent(50) // a soft limit would only make a bomb burn slowly, collecting again and again
	most := uint64(pages)*uint64(os.Getpagesize()) + uint64(more)
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
}

// limitTime limits the CPU time to what was used so far plus more.
func limitTime(more time.Duration) error {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	most := uint64((time.Duration(used.Utime.Nano()+used.Stime.Nano()) + more + time.Second - 1) / time.Second)
	return syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: most, Max: most})
}

// workedTooLong reports whether the CPU limit killed the child. On the memory limit the runtime exits by
// itself.
func workedTooLong(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// isolate makes the child end with its parent.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
