package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// Width is the number of columns of a console; 0 if f is not a console.
func Width(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
