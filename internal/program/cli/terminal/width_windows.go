package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

var screenInfo = syscall.NewLazyDLL("kernel32.dll").NewProc("GetConsoleScreenBufferInfo")

// Width is the number of columns of a console; 0 if f is not a console.
func Width(f *os.File) int {
	var info struct {
		columns, rows, x, y      int16
		attributes               uint16
		left, top, right, bottom int16
		maxColumns, maxRows      int16
	}
	if ok, _, _ := screenInfo.Call(f.Fd(), uintptr(unsafe.Pointer(&info))); ok == 0 {
		return 0
	}
	return int(info.right-info.left) + 1
}
