//go:build linux || darwin

package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

// Width is the number of columns of a terminal; 0 if f is not a terminal.
func Width(f *os.File) int {
	var size struct{ rows, columns, x, y uint16 }
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); err != 0 {
		return 0
	}
	return int(size.columns)
}
