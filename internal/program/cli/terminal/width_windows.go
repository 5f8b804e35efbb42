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

// Hide stops a console from showing what is typed, until restore is called.
func Hide(f *os.File) (restore func()) {
	var was uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &was) != nil {
		return func() {}
	}
	windows.SetConsoleMode(console, was&^windows.ENABLE_ECHO_INPUT) // at worst it is shown
	return func() { windows.SetConsoleMode(console, was) }
}
