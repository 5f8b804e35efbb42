// Package regular opens files that are files. A named pipe in the place of one would hold up
// whoever opens or reads it, for ever; it is refused, as are devices and folders.
//
//	f, err := regular.Open("toolfit.yaml")
package regular

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrKind says that what stands at the path is no regular file.
var ErrKind = errors.New("not a regular file")

// Open opens the file at path for reading. It looks at what it has opened, not at what stood
// there a moment before, and waits for nobody.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrKind}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
