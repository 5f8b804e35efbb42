package jqworker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"syscall"
)

// limitMemory bounds the address space to what the process has now and so many bytes more.
// The runtime reserves much that it never uses, so that a fixed number would mean little.
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

// isolate makes the child end with its parent.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
