package cli

import (
	"os"
	"syscall"
	"unsafe"
)

var screenInfo = syscall.NewLazyDLL("kernel32.dll").NewProc("GetConsoleScreenBufferInfo")

// widthOf is how many places a line of the console has; 0 for what is none.
func widthOf(f *os.File) int {
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
