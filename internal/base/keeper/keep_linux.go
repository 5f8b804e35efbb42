package keeper

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// executable is this one, even after its file was replaced by a newer one.
func executable() (string, error) {
	const us = "/proc/self/exe"
	if _, err := os.Stat(us); err != nil {
		return os.Executable()
	}
	return us, nil
}

// adopts: orphans below the keeper become its children.
const adopts = true

// adoptOrphans makes processes below us that lose their parent our children.
func adoptOrphans() {
	const setChildSubreaper = 36
	syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// endWithKeeper has the program killed should the keeper be.
func endWithKeeper(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

func replace(from, to int) { syscall.Dup3(from, to, 0) }

// killChildren kills the program and the orphans that have come to us.
func killChildren(int) {
	us := strconv.Itoa(os.Getpid())
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone
		}
		// pid (name) state parent …: the name is what a process calls itself.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 2 || string(fields[1]) != us {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
