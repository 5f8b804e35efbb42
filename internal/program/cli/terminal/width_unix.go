//go:build linux || darwin

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Width is the number of columns of a terminal; 0 if f is not a terminal.
func Width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// Hide stops a terminal from showing what is typed, until restore is called.
func Hide(f *os.File) (restore func()) {
	was, err := unix.IoctlGetTermios(int(f.Fd()), getState)
	if err != nil {
		return func() {}
	}
	hidden := *was
	hidden.Lflag &^= unix.ECHO
	unix.IoctlSetTermios(int(f.Fd()), setState, &hidden) // at worst it is shown
	return func() { unix.IoctlSetTermios(int(f.Fd()), setState, was) }
}
