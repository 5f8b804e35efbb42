//go:build linux || darwin

package cli

import (
	"os"
	"syscall"
	"unsafe"
)

// widthOf is how many places a line of the terminal has; 0 for what is none.
func widthOf(f *os.File) int {
	var size struct{ rows, columns, x, y uint16 }
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))); err != 0 {
		return 0
	}
	return int(size.columns)
}
