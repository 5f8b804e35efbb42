package keeper

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// executable returns the path of this one, even after its file was replaced.
func executable() (string, error) {
	const us = "/proc/self/exe"
	if _, err := os.Stat(us); err != nil {
		return os.Executable()
	}
	return us, nil
}

// adopts says that orphans below the keeper become its children.
const adopts = true

// adoptOrphans makes us the parent of orphans below us.
func adoptOrphans() {
	const setChildSubreaper = 36
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// endWithKeeper kills the program when the keeper dies.
func endWithKeeper(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

func replace(from, to int) { syscall.Dup3(from, to, 0) }

// killChildren kills the program and the orphans that we adopted.
func killChildren(int) {
	us := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone
		}
		// pid (name) state parent …; the name may contain anything
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != us {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
