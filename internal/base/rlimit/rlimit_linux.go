package rlimit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Memory limits the address space to its current size plus more bytes: the runtime reserves much
// that it never uses.
func Memory(more int64) error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(statm)[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("read /proc/self/statm: %w", err)
	}
	return set(syscall.RLIMIT_AS, uint64(pages)*uint64(os.Getpagesize())+uint64(more))
}

// CPU limits the processor's time to what was used so far plus more, in whole seconds.
func CPU(more time.Duration) error {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	return set(syscall.RLIMIT_CPU, uint64((time.Duration(used.Utime.Nano()+used.Stime.Nano())+more+time.Second-1)/time.Second))
}

// Files lets the process write to no file, and leave no image of its memory when it crashes.
// Pipes are no files.
func Files() error {
	if err := set(syscall.RLIMIT_CORE, 0); err != nil {
		return err
	}
	return set(syscall.RLIMIT_FSIZE, 0)
}

func set(what int, most uint64) error {
	return syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most})
}

// Killed reports whether a child was killed, as by its limit on the processor's time. On its
// limit of memory Go's runtime exits by itself.
func Killed(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// EndWithParent makes a command that is not started yet end with this process, whatever ends it.
func EndWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
