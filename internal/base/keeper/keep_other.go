//go:build unix && !linux

package keeper

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// adopts says that orphans do not become children of the keeper: only Linux can do that.
const adopts = false

func adoptOrphans() {}

func endWithKeeper(*syscall.SysProcAttr) {}

func replace(from, to int) { syscall.Dup2(from, to) }

// killChildren kills the program's group.
func killChildren(program int) { syscall.Kill(-program, syscall.SIGKILL) }
