// Package regular reads and replaces regular files. A named pipe in the place of one would
// block whoever opens or reads it forever; it is refused, as are devices and folders.
//
//	data, err := regular.Read("toolfit.yaml", 4<<20)
package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrKind says that the path is not that of a regular file.
var ErrKind = errors.New("not a regular file")

// Open opens the file at path for reading. It checks what it has opened, not what was at the
// path a moment before, and never blocks.
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

// Read reads at most limit+1 bytes of the file at path: more than limit says that it is larger.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}
